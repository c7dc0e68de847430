package request_test

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

// An edit is never dropped: what approves the original beside changed fields is
// refused, and comes back with what was typed.
func TestApproveNeverDropsAnEdit(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	for _, c := range []struct {
		name, field, typed, says string
	}{
		{"a member", "m1", "99.90", "99.90"},
		{"the whole", "input", `{"to":"nobody"}`, "nobody"},
		{"a broken whole", "input", `{"to":`, "input"},
	} {
		a := w.Ask(func(in *models.AskInput) { in.ToolName, in.Input = "pay", []byte(typed) })
		form := p.Get(webtest.PageOf(a)).Form("#verdict", "#approve")
		form.Set("m3", "true")
		maps.Copy(form, url.Values{c.field: {c.typed}, "reason": {"as agreed"}})
		for _, headers := range [][]webtest.Header{nil, {webtest.HTMX}} {
			got := p.Post(webtest.DecideOf(a), form, headers...).Is(http.StatusUnprocessableEntity).
				Says("#decide .flash", "Nothing was decided", "Approve as edited").Says("#decide .changed", c.says)
			if got.Value("#reason") != "as agreed" || got.Doc.Find("#edit[open]").Length() != 1 {
				t.Errorf("%s: what was typed is lost", c.name)
			}
			if got.Doc.Find("#approve[hidden]").Length() != 1 || got.Doc.Find("#approve-edited:not([hidden])").Length() != 1 {
				t.Errorf("%s: the original is what is offered", c.name)
			}
			if typed := got.Value("#" + c.field); typed != c.typed {
				t.Errorf("%s: the field holds %q", c.name, typed)
			}
		}
		w.Waits(a)

		// Discarding them is an act of its own, and keeps the reason.
		discarded := p.Post(webtest.DecideOf(a), url.Values{"verdict": {"discard"}, "digest": {a.Digest}, c.field: {c.typed}, "reason": {"as agreed"}}).Is(http.StatusOK)
		if discarded.Value("#reason") != "as agreed" || discarded.Doc.Find("#approve:not([hidden])").Length() != 1 {
			t.Errorf("%s: after discarding: %s", c.name, discarded.Text("#decide"))
		}
		w.Waits(a)
		form = discarded.Form("#verdict", "#approve")
		form.Set("m3", "true")
		p.Post(webtest.DecideOf(a), form).Redirects(webtest.PageOf(a))
		if got := w.Approval(a.ID); got.Status() != models.StatusApproved || got.Vote.Input != nil {
			t.Errorf("%s: it is %s with %+v", c.name, got.Status(), got.Vote)
		}
	}
	a := w.Ask(func(in *models.AskInput) { in.ToolName, in.Input = "pay", []byte(typed) })
	both := url.Values{"verdict": {"approve_edited"}, "digest": {a.Digest}, "m1": {"1"}, "input": {`{"to":"nobody"}`}}
	p.Post(webtest.DecideOf(a), both).Is(http.StatusUnprocessableEntity).Says("#edit .field-error", "keep one")
	w.Waits(a)
}

func TestApproveNeverSwallowsAReasonToReject(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(strings.Replace(webtest.Danger, `"high"`, `"low"`, 1))
	p := w.SignIn(webtest.OwnerEmail)
	a := w.Ask()
	shown := p.Get(webtest.PageOf(a))
	if shown.Doc.Find("details[data-reject]:not([open]) .presets").Length() != 1 {
		t.Error("the reasons do not open with Reject")
	}
	form := shown.Form("#verdict", "#approve")
	maps.Copy(form, url.Values{"preset": {"Wrong branch"}, "reason": {"no"}})
	got := p.Post(webtest.DecideOf(a), form).Is(http.StatusUnprocessableEntity).Says("#decide .flash", "a reject reason is chosen")
	if got.Doc.Find("details[data-reject][open] input[value='Wrong branch'][checked]").Length() != 1 || got.Value("#reason") != "no" {
		t.Error("what was chosen is lost")
	}
	w.Waits(a)
	form.Set("preset", "")
	p.Post(webtest.DecideOf(a), form).Redirects(webtest.PageOf(a))
	if got := w.Approval(a.ID); got.Status() != models.StatusApproved || got.Vote.Reason != "no" {
		t.Errorf("it is %s with %+v", got.Status(), got.Vote)
	}
}

// Without script the confirmation is a page, with all of what is decided above its
// button. Nothing is decided before.
func TestHarmIsConfirmedOnAPage(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	w.ApplyPolicy(webtest.Danger)
	p := w.SignIn(webtest.OwnerEmail)
	a := w.Ask()
	form := p.Get(webtest.PageOf(a)).Form("#verdict", "#approve")
	maps.Copy(form, url.Values{"reason": {"as agreed"}, "input": {`{"command":"ls"}`}})
	form.Set("verdict", "approve_edited")
	var page *webtest.Page
	for range 2 {
		page = p.Post(webtest.DecideOf(a), form).Is(http.StatusOK).Says("#confirm", "Approve as edited?").Says(".what .code", `"ls"`)
		w.Waits(a)
	}
	if button, source := strings.Index(page.Body, "confirm-approve"), strings.Index(page.Body, "&#34;ls&#34;"); source < 0 || button < source {
		t.Error("the source does not stand above the button")
	}
	sent := page.Form("#confirm", "#confirm-approve")
	if sent.Get("seen_end") != "1" || sent.Get("confirmed") != "true" {
		t.Errorf("the confirmation sends %v", sent)
	}
	back := page.Form("#confirm", "#confirm-cancel")
	cancelled := p.Post(webtest.DecideOf(a), back).Is(http.StatusOK)
	if cancelled.Value("#reason") != "as agreed" || cancelled.Value("#input") != `{"command":"ls"}` {
		t.Error("what was typed is lost")
	}
	w.Waits(a)
	p.Post(webtest.DecideOf(a), sent).Redirects(webtest.PageOf(a))
	if got := w.Approval(a.ID); got.Status() != models.StatusApproved || got.Vote.Input == nil || got.Vote.Reason != "as agreed" {
		t.Errorf("it is %s with %+v", got.Status(), got.Vote)
	}

	// A rejection is not harm, and neither is what can do little.
	b := w.Ask()
	p.Post(webtest.DecideOf(b), p.Get(webtest.PageOf(b)).Form("#verdict", "#reject")).Redirects(webtest.PageOf(b))

	// In the conversation it is the same.
	c := w.Ask()
	path := webtest.ConversationPath(c.ConversationID)
	inPlace := p.Get(path).Doc.Find("form.verdict").AttrOr("action", "")
	asked := p.Post(inPlace, url.Values{"verdict": {"approve"}, "digest": {c.Digest}}).Is(http.StatusOK).Says("#confirm", "Approve", "rm -rf build/")
	w.Waits(c)
	if got := p.Post(inPlace, asked.Form("#confirm", "#confirm-approve")); got.Status != http.StatusSeeOther {
		t.Errorf("confirmed in its conversation: %d", got.Status)
	}
	if got := w.Approval(c.ID); got.Status() != models.StatusApproved {
		t.Errorf("it is %s", got.Status())
	}
}
