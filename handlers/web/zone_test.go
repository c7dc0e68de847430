package web_test

import (
	"context"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"countersign/models/storetest"
)

// TestDaysAreOfTheZoneThatTheAddressNames: an entry late in the evening in UTC belongs to
// the next day further east. Without a zone days are UTC, as addresses always were.
func TestDaysAreOfTheZoneThatTheAddressNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for w.clock.Now().UTC().Hour() != 23 {
		w.clock.Step(time.Hour)
	}
	a := w.ask(toolCall("pay", `{"amount":5}`))
	w.decides(a, false, "late")
	today := w.clock.Now().UTC()
	day, next := today.Format(time.DateOnly), today.AddDate(0, 0, 1).Format(time.DateOnly)
	admin := w.signedIn(storetest.AdminEmail)
	for _, path := range []string{"/history?", "/people/" + w.owner.ID + "/audit?what=decisions&", "/audit/all?action=approval.rejected&"} {
		for _, c := range []struct {
			from, zone string
			want       int
		}{{day, "", 1}, {next, "", 0}, {next, "Asia/Tokyo", 1}, {next, "America/New_York", 0}} {
			query := url.Values{"from": {c.from}}
			if c.zone != "" {
				query.Set("zone", c.zone)
			}
			got := admin.get(path + query.Encode()).is(http.StatusOK)
			if n := got.doc.Find(".list-table tbody tr").Length(); n != c.want {
				t.Errorf("%s from %s in %q: %d rows, want %d", path, c.from, c.zone, n, c.want)
			}
			if c.zone != "" {
				got.says(".chips", c.from, c.zone).says(`label[for="filter-from"]`, c.zone)
			}
		}
		for _, zone := range []string{"Local", "Mars/Olympus", "../../etc/passwd", "/etc/localtime"} {
			admin.get(path+url.Values{"from": {day}, "zone": {zone}}.Encode()).is(http.StatusUnprocessableEntity).says("#filter-zone-error", "Europe/Berlin")
		}
	}
}

// TestInABrowserTimesAndDaysAreOfItsZone: the head of a table names the zone, a time says
// how far it is from UTC, and a day that is picked is sent with it.
func TestInABrowserTimesAndDaysAreOfItsZone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.ask(toolCall("pay", `{"amount":5}`))
	w.decides(a, false, "no")
	at := w.clock.Now()
	p := w.tab()
	p.inZone("Asia/Tokyo")
	p.signIn()
	p.open("/history")
	p.sees(".list-table thead", "Asia/Tokyo")
	tokyo := at.In(time.FixedZone("", 9*3600))
	if got, want := p.value(`document.querySelector(".list-table tbody time").textContent`), tokyo.Format(time.DateTime); got != want {
		t.Errorf("the time is %q, want %q", got, want)
	}
	if got, want := p.value(`document.querySelector(".list-table tbody time").title`), tokyo.Format(time.DateTime)+" UTC+09:00"; got != want {
		t.Errorf("the exact time is %q, want %q", got, want)
	}
	p.click(".filter-menu > summary")
	p.value(`document.querySelector("#filter-from").value = "` + tokyo.Format(time.DateOnly) + `"`)
	p.click("#narrow")
	p.sees(".chips", tokyo.Format(time.DateOnly)+" Asia/Tokyo")
	p.sees(".list-table tbody", "rejected")
	p.click(".filter-chip a")
	p.becomes(`!document.querySelector(".chips")`)
	p.click(".filter-menu > summary")
	p.value(`String(document.querySelector("#filter-q").dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true })))`)
	if got := p.value(`String(document.querySelector(".filter-menu").open)`); got != "false" {
		t.Errorf("after Escape the menu is open: %s", got)
	}
}

// inZone has the tab live in a time zone.
func (t *tab) inZone(name string) {
	t.do("be in "+name, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: name})
		return err
	}))
}
