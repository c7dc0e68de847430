package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/models"
)

func ticked(rows ...*models.Approval) url.Values {
	form := url.Values{"verdict": {"approve"}, "desk": {"risk=low"}}
	for _, a := range rows {
		form.Add("pick", string(a.ID)+" "+a.Digest)
	}
	return form
}

func TestBulkDecidesExactlyWhatWasTicked(t *testing.T) {
	t.Parallel()
	w := riskyWorld(t)
	p := w.signedIn(ownerEmail)
	one, two, elsewhere, left := w.ask(risky("low")), w.ask(risky("medium")), w.ask(risky("low")), w.ask(risky("low"))
	page := p.get("/").is(http.StatusOK)
	for _, a := range []*models.Approval{one, two, elsewhere, left} {
		if got := page.doc.Find("#row-"+string(a.ID)+" input[name=pick][form=bulk]").AttrOr("value", ""); got != string(a.ID)+" "+a.Digest {
			t.Errorf("the tick sends %q", got)
		}
	}
	if page.doc.Find("form#bulk").AttrOr("action", "") != "/approvals/bulk" || page.doc.Find("#inbox form#bulk").Length() != 0 {
		t.Error("the bar is not there, or in the part that refetches itself")
	}
	if _, err := w.store.Decide(t.Context(), w.admin, elsewhere.ID, models.DecisionInput{Approved: new(false), Reason: "mine"}); err != nil {
		t.Fatal(err)
	}
	form := ticked(one, elsewhere, two)
	form.Set("reason", "part of\r\nthe release")
	got := p.post("/approvals/bulk", form).is(http.StatusOK).says("main h1", "Approved 2 of 3").
		says(".bulk-row:nth-child(1)", "Approved by you").says(".bulk-row:nth-child(3)", "Approved by you").
		says(".bulk-row:nth-child(2)", "Rejected by admin@example.com", "changed nothing")
	if back := got.doc.Find(".bulk-go a").AttrOr("href", ""); back != "/?risk=low" {
		t.Errorf("it goes on at %q", back)
	}
	for _, a := range []*models.Approval{one, two} {
		s := w.stands(a.ID)
		if s.Status() != models.StatusApproved || s.Vote.UserID != w.owner.UserID() || s.Vote.SeenDigest != a.Digest || s.Vote.Reason != "part of\nthe release" {
			t.Errorf("stands as %s with %+v", s.Status(), s.Vote)
		}
	}
	if w.stands(left.ID).Status() != models.StatusPending || w.stands(elsewhere.ID).Status() != models.StatusRejected {
		t.Error("another one was decided")
	}
	// Sent again, it tells how each stands, and changes nothing.
	p.post("/approvals/bulk", form).is(http.StatusOK).says("main h1", "Approved 0 of 3").says(".bulk-row:nth-child(1)", "Approved by you")
	p.get("/approvals/bulk").redirects("/")
}

func TestBulkApprovesNoHighRiskAndNothingUnseen(t *testing.T) {
	t.Parallel()
	w := riskyWorld(t)
	p := w.signedIn(ownerEmail)
	long := w.ask(func(in *models.AskInput) {
		in.Input = []byte(`{"command":"` + strings.Repeat("echo long; ", 3000) + `"}`)
	})
	critical, high, q, fine, changed := w.ask(risky("critical")), w.ask(risky("high")), w.ask(question), w.ask(risky("low")), w.ask(risky("low"))
	page := p.get("/").is(http.StatusOK)
	for _, a := range []*models.Approval{long, critical, high, q} { // they may be rejected
		if page.doc.Find("#row-"+string(a.ID)+" input[name=pick]").Length() != 1 {
			t.Errorf("%s cannot be ticked", a.ToolName)
		}
	}
	form := ticked(long, critical, high, q, fine)
	form.Add("pick", string(changed.ID)+" "+fine.Digest[1:]+"0")
	form.Add("pick", string(models.NewID[models.ResponseID]())+" "+fine.Digest)
	asked := p.post("/approvals/bulk", form).is(http.StatusOK).says("main", "Nothing is decided yet").
		says(bulkRow(critical), "Critical-risk requests can't be bulk-approved").says(bulkRow(high), "High-risk requests can't be bulk-approved")
	for _, a := range []*models.Approval{critical, high, q, long} {
		if asked.doc.Find(bulkRow(a)+" input[name=pick]").Length() != 0 {
			t.Errorf("%s can be ticked for an approval", a.ToolName)
		}
	}
	form.Set("sure", "true") // crafted
	p.post("/approvals/bulk", form).is(http.StatusOK).says("main h1", "Approved 1 of 7").
		says(bulkRow(long), "not opened").says(bulkRow(critical), "can't be bulk-approved").says(bulkRow(q), "can't be answered in bulk").
		says(bulkRow(fine), "Approved by you").says(bulkRow(changed), "differs from what you were shown").says(".bulk-row:nth-child(7)", "doesn't exist")
	for _, a := range []*models.Approval{long, critical, high, q, changed} {
		if w.stands(a.ID).Status() != models.StatusPending {
			t.Errorf("%s was decided", a.ToolName)
		}
	}
	got := w.signedIn(strangerEmail).post("/approvals/bulk", ticked(changed)).is(http.StatusOK).says("main h1", "Approved 0 of 1").says(".bulk-row", "doesn't exist")
	if strings.Contains(got.text("main"), "tool-low") {
		t.Error("a stranger is told what was asked")
	}
}

func bulkRow(a *models.Approval) string { return "#bulk-" + string(a.ID) }

func TestBulkRejectsWhateverIsTicked(t *testing.T) {
	t.Parallel()
	w := riskyWorld(t)
	p := w.signedIn(ownerEmail)
	long := w.ask(func(in *models.AskInput) {
		in.Input = []byte(`{"command":"` + strings.Repeat("echo long; ", 3000) + `"}`)
	})
	rows := []*models.Approval{long, w.ask(risky("critical")), w.ask(risky("high")), w.ask(question)}
	form := ticked(rows...)
	form.Set("verdict", "reject")
	p.post("/approvals/bulk", form).is(http.StatusOK).says("main h1", "Rejected 4 of 4").says("main", "can't be undone")
	for _, a := range rows {
		if w.stands(a.ID).Status() != models.StatusRejected {
			t.Errorf("%s stands as %s", a.ToolName, w.stands(a.ID).Status())
		}
	}
}

// again is what a browser sends for the question, with one of its buttons.
func (p *page) again(button, value string) url.Values {
	form := url.Values{button: {value}}
	for _, field := range p.doc.Find(".bulk-question input").EachIter() {
		if _, checked := field.Attr("checked"); checked || field.AttrOr("type", "") != "checkbox" {
			form.Add(field.AttrOr("name", ""), field.AttrOr("value", ""))
		}
	}
	return form
}

// What its line does not say is left out, says why, and is approved only by who has
// opened it in the confirmation and ticked it there; all without script.
func TestBulkLeavesOutWhatItsLineDoesNotSay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	bash := func(input string) *models.Approval {
		return w.ask(func(in *models.AskInput) { in.Input = []byte(input) })
	}
	approved := bash(`{"command":"make twin"}`)
	if _, err := w.store.Decide(t.Context(), w.admin, approved.ID, models.DecisionInput{Approved: new(true), Digest: approved.Digest, Page: models.NoPage}); err != nil {
		t.Fatal(err)
	}
	fine := bash(`{"command":"make all"}`)
	more := bash(`{"command":"make more","description":"all","timeout":5}`)
	cut := bash(`{"command":"` + strings.Repeat("make x; ", 20) + "echo THE-MIDST; " + strings.Repeat("make x; ", 20) + `make y"}`)
	hidden := bash("{\"command\":\"make a\u200bll\"}")
	twin := bash(`{"command":"make twin"}`)
	page := p.post("/approvals/bulk", ticked(fine, more, cut, hidden, twin)).is(http.StatusOK).says("main h1", "Approve which of 5 requests?").
		says("main", "Nothing is decided yet", "4 requests are not selected").
		says(bulkRow(more), "Not selected", "does not show description, timeout").says(bulkRow(cut), "does not show command").
		says(bulkRow(hidden), "has a warning", "Contains hidden characters").says(bulkRow(twin), "has a warning", "Identical call approved by admin@example.com", "Duplicate?")
	if got := page.doc.Find(".bulk-question [name=pick]"); got.Length() != 1 || got.AttrOr("value", "") != string(fine.ID)+" "+fine.Digest {
		t.Fatalf("%d can be ticked at first", got.Length())
	}
	if strings.Contains(page.body, "THE-MIDST") {
		t.Error("it is open at first")
	}
	page = p.post("/approvals/bulk", page.again("look", string(cut.ID))).is(http.StatusOK).says(bulkRow(cut), "THE-MIDST").says("main", "Nothing is decided yet")
	if tick := page.doc.Find(bulkRow(cut) + " [name=pick]"); tick.Length() != 1 || tick.Is("[checked]") || !page.doc.Find(bulkRow(fine)+" [name=pick]").Is("[checked]") {
		t.Error("what was opened is ticked, or the others lost their ticks")
	}
	if w.stands(fine.ID).Status() != models.StatusPending {
		t.Fatal("looking decides")
	}
	form := page.again("verdict", "approve")
	form.Add("pick", string(cut.ID)+" "+cut.Digest)
	form.Add("pick", string(more.ID)+" "+more.Digest) // crafted: it was not opened
	p.post("/approvals/bulk", form).is(http.StatusOK).says("main h1", "Approved 2 of 3").says(bulkRow(more), "not opened").says("main", "can't be undone")
	for a, want := range map[*models.Approval]models.Status{
		fine: models.StatusApproved, cut: models.StatusApproved, more: models.StatusPending, hidden: models.StatusPending, twin: models.StatusPending,
	} {
		if got := w.stands(a.ID).Status(); got != want {
			t.Errorf("%s is %s, want %s", a.ToolInputJSON[:20], got, want)
		}
	}
	// Nothing ticked decides nothing, and the question stays.
	page = p.post("/approvals/bulk", ticked(more)).is(http.StatusOK)
	p.post("/approvals/bulk", page.again("verdict", "approve")).is(http.StatusUnprocessableEntity).says("main", "Nothing is selected").says(bulkRow(more), "does not show description")
}

func TestBulkAsksBeforeItDecidesMany(t *testing.T) {
	t.Parallel()
	w := riskyWorld(t)
	p := w.signedIn(ownerEmail)
	var rows []*models.Approval
	for range 7 {
		rows = append(rows, w.ask(risky("low")))
	}
	form := ticked(rows...)
	form.Set("reason", `"<b>because</b>`)
	page := p.post("/approvals/bulk", form).is(http.StatusOK).says("main h1", "Approve 7 requests?").says("main", "Nothing is decided yet")
	if w.stands(rows[0].ID).Status() != models.StatusPending || page.value("#bulk-sure-reason") != `"<b>because</b>` {
		t.Error("it did not wait, or forgot the reason")
	}
	sure := url.Values{"verdict": {"approve"}, "reason": {page.value("#bulk-sure-reason")}, "desk": {page.value("form [name=desk]")}, "sure": {page.value("form [name=sure]")}}
	for _, field := range page.doc.Find("form [name=pick]").EachIter() {
		sure.Add("pick", field.AttrOr("value", ""))
	}
	p.post("/approvals/bulk", sure).is(http.StatusOK).says("main h1", "Approved 7 of 7")
	for _, a := range rows {
		if w.stands(a.ID).Status() != models.StatusApproved {
			t.Error("one was not decided")
		}
	}
}

func TestBulkSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	a := w.ask()
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
		p.post("/approvals/bulk", c.form).is(http.StatusUnprocessableEntity).says("main", c.says, "Back to the inbox")
		if w.stands(a.ID).Status() != models.StatusPending {
			t.Fatalf("%s: it was decided", name)
		}
	}
	long := ticked(a)
	long.Set("reason", strings.Repeat("x", models.MaxReason+1))
	page := p.post("/approvals/bulk", long).is(http.StatusUnprocessableEntity).says("#bulk-sure-reason-error", "4000").says("main", "Nothing is decided yet")
	if page.value("#bulk-sure-reason") != long.Get("reason") || page.value("form [name=pick]") != long.Get("pick") {
		t.Error("the reason or the tick is lost")
	}
	w.visitor().post("/approvals/bulk", ticked(a)).is(http.StatusSeeOther)
	p.post("/approvals/bulk", ticked(a), header{"Origin", "https://evil.example"}, header{"Sec-Fetch-Site", "cross-site"}).is(http.StatusForbidden)
	if w.stands(a.ID).Status() != models.StatusPending {
		t.Error("it was decided")
	}
}

func TestBulkHoldsForUndo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(`{"undo_seconds": {"low": 20, "medium": 20, "high": 20, "critical": 20}}`)
	p := w.signedIn(ownerEmail)
	a, b := w.ask(), w.ask()
	page := p.post("/approvals/bulk", ticked(a, b)).is(http.StatusOK).says("main h1", "Approved 2 of 2").says(".bulk-row:first-child", "not sent yet").says(".bulk-undo", "Approved 2", "Undo")
	if page.doc.Find("form[data-undo]").Length() != 1 {
		t.Error("there is not one Undo")
	}
	form := url.Values{"desk": {"risk=low"}, "row": {string(a.ID), string(b.ID)}}
	p.post("/approvals/bulk/undo", form).is(http.StatusOK).says("main h1", "Undone 2 of 2").says(bulkRow(a), "Waiting for a decision again")
	for _, a := range []*models.Approval{a, b} {
		if s := w.stands(a.ID); s.HeldUntil != nil || s.Status() != models.StatusPending {
			t.Errorf("it is %s", s.Status())
		}
	}
	p.get("/approvals/bulk/undo").redirects("/")
	p.post("/approvals/bulk/undo", url.Values{"row": {"x"}}).is(http.StatusUnprocessableEntity)
	// What was sent meanwhile is said, and so is what is not the reader's.
	p.post("/approvals/bulk", ticked(a, b)).is(http.StatusOK)
	w.clock.Step(21 * time.Second)
	if _, err := w.store.ReleaseDue(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	p.post("/approvals/bulk/undo", form).is(http.StatusOK).says("main h1", "Undone 0 of 2").says(bulkRow(a), "Too late")
	w.signedIn(strangerEmail).post("/approvals/bulk/undo", form).is(http.StatusOK).says("main h1", "Undone 0 of 2").says(bulkRow(a), "doesn't exist")
}
