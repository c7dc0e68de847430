package web_test

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/models"
)

func pageOf(a *models.Approval) string   { return "/approvals/" + string(a.ID) }
func decideOf(a *models.Approval) string { return pageOf(a) + "/decide" }

func TestDecidingWithoutScript(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	for _, c := range []struct {
		name   string
		ask    func(*models.AskInput)
		form   string
		button string
		fill   url.Values
		want   models.Status
		says   []string
	}{
		{"approve", nil, "#decide form.verdict", "#approve", nil, models.StatusApproved, []string{"approved", ownerEmail}},
		{"reject with reason", nil, "#decide form.verdict", "#reject", url.Values{"reason": {"not on\r\nFridays"}}, models.StatusRejected, []string{"rejected", ownerEmail, "not on Fridays"}},
		{"approve an edit", nil, "#decide form.verdict", "#edit-approve", url.Values{"input": {`{"command":"ls build/"}`}}, models.StatusApproved, []string{"approved", "ls build/"}},
		{"option", question, "form.choices", "button[value=us]", nil, models.StatusApproved, []string{"answered", "us"}},
		{"answer", question, "#decide .decide-bar > form.verdict", "#answer-button", url.Values{"answer": {"Asia"}}, models.StatusApproved, []string{"answered", "Asia"}},
		{"decline", question, "details form.verdict", "#decline", url.Values{"reason": {"ask Bob"}}, models.StatusRejected, []string{"rejected", "ask Bob"}},
	} {
		change := c.ask
		if change == nil {
			change = func(*models.AskInput) {}
		}
		a := w.ask(change)
		form := p.get(pageOf(a)).is(http.StatusOK).form(c.form, c.button)
		if form.Get("digest") != a.Digest {
			t.Errorf("%s: the form carries digest %q, shown is %q", c.name, form.Get("digest"), a.Digest)
		}
		maps.Copy(form, c.fill)
		p.post(decideOf(a), form).redirects(pageOf(a))
		got := w.stands(a.ID)
		if got.Status() != c.want || got.Vote == nil || got.Vote.UserID != w.owner.UserID() || got.Vote.SeenDigest != a.Digest {
			t.Errorf("%s: stands as %s with vote %+v", c.name, got.Status(), got.Vote)
		}
		if strings.Contains(got.Feedback(), "\r") {
			t.Errorf("%s: the reason kept the form's line breaks: %q", c.name, got.Feedback())
		}
		after := p.get(pageOf(a)).is(http.StatusOK).says(".outcome", c.says...)
		if n := after.doc.Find("#decide form").Length(); n != 0 {
			t.Errorf("%s: %d forms are left", c.name, n)
		}
	}
}

func TestI5TheDeciderIsWhoIsSignedIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.ask()
	form := url.Values{
		"verdict": {"approve"}, "digest": {a.Digest},
		"user": {w.admin.ID}, "user_id": {w.admin.ID}, "decided_by": {w.admin.ID}, "by": {"admin@example.com"}, "approver": {w.admin.ID},
	}
	w.signedIn(ownerEmail).post(decideOf(a)+"?user="+w.admin.ID, form, header{"X-User", w.admin.ID}, header{"Authorization", "Bearer " + w.token}).redirects(pageOf(a))
	if got := w.stands(a.ID); got.Vote == nil || got.Vote.UserID != w.owner.UserID() || got.Vote.UserName != ownerEmail {
		t.Errorf("decided by %+v, want the owner", got.Vote)
	}
}

func TestI6WhatWasSeenIsWhatIsReleased(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	a := w.ask()
	other := strings.Repeat("0", len(a.Digest))
	got := p.post(decideOf(a), url.Values{"verdict": {"approve"}, "digest": {other}, "reason": {"fine by me"}}).
		is(http.StatusConflict).says(".flash", "Look again")
	if got.value("#reason") != "fine by me" || got.value("#decide input[name=digest]") != a.Digest {
		t.Errorf("reason %q, digest %q", got.value("#reason"), got.value("#decide input[name=digest]"))
	}
	for _, verdict := range []string{"approve", "answer"} {
		p.post(decideOf(a), url.Values{"verdict": {verdict}, "answer": {"x"}}).is(http.StatusUnprocessableEntity)
	}
	if got := w.stands(a.ID); got.Status() != models.StatusPending {
		t.Errorf("released as %s", got.Status())
	}
	p.post(decideOf(a), url.Values{"verdict": {"reject"}}).redirects(pageOf(a))
}

func TestALateVerdictIsShownWhatStands(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	owner, admin := w.signedIn(ownerEmail), w.signedIn("admin@example.com")

	a := w.ask()
	form := owner.get(pageOf(a)).form("#decide form.verdict", "#approve")
	admin.post(decideOf(a), url.Values{"verdict": {"reject"}, "reason": {"too risky"}}).redirects(pageOf(a))
	for range 2 {
		owner.post(decideOf(a), form).is(http.StatusConflict).
			says(".flash", "Already rejected by admin@example.com", "Your approval changed nothing").says(".outcome", "too risky")
	}
	owner.post(decideOf(a), form, htmx).is(http.StatusConflict).isFragment().says("#approval", "Already rejected by admin@example.com")

	a = w.ask()
	form = owner.get(pageOf(a)).form("#decide form.verdict", "#approve")
	w.clock.Step(5 * time.Minute)
	owner.post(decideOf(a), form).is(http.StatusConflict).says(".flash", "Already expired").says(".outcome", "5 minutes")
	if got := w.stands(a.ID); got.Status() != models.StatusExpired {
		t.Errorf("stands as %s", got.Status())
	}

	a = w.ask()
	if _, err := w.store.Cancel(t.Context(), w.agent, a.ID); err != nil {
		t.Fatal(err)
	}
	owner.post(decideOf(a), url.Values{"verdict": {"reject"}}).is(http.StatusConflict).says(".flash", "Already cancelled")
}

func TestWhatIsWrongIsSaidAtItsPlaceAndNothingIsLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	a, q := w.ask(), w.ask(question)
	long := strings.Repeat("x", models.MaxReason+1)
	for _, c := range []struct {
		name   string
		about  *models.Approval
		form   url.Values
		at     string
		says   string
		keeps  string
		filled string
	}{
		{"reason too long", a, url.Values{"verdict": {"reject"}, "reason": {long}}, "#reason-error", "4000", "#reason", long},
		{"no JSON", a, url.Values{"verdict": {"approve_edited"}, "input": {"{\r\n nonsense"}}, "#edit .field-error", "", "#edit-json textarea", "{\n nonsense"},
		{"duplicate members", a, url.Values{"verdict": {"approve_edited"}, "input": {`{"a":1,"a":2}`}}, "#edit .field-error", "", "#edit-json textarea", `{"a":1,"a":2}`},
		{"empty edit", a, url.Values{"verdict": {"approve_edited"}, "input": {""}}, "#edit .field-error", "", "", ""},
		{"answer to a tool call", a, url.Values{"verdict": {"answer"}, "answer": {"yes"}}, "#decide", "approve or reject", "", ""},
		{"no verdict", a, url.Values{"reason": {"because"}}, "#decide", "Choose Approve, Reject or Answer", "#reason", "because"},
		{"a made-up verdict", a, url.Values{"verdict": {"cancel"}}, "#decide", "Choose Approve, Reject or Answer", "", ""},
		{"empty answer", q, url.Values{"verdict": {"answer"}, "answer": {""}}, "#answer-error", "empty", "", ""},
		{"neither answer nor option", q, url.Values{"verdict": {"answer"}}, "#answer-error", "option", "", ""},
		{"unknown option", q, url.Values{"verdict": {"answer"}, "option": {"mars"}}, "#option-error", "offered", "", ""},
		{"bare approve of a question", q, url.Values{"verdict": {"approve"}}, "#decide", "question", "", ""},
	} {
		c.form.Set("digest", c.about.Digest)
		got := p.post(decideOf(c.about), c.form)
		if got.status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d, want 422: %s", c.name, got.status, got.text("main"))
			continue
		}
		if got.doc.Find(c.at).Length() == 0 || !strings.Contains(got.text(c.at), c.says) {
			t.Errorf("%s: %s says %q, want %q; %s", c.name, c.at, got.text(c.at), c.says, got.text("#decide"))
		}
		if c.keeps != "" && got.value(c.keeps) != c.filled {
			t.Errorf("%s: %s holds %.60q, want %.60q", c.name, c.keeps, got.value(c.keeps), c.filled)
		}
	}
	for _, about := range []*models.Approval{a, q} {
		if got := w.stands(about.ID); got.Status() != models.StatusPending {
			t.Errorf("decided: %s", got.Status())
		}
	}
	p.post(decideOf(a), url.Values{"verdict": {"reject"}, "reason": {strings.Repeat("x", models.MaxForm)}}).is(http.StatusRequestEntityTooLarge)
}

func TestHTMXGetsFragments(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	a := w.ask()
	for _, c := range []struct {
		name     string
		path     string
		headers  []header
		fragment bool
	}{
		{"plain", "/", nil, false},
		{"a refetch", "/", []header{htmx, {"HX-Request-Type", "partial"}}, true},
		{"a boosted link", "/", []header{htmx, {"HX-Boosted", "true"}}, false},
		{"history", "/", []header{htmx, {"HX-History-Restore-Request", "true"}}, false},
		{"the whole body", "/", []header{htmx, {"HX-Request-Type", "full"}}, false},
		{"an approval", pageOf(a), []header{htmx}, true},
	} {
		got := p.get(c.path, c.headers...).is(http.StatusOK)
		if fragment := !strings.Contains(got.body, "<html"); fragment != c.fragment {
			t.Errorf("%s: fragment is %v, want %v", c.name, fragment, c.fragment)
		}
		if got.header.Get("Cache-Control") != "no-store" || !strings.Contains(got.header.Get("Vary"), "Hx-Request") {
			t.Errorf("%s: Cache-Control %q, Vary %q", c.name, got.header.Get("Cache-Control"), got.header.Get("Vary"))
		}
	}
	count := p.get("/", htmx, header{"HX-Source", "span#inbox-count"}).is(http.StatusOK)
	if count.doc.Find("#inbox").Length() != 0 || count.doc.Find("#inbox-count [data-count='1']").Length() != 1 {
		t.Errorf("the count alone: %s", count.body)
	}
	list := p.get("/", htmx).is(http.StatusOK)
	if list.doc.Find("#inbox .row").Length() != 1 || list.doc.Find("#inbox-count[hx-swap-oob] [data-count='1']").Length() != 1 {
		t.Errorf("the list and the count: %s", list.body)
	}
	gone := p.get("/approvals/"+string(models.NewID[models.ResponseID]()), htmx).is(http.StatusNotFound)
	if gone.header.Get("HX-Reswap") != "none" {
		t.Error("an error would be swapped over what stands")
	}
	form := p.get(pageOf(a)).form("#decide form.verdict", "#approve")
	p.post(decideOf(a), form, htmx).is(http.StatusOK).isFragment().says("#approval .outcome", "approved")
}
