package web_test

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign/models"
)

// An edit is never dropped: what approves the original beside changed fields is
// refused, and comes back with what was typed.
func TestApproveNeverDropsAnEdit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	for _, c := range []struct {
		name, field, typed, says string
	}{
		{"a member", "m1", "99.90", "99.90"},
		{"the whole", "input", `{"to":"nobody"}`, "nobody"},
		{"a broken whole", "input", `{"to":`, "input"},
	} {
		a := w.ask(func(in *models.AskInput) { in.ToolName, in.Input = "pay", []byte(typed) })
		form := p.get(pageOf(a)).form("#verdict", "#approve")
		form.Set("m3", "true")
		maps.Copy(form, url.Values{c.field: {c.typed}, "reason": {"as agreed"}})
		for _, headers := range [][]header{nil, {htmx}} {
			got := p.post(decideOf(a), form, headers...).is(http.StatusUnprocessableEntity).
				says("#decide .flash", "Nothing was decided", "Approve as edited").says("#decide .changed", c.says)
			if got.value("#reason") != "as agreed" || got.doc.Find("#edit[open]").Length() != 1 {
				t.Errorf("%s: what was typed is lost", c.name)
			}
			if got.doc.Find("#approve[hidden]").Length() != 1 || got.doc.Find("#approve-edited:not([hidden])").Length() != 1 {
				t.Errorf("%s: the original is what is offered", c.name)
			}
			if typed := got.value("#" + c.field); typed != c.typed {
				t.Errorf("%s: the field holds %q", c.name, typed)
			}
		}
		w.waits(a)

		// Discarding them is an act of its own, and keeps the reason.
		discarded := p.post(decideOf(a), url.Values{"verdict": {"discard"}, "digest": {a.Digest}, c.field: {c.typed}, "reason": {"as agreed"}}).is(http.StatusOK)
		if discarded.value("#reason") != "as agreed" || discarded.doc.Find("#approve:not([hidden])").Length() != 1 {
			t.Errorf("%s: after discarding: %s", c.name, discarded.text("#decide"))
		}
		w.waits(a)
		form = discarded.form("#verdict", "#approve")
		form.Set("m3", "true")
		p.post(decideOf(a), form).redirects(pageOf(a))
		if got := w.stands(a.ID); got.Status() != models.StatusApproved || got.Vote.Input != nil {
			t.Errorf("%s: it is %s with %+v", c.name, got.Status(), got.Vote)
		}
	}
	a := w.ask(func(in *models.AskInput) { in.ToolName, in.Input = "pay", []byte(typed) })
	both := url.Values{"verdict": {"approve_edited"}, "digest": {a.Digest}, "m1": {"1"}, "input": {`{"to":"nobody"}`}}
	p.post(decideOf(a), both).is(http.StatusUnprocessableEntity).says("#edit .field-error", "keep one")
	w.waits(a)
}

func TestApproveNeverSwallowsAReasonToReject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(strings.Replace(danger, `"high"`, `"low"`, 1))
	p := w.signedIn(ownerEmail)
	a := w.ask()
	shown := p.get(pageOf(a))
	if shown.doc.Find("details[data-reject]:not([open]) .presets").Length() != 1 {
		t.Error("the reasons do not open with Reject")
	}
	form := shown.form("#verdict", "#approve")
	maps.Copy(form, url.Values{"preset": {"Wrong branch"}, "reason": {"no"}})
	got := p.post(decideOf(a), form).is(http.StatusUnprocessableEntity).says("#decide .flash", "a reject reason is chosen")
	if got.doc.Find("details[data-reject][open] input[value='Wrong branch'][checked]").Length() != 1 || got.value("#reason") != "no" {
		t.Error("what was chosen is lost")
	}
	w.waits(a)
	form.Set("preset", "")
	p.post(decideOf(a), form).redirects(pageOf(a))
	if got := w.stands(a.ID); got.Status() != models.StatusApproved || got.Vote.Reason != "no" {
		t.Errorf("it is %s with %+v", got.Status(), got.Vote)
	}
}

// Without script the confirmation is a page, with all of what is decided above its
// button. Nothing is decided before.
func TestHarmIsConfirmedOnAPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(danger)
	p := w.signedIn(ownerEmail)
	a := w.ask()
	form := p.get(pageOf(a)).form("#verdict", "#approve")
	maps.Copy(form, url.Values{"reason": {"as agreed"}, "input": {`{"command":"ls"}`}})
	form.Set("verdict", "approve_edited")
	var page *page
	for range 2 {
		page = p.post(decideOf(a), form).is(http.StatusOK).says("#confirm", "Approve as edited?").says(".what .code", `"ls"`)
		w.waits(a)
	}
	if button, source := strings.Index(page.body, "confirm-approve"), strings.Index(page.body, "&#34;ls&#34;"); source < 0 || button < source {
		t.Error("the source does not stand above the button")
	}
	sent := page.form("#confirm", "#confirm-approve")
	if sent.Get("seen_end") != "1" || sent.Get("confirmed") != "true" {
		t.Errorf("the confirmation sends %v", sent)
	}
	back := page.form("#confirm", "#confirm-cancel")
	cancelled := p.post(decideOf(a), back).is(http.StatusOK)
	if cancelled.value("#reason") != "as agreed" || cancelled.value("#input") != `{"command":"ls"}` {
		t.Error("what was typed is lost")
	}
	w.waits(a)
	p.post(decideOf(a), sent).redirects(pageOf(a))
	if got := w.stands(a.ID); got.Status() != models.StatusApproved || got.Vote.Input == nil || got.Vote.Reason != "as agreed" {
		t.Errorf("it is %s with %+v", got.Status(), got.Vote)
	}

	// A rejection is not harm, and neither is what can do little.
	b := w.ask()
	p.post(decideOf(b), p.get(pageOf(b)).form("#verdict", "#reject")).redirects(pageOf(b))

	// In the conversation it is the same.
	c := w.ask()
	path := conversationPath(c.ConversationID)
	inPlace := p.get(path).doc.Find("form.verdict").AttrOr("action", "")
	asked := p.post(inPlace, url.Values{"verdict": {"approve"}, "digest": {c.Digest}}).is(http.StatusOK).says("#confirm", "Approve", "rm -rf build/")
	w.waits(c)
	if got := p.post(inPlace, asked.form("#confirm", "#confirm-approve")); got.status != http.StatusSeeOther {
		t.Errorf("confirmed in its conversation: %d", got.status)
	}
	if got := w.stands(c.ID); got.Status() != models.StatusApproved {
		t.Errorf("it is %s", got.Status())
	}
}
