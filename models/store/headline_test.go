package store_test

import (
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/headline"
	"countersign/models/requests"
	"countersign/models/storetest"
)

// Whatever way a request came in by, its row has the headline of all that was asked.
func TestEachRequestKeepsItsHeadline(t *testing.T) {
	t.Parallel()
	w := pastOf(t)
	kinds := map[models.Kind]int{}
	for _, a := range everything(t, w) {
		kinds[a.Kind]++
		if want := headline.Of(&a.Response).Stored(); a.HeadlineJSON != want {
			t.Errorf("%s %s keeps %s, want %s", a.Kind, a.ToolName, a.HeadlineJSON, want)
		}
	}
	if len(kinds) < 3 {
		t.Errorf("only %v", kinds)
	}
	if n := storetest.Scalar[int](t, w.Store, `SELECT count(*) FROM responses WHERE headline = '' OR removed IS NOT NULL`); n > 0 {
		t.Errorf("%d rows have none", n)
	}
	edit := `UPDATE responses SET headline = '{}' WHERE approval_status = 'pending'`
	if _, err := storetest.Beside(t, w.Store).ExecContext(t.Context(), edit); err == nil || !strings.Contains(err.Error(), "never changes") {
		t.Errorf("a headline changes: %v", err)
	}
}

// A list has the beginning of an input, and the headline of all of it: of rows from before it
// was kept, too.
func TestListsHaveTheHeadlineOfTheWholeInput(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	long := strings.Repeat("ä line\n", 2*models.MaxBrief)
	for range 2 {
		a := w.AskFor(t, models.AskInput{ToolName: "Write", Input: []byte(`{"content":"` + strings.ReplaceAll(long, "\n", `\n`) + `","file_path":"notes.txt"}`), RunID: "r", Explicit: true})
		if w.AskFor(t, models.AskInput{ToolName: "Bash", Input: []byte(`{"command":"ls"}`), RunID: "r", Explicit: true}); a.ToolName == "" {
			t.Fatal("nothing was asked")
		}
	}
	first := w.InboxOf(t)[0]
	verdict := storetest.Yes()
	verdict.Digest = first.Digest
	storetest.Must(t, storetest.Err(w.Decide(t.Context(), w.Owner, first.ID, verdict)))
	for _, headlines := range []string{"kept", "from before"} {
		if headlines == "from before" {
			dbtest.Forge(t, storetest.Tamper(t, w.Store), `UPDATE responses SET headline = ''`)
		}
		seen := 0
		check := func(where string, r *models.Response, most int) {
			t.Helper()
			if r.ToolName != "Write" {
				return
			}
			seen++
			if got := headline.Shown(r).Text(); got != "Write notes.txt (8,192 lines)" {
				t.Errorf("%s, %s: %s", headlines, where, got)
			}
			if n := len([]rune(r.ToolInputJSON)); n != most && most > 0 || n < models.MaxBrief {
				t.Errorf("%s, %s has %d characters of the input", headlines, where, n)
			}
		}
		for _, a := range w.InboxOf(t) {
			check("the inbox", &a.Response, models.MaxBrief)
		}
		history, err := w.Requests.Settled(t.Context(), w.Owner, requests.SettledQuery{})
		storetest.Must(t, err)
		for _, a := range history.Items {
			check("the history", &a.Response, models.MaxBrief)
		}
		list, err := w.Requests.Approvals(t.Context(), storetest.Operator(), requests.ListQuery{Limit: models.MaxPage})
		storetest.Must(t, err)
		for _, a := range list.Items {
			check("a list for programs", &a.Response, 0)
		}
		page, err := w.RequestPage(t.Context(), w.Owner, list.Items[0].ID, false)
		storetest.Must(t, err)
		for _, a := range page.Turns {
			check("what came before", &a.Response, models.MaxBrief)
		}
		if seen < 6 {
			t.Errorf("%s: seen %d times", headlines, seen)
		}
	}
}

// What another system sends about its call in a form that is not known is headlined by what
// may be its arguments, not by its ids.
func TestAnItemIsHeadlinedByWhatMayRun(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	item := storetest.Call("c", "", "deploy", `{"call_id":"c","function_name":"deploy","payload":{"to":"production"},"requested_at":"2026-03-02T12:00:00Z"}`)
	item.Telling = []byte(`{"payload":{"to":"production"}}`)
	a, err := w.Requests.Approval(t.Context(), w.Owner, w.Late(t, item))
	storetest.Must(t, err)
	h := headline.Shown(&a.Response)
	if got := h.Text(); got != `deploy: payload {"to":"production"}` || len(h.Hidden) != 3 {
		t.Errorf("%s, hidden %q", got, h.Hidden)
	}
}
