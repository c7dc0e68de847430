package request_test

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

func TestDecidingWithoutScript(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	for _, c := range []struct {
		name   string
		ask    func(*models.AskInput)
		form   string
		button string
		fill   url.Values
		want   models.Status
		says   []string
	}{
		{"approve", nil, "#decide form.verdict", "#approve", nil, models.StatusApproved, []string{"approved", webtest.OwnerEmail}},
		{"reject with reason", nil, "#decide form.verdict", "#reject", url.Values{"reason": {"not on\r\nFridays"}}, models.StatusRejected, []string{"rejected", webtest.OwnerEmail, "not on Fridays"}},
		{"approve an edit", nil, "#decide form.verdict", "#edit-approve", url.Values{"input": {`{"command":"ls build/"}`}}, models.StatusApproved, []string{"approved", "ls build/"}},
		{"option", webtest.Question, "form.choices", "button[value=us]", nil, models.StatusApproved, []string{"answered", "us"}},
		{"answer", webtest.Question, "#decide .decide-bar > form.verdict", "#answer-button", url.Values{"answer": {"Asia"}}, models.StatusApproved, []string{"answered", "Asia"}},
		{"decline", webtest.Question, "details form.verdict", "#decline", url.Values{"reason": {"ask Bob"}}, models.StatusRejected, []string{"rejected", "ask Bob"}},
	} {
		change := c.ask
		if change == nil {
			change = func(*models.AskInput) {}
		}
		a := w.Ask(change)
		form := p.Get(webtest.PageOf(a)).Is(http.StatusOK).Form(c.form, c.button)
		if form.Get("digest") != a.Digest {
			t.Errorf("%s: the form carries digest %q, shown is %q", c.name, form.Get("digest"), a.Digest)
		}
		maps.Copy(form, c.fill)
		p.Post(webtest.DecideOf(a), form).Redirects(webtest.PageOf(a))
		got := w.Approval(a.ID)
		if got.Status() != c.want || got.Vote == nil || got.Vote.UserID != w.Owner.UserID() || got.Vote.SeenDigest != a.Digest {
			t.Errorf("%s: stands as %s with vote %+v", c.name, got.Status(), got.Vote)
		}
		if strings.Contains(got.Feedback(), "\r") {
			t.Errorf("%s: the reason kept the form's line breaks: %q", c.name, got.Feedback())
		}
		after := p.Get(webtest.PageOf(a)).Is(http.StatusOK).Says(".outcome", c.says...)
		if n := after.Doc.Find("#decide form").Length(); n != 0 {
			t.Errorf("%s: %d forms are left", c.name, n)
		}
	}
}

func TestI5TheDeciderIsWhoIsSignedIn(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a := w.Ask()
	form := url.Values{
		"verdict": {"approve"}, "digest": {a.Digest},
		"user": {w.Admin.ID}, "user_id": {w.Admin.ID}, "decided_by": {w.Admin.ID}, "by": {"admin@example.com"}, "approver": {w.Admin.ID},
	}
	w.SignIn(webtest.OwnerEmail).Post(webtest.DecideOf(a)+"?user="+w.Admin.ID, form, webtest.Header{"X-User", w.Admin.ID}, webtest.Header{"Authorization", "Bearer " + w.Token}).Redirects(webtest.PageOf(a))
	if got := w.Approval(a.ID); got.Vote == nil || got.Vote.UserID != w.Owner.UserID() || got.Vote.UserName != webtest.OwnerEmail {
		t.Errorf("decided by %+v, want the owner", got.Vote)
	}
}

func TestI6WhatWasSeenIsWhatIsReleased(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	a := w.Ask()
	other := strings.Repeat("0", len(a.Digest))
	got := p.Post(webtest.DecideOf(a), url.Values{"verdict": {"approve"}, "digest": {other}, "reason": {"fine by me"}}).
		Is(http.StatusConflict).Says(".flash", "Look again")
	if got.Value("#reason") != "fine by me" || got.Value("#decide input[name=digest]") != a.Digest {
		t.Errorf("reason %q, digest %q", got.Value("#reason"), got.Value("#decide input[name=digest]"))
	}
	for _, verdict := range []string{"approve", "answer"} {
		p.Post(webtest.DecideOf(a), url.Values{"verdict": {verdict}, "answer": {"x"}}).Is(http.StatusUnprocessableEntity)
	}
	if got := w.Approval(a.ID); got.Status() != models.StatusPending {
		t.Errorf("released as %s", got.Status())
	}
	p.Post(webtest.DecideOf(a), url.Values{"verdict": {"reject"}}).Redirects(webtest.PageOf(a))
}

func TestALateVerdictIsShownWhatStands(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	owner, admin := w.SignIn(webtest.OwnerEmail), w.SignIn("admin@example.com")

	a := w.Ask()
	form := owner.Get(webtest.PageOf(a)).Form("#decide form.verdict", "#approve")
	admin.Post(webtest.DecideOf(a), url.Values{"verdict": {"reject"}, "reason": {"too risky"}}).Redirects(webtest.PageOf(a))
	for range 2 {
		owner.Post(webtest.DecideOf(a), form).Is(http.StatusConflict).
			Says(".flash", "Already rejected by admin@example.com", "Your approval changed nothing").Says(".outcome", "too risky")
	}
	owner.Post(webtest.DecideOf(a), form, webtest.HTMX).Is(http.StatusConflict).IsFragment().Says("#approval", "Already rejected by admin@example.com")

	a = w.Ask()
	form = owner.Get(webtest.PageOf(a)).Form("#decide form.verdict", "#approve")
	w.Clock.Step(5 * time.Minute)
	owner.Post(webtest.DecideOf(a), form).Is(http.StatusConflict).Says(".flash", "Already expired").Says(".outcome", "5 minutes")
	if got := w.Approval(a.ID); got.Status() != models.StatusExpired {
		t.Errorf("stands as %s", got.Status())
	}

	a = w.Ask()
	if _, err := w.Store.Cancel(t.Context(), w.Agent, a.ID); err != nil {
		t.Fatal(err)
	}
	owner.Post(webtest.DecideOf(a), url.Values{"verdict": {"reject"}}).Is(http.StatusConflict).Says(".flash", "Already cancelled")
}

func TestWhatIsWrongIsSaidAtItsPlaceAndNothingIsLost(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	a, q := w.Ask(), w.Ask(webtest.Question)
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
		got := p.Post(webtest.DecideOf(c.about), c.form)
		if got.Status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d, want 422: %s", c.name, got.Status, got.Text("main"))
			continue
		}
		if got.Doc.Find(c.at).Length() == 0 || !strings.Contains(got.Text(c.at), c.says) {
			t.Errorf("%s: %s says %q, want %q; %s", c.name, c.at, got.Text(c.at), c.says, got.Text("#decide"))
		}
		if c.keeps != "" && got.Value(c.keeps) != c.filled {
			t.Errorf("%s: %s holds %.60q, want %.60q", c.name, c.keeps, got.Value(c.keeps), c.filled)
		}
	}
	for _, about := range []*models.Approval{a, q} {
		if got := w.Approval(about.ID); got.Status() != models.StatusPending {
			t.Errorf("decided: %s", got.Status())
		}
	}
	p.Post(webtest.DecideOf(a), url.Values{"verdict": {"reject"}, "reason": {strings.Repeat("x", models.MaxForm)}}).Is(http.StatusRequestEntityTooLarge)
}

func TestHTMXGetsFragments(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	a := w.Ask()
	for _, c := range []struct {
		name     string
		path     string
		headers  []webtest.Header
		fragment bool
	}{
		{"plain", "/", nil, false},
		{"a refetch", "/", []webtest.Header{webtest.HTMX, {"HX-Request-Type", "partial"}}, true},
		{"a boosted link", "/", []webtest.Header{webtest.HTMX, {"HX-Boosted", "true"}}, false},
		{"history", "/", []webtest.Header{webtest.HTMX, {"HX-History-Restore-Request", "true"}}, false},
		{"the whole body", "/", []webtest.Header{webtest.HTMX, {"HX-Request-Type", "full"}}, false},
		{"an approval", webtest.PageOf(a), []webtest.Header{webtest.HTMX}, true},
	} {
		got := p.Get(c.path, c.headers...).Is(http.StatusOK)
		if fragment := !strings.Contains(got.Body, "<html"); fragment != c.fragment {
			t.Errorf("%s: fragment is %v, want %v", c.name, fragment, c.fragment)
		}
		if got.Header.Get("Cache-Control") != "no-store" || !strings.Contains(got.Header.Get("Vary"), "Hx-Request") {
			t.Errorf("%s: Cache-Control %q, Vary %q", c.name, got.Header.Get("Cache-Control"), got.Header.Get("Vary"))
		}
	}
	count := p.Get("/", webtest.HTMX, webtest.Header{"HX-Source", "span#inbox-count"}).Is(http.StatusOK)
	if count.Doc.Find("#inbox").Length() != 0 || count.Doc.Find("#inbox-count [data-count='1']").Length() != 1 {
		t.Errorf("the count alone: %s", count.Body)
	}
	list := p.Get("/", webtest.HTMX).Is(http.StatusOK)
	if list.Doc.Find("#inbox .row").Length() != 1 || list.Doc.Find("#inbox-count[hx-swap-oob] [data-count='1']").Length() != 1 {
		t.Errorf("the list and the count: %s", list.Body)
	}
	gone := p.Get("/approvals/"+string(models.NewID[models.ResponseID]()), webtest.HTMX).Is(http.StatusNotFound)
	if gone.Header.Get("HX-Reswap") != "none" {
		t.Error("an error would be swapped over what stands")
	}
	form := p.Get(webtest.PageOf(a)).Form("#decide form.verdict", "#approve")
	p.Post(webtest.DecideOf(a), form, webtest.HTMX).Is(http.StatusOK).IsFragment().Says("#approval .outcome", "approved")
}
