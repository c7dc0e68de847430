package pages_test

import (
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/headline"
	"countersign/views/gallery"
	"countersign/views/pages/audit"
	"countersign/views/pages/inbox"
	"countersign/views/pages/requests"
)

// A page, a row, a list and a notice say what was kept at the ask, whatever they hold of the
// input: here 120 updates, and a DROP at the end that no list has read.
func TestEachPlaceShowsTheHeadlineThatWasKept(t *testing.T) {
	t.Parallel()
	const want = "Run SQL (perhaps 121 statements), perhaps with: DROP TABLE accounts"
	whole := gallery.Call("sql", `{"query":"`+strings.Repeat(`UPDATE accounts SET balance = balance - 1 WHERE id = 17;\n`, 120)+`DROP TABLE accounts;"}`)
	whole.HeadlineJSON = headline.Of(&whole.Response).Stored()
	a := whole
	a.ToolInputJSON = a.ToolInputJSON[:models.MaxBrief]
	row := inbox.New(inbox.Input{Rights: gallery.Able(gallery.Briefs(a)), Rows: gallery.Briefs(a), Count: 1}, gallery.Now).Rows[0]
	if row.Summary != want || row.Says.Text() != want {
		t.Errorf("the row says %q, %+v", row.Summary, row.Says)
	}
	page := requests.New(requests.Input{Approval: whole}, gallery.Now)
	if page.Headline != want || page.Title != want || page.Quote != want {
		t.Errorf("the page says %q, titled %q, quoted %q", page.Headline, page.Title, page.Quote)
	}
	done := gallery.Settle(a, models.StatusApproved, models.CauseReviewer, &models.Vote{Verdict: models.VerdictApprove})
	if got := audit.NewHistory(audit.HistoryInput{Rows: gallery.Briefs(done), Zone: time.UTC}, gallery.Now).Rows[0].Summary; got != want {
		t.Errorf("the history says %q", got)
	}
	if got := inbox.Decided(&done, gallery.UserID, gallery.Now); !strings.Contains(got, want) {
		t.Errorf("the notice says %q", got)
	}
	if got := strings.Join(inbox.LookFirst(&a, nil, false), " "); !strings.HasPrefix(got, "Its summary does not show query.") {
		t.Errorf("approved together: %q", got)
	}
}
