package inbox_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

func TestBulkDecidesExactlyWhatWasTicked(t *testing.T) {
	t.Parallel()
	w := webtest.RiskyWorld(t)
	p := w.SignIn(webtest.OwnerEmail)
	one, two, elsewhere, left := w.Ask(webtest.Risky("low")), w.Ask(webtest.Risky("medium")), w.Ask(webtest.Risky("low")), w.Ask(webtest.Risky("low"))
	page := p.Get("/").Is(http.StatusOK)
	for _, a := range []*models.Approval{one, two, elsewhere, left} {
		if got := page.Doc.Find("#row-"+string(a.ID)+" input[name=pick][form=bulk]").AttrOr("value", ""); got != string(a.ID)+" "+a.Digest {
			t.Errorf("the tick sends %q", got)
		}
	}
	if page.Doc.Find("form#bulk").AttrOr("action", "") != "/approvals/bulk" || page.Doc.Find("#inbox form#bulk").Length() != 0 {
		t.Error("the bar is not there, or in the part that refetches itself")
	}
	if _, err := w.Store.Decide(t.Context(), w.Admin, elsewhere.ID, models.DecisionInput{Approved: new(false), Reason: "mine"}); err != nil {
		t.Fatal(err)
	}
	form := webtest.Ticked(one, elsewhere, two)
	form.Set("reason", "part of\r\nthe release")
	got := p.Post("/approvals/bulk", form).Is(http.StatusOK).Says("main h1", "Approved 2 of 3").
		Says(".bulk-row:nth-child(1)", "Approved by you").Says(".bulk-row:nth-child(3)", "Approved by you").
		Says(".bulk-row:nth-child(2)", "Rejected by admin@example.com", "changed nothing")
	if back := got.Doc.Find(".bulk-go a").AttrOr("href", ""); back != "/?risk=low" {
		t.Errorf("it goes on at %q", back)
	}
	for _, a := range []*models.Approval{one, two} {
		s := w.Approval(a.ID)
		if s.Status() != models.StatusApproved || s.Vote.UserID != w.Owner.UserID() || s.Vote.SeenDigest != a.Digest || s.Vote.Reason != "part of\nthe release" {
			t.Errorf("stands as %s with %+v", s.Status(), s.Vote)
		}
	}
	if w.Approval(left.ID).Status() != models.StatusPending || w.Approval(elsewhere.ID).Status() != models.StatusRejected {
		t.Error("another one was decided")
	}
	// Sent again, it tells how each stands, and changes nothing.
	p.Post("/approvals/bulk", form).Is(http.StatusOK).Says("main h1", "Approved 0 of 3").Says(".bulk-row:nth-child(1)", "Approved by you")
	p.Get("/approvals/bulk").Redirects("/")
}

func TestBulkApprovesNoHighRiskAndNothingUnseen(t *testing.T) {
	t.Parallel()
	w := webtest.RiskyWorld(t)
	p := w.SignIn(webtest.OwnerEmail)
	long := w.Ask(func(in *models.AskInput) {
		in.Input = []byte(`{"command":"` + strings.Repeat("echo long; ", 3000) + `"}`)
	})
	critical, high, q, fine, changed := w.Ask(webtest.Risky("critical")), w.Ask(webtest.Risky("high")), w.Ask(webtest.Question), w.Ask(webtest.Risky("low")), w.Ask(webtest.Risky("low"))
	page := p.Get("/").Is(http.StatusOK)
	for _, a := range []*models.Approval{long, critical, high, q} { // they may be rejected
		if page.Doc.Find("#row-"+string(a.ID)+" input[name=pick]").Length() != 1 {
			t.Errorf("%s cannot be ticked", a.ToolName)
		}
	}
	form := webtest.Ticked(long, critical, high, q, fine)
	form.Add("pick", string(changed.ID)+" "+fine.Digest[1:]+"0")
	form.Add("pick", string(models.NewID[models.ResponseID]())+" "+fine.Digest)
	asked := p.Post("/approvals/bulk", form).Is(http.StatusOK).Says("main", "Nothing is decided yet").
		Says(webtest.BulkRow(critical), "Critical-risk requests can't be bulk-approved").Says(webtest.BulkRow(high), "High-risk requests can't be bulk-approved")
	for _, a := range []*models.Approval{critical, high, q, long} {
		if asked.Doc.Find(webtest.BulkRow(a)+" input[name=pick]").Length() != 0 {
			t.Errorf("%s can be ticked for an approval", a.ToolName)
		}
	}
	form.Set("sure", "true") // crafted
	p.Post("/approvals/bulk", form).Is(http.StatusOK).Says("main h1", "Approved 1 of 7").
		Says(webtest.BulkRow(long), "not opened").Says(webtest.BulkRow(critical), "can't be bulk-approved").Says(webtest.BulkRow(q), "can't be answered in bulk").
		Says(webtest.BulkRow(fine), "Approved by you").Says(webtest.BulkRow(changed), "differs from what you were shown").Says(".bulk-row:nth-child(7)", "doesn't exist")
	for _, a := range []*models.Approval{long, critical, high, q, changed} {
		if w.Approval(a.ID).Status() != models.StatusPending {
			t.Errorf("%s was decided", a.ToolName)
		}
	}
	got := w.SignIn(webtest.StrangerEmail).Post("/approvals/bulk", webtest.Ticked(changed)).Is(http.StatusOK).Says("main h1", "Approved 0 of 1").Says(".bulk-row", "doesn't exist")
	if strings.Contains(got.Text("main"), "tool-low") {
		t.Error("a stranger is told what was asked")
	}
}

func TestBulkRejectsWhateverIsTicked(t *testing.T) {
	t.Parallel()
	w := webtest.RiskyWorld(t)
	p := w.SignIn(webtest.OwnerEmail)
	long := w.Ask(func(in *models.AskInput) {
		in.Input = []byte(`{"command":"` + strings.Repeat("echo long; ", 3000) + `"}`)
	})
	rows := []*models.Approval{long, w.Ask(webtest.Risky("critical")), w.Ask(webtest.Risky("high")), w.Ask(webtest.Question)}
	form := webtest.Ticked(rows...)
	form.Set("verdict", "reject")
	p.Post("/approvals/bulk", form).Is(http.StatusOK).Says("main h1", "Rejected 4 of 4").Says("main", "can't be undone")
	for _, a := range rows {
		if w.Approval(a.ID).Status() != models.StatusRejected {
			t.Errorf("%s stands as %s", a.ToolName, w.Approval(a.ID).Status())
		}
	}
}

// What its line does not say is left out, says why, and is approved only by who has
// opened it in the confirmation and ticked it there; all without script.
func TestBulkLeavesOutWhatItsLineDoesNotSay(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	bash := func(input string) *models.Approval {
		return w.Ask(func(in *models.AskInput) { in.Input = []byte(input) })
	}
	approved := bash(`{"command":"make twin"}`)
	if _, err := w.Store.Decide(t.Context(), w.Admin, approved.ID, models.DecisionInput{Approved: new(true), Digest: approved.Digest, Page: models.NoPage}); err != nil {
		t.Fatal(err)
	}
	fine := bash(`{"command":"make all"}`)
	more := bash(`{"command":"make more","description":"all","timeout":5}`)
	cut := bash(`{"command":"` + strings.Repeat("make x; ", 20) + "echo THE-MIDST; " + strings.Repeat("make x; ", 20) + `make y"}`)
	hidden := bash("{\"command\":\"make a\u200bll\"}")
	twin := bash(`{"command":"make twin"}`)
	page := p.Post("/approvals/bulk", webtest.Ticked(fine, more, cut, hidden, twin)).Is(http.StatusOK).Says("main h1", "Approve which of 5 requests?").
		Says("main", "Nothing is decided yet", "4 requests are not selected").
		Says(webtest.BulkRow(more), "Not selected", "does not show description, timeout").Says(webtest.BulkRow(cut), "does not show command").
		Says(webtest.BulkRow(hidden), "has a warning", "Contains hidden characters").Says(webtest.BulkRow(twin), "has a warning", "Identical call approved by admin@example.com", "Duplicate?")
	if got := page.Doc.Find(".bulk-question [name=pick]"); got.Length() != 1 || got.AttrOr("value", "") != string(fine.ID)+" "+fine.Digest {
		t.Fatalf("%d can be ticked at first", got.Length())
	}
	if strings.Contains(page.Body, "THE-MIDST") {
		t.Error("it is open at first")
	}
	page = p.Post("/approvals/bulk", page.Again("look", string(cut.ID))).Is(http.StatusOK).Says(webtest.BulkRow(cut), "THE-MIDST").Says("main", "Nothing is decided yet")
	if tick := page.Doc.Find(webtest.BulkRow(cut) + " [name=pick]"); tick.Length() != 1 || tick.Is("[checked]") || !page.Doc.Find(webtest.BulkRow(fine)+" [name=pick]").Is("[checked]") {
		t.Error("what was opened is ticked, or the others lost their ticks")
	}
	if w.Approval(fine.ID).Status() != models.StatusPending {
		t.Fatal("looking decides")
	}
	form := page.Again("verdict", "approve")
	form.Add("pick", string(cut.ID)+" "+cut.Digest)
	form.Add("pick", string(more.ID)+" "+more.Digest) // crafted: it was not opened
	p.Post("/approvals/bulk", form).Is(http.StatusOK).Says("main h1", "Approved 2 of 3").Says(webtest.BulkRow(more), "not opened").Says("main", "can't be undone")
	for a, want := range map[*models.Approval]models.Status{
		fine: models.StatusApproved, cut: models.StatusApproved, more: models.StatusPending, hidden: models.StatusPending, twin: models.StatusPending,
	} {
		if got := w.Approval(a.ID).Status(); got != want {
			t.Errorf("%s is %s, want %s", a.ToolInputJSON[:20], got, want)
		}
	}
	// Nothing ticked decides nothing, and the question stays.
	page = p.Post("/approvals/bulk", webtest.Ticked(more)).Is(http.StatusOK)
	p.Post("/approvals/bulk", page.Again("verdict", "approve")).Is(http.StatusUnprocessableEntity).Says("main", "Nothing is selected").Says(webtest.BulkRow(more), "does not show description")
}

func TestBulkAsksBeforeItDecidesMany(t *testing.T) {
	t.Parallel()
	w := webtest.RiskyWorld(t)
	p := w.SignIn(webtest.OwnerEmail)
	var rows []*models.Approval
	for range 7 {
		rows = append(rows, w.Ask(webtest.Risky("low")))
	}
	form := webtest.Ticked(rows...)
	form.Set("reason", `"<b>because</b>`)
	page := p.Post("/approvals/bulk", form).Is(http.StatusOK).Says("main h1", "Approve 7 requests?").Says("main", "Nothing is decided yet")
	if w.Approval(rows[0].ID).Status() != models.StatusPending || page.Value("#bulk-sure-reason") != `"<b>because</b>` {
		t.Error("it did not wait, or forgot the reason")
	}
	sure := url.Values{"verdict": {"approve"}, "reason": {page.Value("#bulk-sure-reason")}, "desk": {page.Value("form [name=desk]")}, "sure": {page.Value("form [name=sure]")}}
	for _, field := range page.Doc.Find("form [name=pick]").EachIter() {
		sure.Add("pick", field.AttrOr("value", ""))
	}
	p.Post("/approvals/bulk", sure).Is(http.StatusOK).Says("main h1", "Approved 7 of 7")
	for _, a := range rows {
		if w.Approval(a.ID).Status() != models.StatusApproved {
			t.Error("one was not decided")
		}
	}
}

func TestBulkSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	a := w.Ask()
	many := url.Values{"verdict": {"approve"}}
	for range 101 {
		many.Add("pick", string(models.NewID[models.ResponseID]())+" x")
	}
	for name, c := range map[string]struct {
		form url.Values
		says string
	}{
		"nothing ticked": {url.Values{"verdict": {"approve"}}, "Nothing was selected"},
		"no verdict":     {url.Values{"pick": {string(a.ID) + " " + a.Digest}}, "Approve or Reject"},
		"an answer":      {url.Values{"verdict": {"answer"}, "pick": {string(a.ID) + " " + a.Digest}}, "Approve or Reject"},
		"no digest":      {url.Values{"verdict": {"approve"}, "pick": {string(a.ID)}}, "select again"},
		"nonsense":       {url.Values{"verdict": {"approve"}, "pick": {"x y"}}, "select again"},
		"too many":       {many, "At most 100"},
	} {
		p.Post("/approvals/bulk", c.form).Is(http.StatusUnprocessableEntity).Says("main", c.says, "Back to the inbox")
		if w.Approval(a.ID).Status() != models.StatusPending {
			t.Fatalf("%s: it was decided", name)
		}
	}
	long := webtest.Ticked(a)
	long.Set("reason", strings.Repeat("x", models.MaxReason+1))
	page := p.Post("/approvals/bulk", long).Is(http.StatusUnprocessableEntity).Says("#bulk-sure-reason-error", "4000").Says("main", "Nothing is decided yet")
	if page.Value("#bulk-sure-reason") != long.Get("reason") || page.Value("form [name=pick]") != long.Get("pick") {
		t.Error("the reason or the tick is lost")
	}
	w.Visitor().Post("/approvals/bulk", webtest.Ticked(a)).Is(http.StatusSeeOther)
	p.Post("/approvals/bulk", webtest.Ticked(a), webtest.Header{"Origin", "https://evil.example"}, webtest.Header{"Sec-Fetch-Site", "cross-site"}).Is(http.StatusForbidden)
	if w.Approval(a.ID).Status() != models.StatusPending {
		t.Error("it was decided")
	}
}

func TestBulkHoldsForUndo(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(`{"undo_seconds": {"low": 20, "medium": 20, "high": 20, "critical": 20}}`)
	p := w.SignIn(webtest.OwnerEmail)
	a, b := w.Ask(), w.Ask()
	page := p.Post("/approvals/bulk", webtest.Ticked(a, b)).Is(http.StatusOK).Says("main h1", "Approved 2 of 2").Says(".bulk-row:first-child", "not sent yet").Says(".bulk-undo", "Approved 2", "Undo")
	if page.Doc.Find("form[data-undo]").Length() != 1 {
		t.Error("there is not one Undo")
	}
	form := url.Values{"desk": {"risk=low"}, "row": {string(a.ID), string(b.ID)}}
	p.Post("/approvals/bulk/undo", form).Is(http.StatusOK).Says("main h1", "Undone 2 of 2").Says(webtest.BulkRow(a), "Waiting for a decision again")
	for _, a := range []*models.Approval{a, b} {
		if s := w.Approval(a.ID); s.HeldUntil != nil || s.Status() != models.StatusPending {
			t.Errorf("it is %s", s.Status())
		}
	}
	p.Get("/approvals/bulk/undo").Redirects("/")
	p.Post("/approvals/bulk/undo", url.Values{"row": {"x"}}).Is(http.StatusUnprocessableEntity)
	// What was sent meanwhile is said, and so is what is not the reader's.
	p.Post("/approvals/bulk", webtest.Ticked(a, b)).Is(http.StatusOK)
	w.Clock.Step(21 * time.Second)
	if _, err := w.Store.ReleaseDue(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	p.Post("/approvals/bulk/undo", form).Is(http.StatusOK).Says("main h1", "Undone 0 of 2").Says(webtest.BulkRow(a), "Too late")
	w.SignIn(webtest.StrangerEmail).Post("/approvals/bulk/undo", form).Is(http.StatusOK).Says("main h1", "Undone 0 of 2").Says(webtest.BulkRow(a), "doesn't exist")
}
