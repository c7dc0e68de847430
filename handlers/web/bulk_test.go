package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

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
	one, two, elsewhere, left := w.ask(risky("low")), w.ask(risky("high")), w.ask(risky("low")), w.ask(risky("low"))
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

func TestBulkRefusesWhatIsDecidedByItself(t *testing.T) {
	t.Parallel()
	w := riskyWorld(t)
	p := w.signedIn(ownerEmail)
	folded := w.ask(func(in *models.AskInput) {
		in.Input = []byte(`{"command":"` + strings.Repeat("echo long; ", 3000) + `"}`)
	})
	critical, q, fine, changed := w.ask(risky("critical")), w.ask(question), w.ask(risky("low")), w.ask(risky("low"))
	page := p.get("/").is(http.StatusOK)
	for _, a := range []*models.Approval{folded, critical, q} {
		if page.doc.Find("#row-"+string(a.ID)+" input[name=pick]").Length() != 0 {
			t.Errorf("%s can be ticked", a.ToolName)
		}
	}
	form := ticked(folded, critical, q, fine)
	form.Add("pick", string(changed.ID)+" "+fine.Digest[1:]+"0")
	form.Add("pick", string(models.NewID[models.ResponseID]())+" "+fine.Digest)
	form.Set("sure", "true")
	p.post("/approvals/bulk", form).is(http.StatusOK).says("main h1", "Approved 1 of 6").
		says(".bulk-row:nth-child(1)", "folded").says(".bulk-row:nth-child(2)", "one by one").says(".bulk-row:nth-child(3)", "by itself").
		says(".bulk-row:nth-child(4)", "Approved by you").says(".bulk-row:nth-child(5)", "not what was shown").says(".bulk-row:nth-child(6)", "no such request")
	for _, a := range []*models.Approval{folded, critical, q, changed} {
		if w.stands(a.ID).Status() != models.StatusPending {
			t.Errorf("%s was decided", a.ToolName)
		}
	}
	got := w.signedIn(strangerEmail).post("/approvals/bulk", ticked(changed)).is(http.StatusOK).says("main h1", "Approved 0 of 1").says(".bulk-row", "no such request")
	if strings.Contains(got.text("main"), "tool-low") {
		t.Error("a stranger is told what was asked")
	}
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
	if w.stands(rows[0].ID).Status() != models.StatusPending || page.value("#bulk-reason") != `"<b>because</b>` {
		t.Error("it did not wait, or forgot the reason")
	}
	sure := url.Values{"verdict": {"approve"}, "reason": {page.value("#bulk-reason")}, "desk": {page.value("form [name=desk]")}, "sure": {page.value("form [name=sure]")}}
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
		"nothing ticked": {url.Values{"verdict": {"approve"}}, "Nothing was ticked"},
		"no verdict":     {url.Values{"pick": {string(a.ID) + " " + a.Digest}}, "approve or reject"},
		"an answer":      {url.Values{"verdict": {"answer"}, "pick": {string(a.ID) + " " + a.Digest}}, "approve or reject"},
		"no digest":      {url.Values{"verdict": {"approve"}, "pick": {string(a.ID)}}, "tick them again"},
		"nonsense":       {url.Values{"verdict": {"approve"}, "pick": {"x y"}}, "tick them again"},
		"too many":       {many, "At most 100"},
	} {
		p.post("/approvals/bulk", c.form).is(http.StatusUnprocessableEntity).says("main", c.says, "Go on in the inbox")
		if w.stands(a.ID).Status() != models.StatusPending {
			t.Fatalf("%s: it was decided", name)
		}
	}
	long := ticked(a)
	long.Set("reason", strings.Repeat("x", models.MaxReason+1))
	page := p.post("/approvals/bulk", long).is(http.StatusUnprocessableEntity).says("#bulk-reason-error", "4000").says("main", "Nothing is decided yet")
	if page.value("#bulk-reason") != long.Get("reason") || page.value("form [name=pick]") != long.Get("pick") {
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
	page := p.post("/approvals/bulk", ticked(a, b)).is(http.StatusOK).says("main h1", "Approved 2 of 2").says(".bulk-row:first-child", "not told yet")
	undo := page.form(".bulk-row:first-child form", "")
	p.post(page.doc.Find(".bulk-row:first-child form").AttrOr("action", ""), undo).redirects("/?risk=low&open=" + string(a.ID))
	if w.stands(a.ID).HeldUntil != nil || w.stands(b.ID).HeldUntil == nil {
		t.Error("not the one of the row was taken back")
	}
}
