package audit_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"countersign/handlers/web/webtest"
	"countersign/models/storetest"
)

// TestDaysAreOfTheZoneThatTheAddressNames: an entry late in the evening in UTC belongs to
// the next day further east. Without a zone days are UTC, as addresses always were.
func TestDaysAreOfTheZoneThatTheAddressNames(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	for w.Clock.Now().UTC().Hour() != 23 {
		w.Clock.Step(time.Hour)
	}
	a := w.Ask(webtest.ToolCall("pay", `{"amount":5}`))
	w.Decides(a, false, "late")
	today := w.Clock.Now().UTC()
	day, next := today.Format(time.DateOnly), today.AddDate(0, 0, 1).Format(time.DateOnly)
	admin := w.SignIn(storetest.AdminEmail)
	for _, path := range []string{"/history?", "/people/" + w.Owner.ID + "/audit?what=decisions&", "/audit/all?action=approval.rejected&"} {
		for _, c := range []struct {
			from, zone string
			want       int
		}{{day, "", 1}, {next, "", 0}, {next, "Asia/Tokyo", 1}, {next, "America/New_York", 0}} {
			query := url.Values{"from": {c.from}}
			if c.zone != "" {
				query.Set("zone", c.zone)
			}
			got := admin.Get(path + query.Encode()).Is(http.StatusOK)
			if n := got.Doc.Find(".list-table tbody tr").Length(); n != c.want {
				t.Errorf("%s from %s in %q: %d rows, want %d", path, c.from, c.zone, n, c.want)
			}
			if c.zone != "" {
				got.Says(".chips", c.from, c.zone).Says(`label[for="filter-from"]`, c.zone)
			}
		}
		for _, zone := range []string{"Local", "Mars/Olympus", "../../etc/passwd", "/etc/localtime"} {
			admin.Get(path+url.Values{"from": {day}, "zone": {zone}}.Encode()).Is(http.StatusUnprocessableEntity).Says("#filter-zone-error", "Europe/Berlin")
		}
	}
}
