package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/storetest"
)

// fromSDK is a call of a client that can't receive an edit, with ways to reject of its own.
func fromSDK(in *models.AskInput) {
	in.ToolName, in.ToolUseID, in.Input = "send_email", "call-1", []byte(`{"to":"a@example.test","count":1.0}`)
	in.Protocol = models.ProtocolFunctionCalls
	in.Client = models.ClientData{
		State:         []byte(`{"step":"<b>3</b>"}`),
		RejectOptions: []models.Option{{Name: "later", Title: "Later", Description: "not now", PromptFill: "wait until "}, {Name: "never"}},
	}
}

// The button of an option that has a text fills it in and decides nothing; the rejection
// then carries both. It works without script.
func TestARejectOptionFillsInItsText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.ask(fromSDK)
	p := w.signedIn(ownerEmail)
	shown := p.get(pageOf(a)).is(http.StatusOK).says("#reject-menu", "Later").says("#reject-menu", "not now")
	if b := buttons(shown, "#reject-menu button[name=fill]"); len(b) != 1 || !strings.HasPrefix(b["later"], "Later tells the agent “later”") {
		t.Errorf("buttons that fill in: %q", b)
	}
	form := url.Values{"digest": {a.Digest}, "fill": {"later"}}
	filled := p.post(decideOf(a), form).is(http.StatusOK).says("textarea[name=reason]", "wait until").says("#reject", "Reject: Later")
	if w.stands(a.ID).Status() != models.StatusPending {
		t.Fatal("a button that fills in decided")
	}
	if got := filled.doc.Find("input[name=with_option]").AttrOr("value", ""); got != "later" {
		t.Errorf("the form goes on with %q", got)
	}
	// An approval beside it would drop the choice.
	p.post(decideOf(a), url.Values{"digest": {a.Digest}, "verdict": {"approve"}, "with_option": {"later"}}).is(http.StatusUnprocessableEntity)
	p.post(decideOf(a), url.Values{"digest": {a.Digest}, "verdict": {"reject"}, "with_option": {"later"}, "reason": {"wait until Monday"}}).redirects(pageOf(a))
	got := w.stands(a.ID)
	if got.Status() != models.StatusRejected || *got.Vote.Option != "later" || got.Feedback() != "wait until Monday" {
		t.Errorf("it is %s by %+v", got.Status(), got.Vote)
	}
	p.get(pageOf(a)).is(http.StatusOK).says(".outcome", "later")
}

// A text that somebody has begun is kept, and an option without a text rejects at once.
func TestARejectOptionWithoutATextRejects(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.ask(fromSDK)
	p := w.signedIn(ownerEmail)
	p.post(decideOf(a), url.Values{"digest": {a.Digest}, "fill": {"later"}, "reason": {"my own"}}).is(http.StatusOK).says("textarea[name=reason]", "my own")
	p.post(decideOf(a), url.Values{"digest": {a.Digest}, "reject_option": {"other"}}).is(http.StatusUnprocessableEntity)
	p.post(decideOf(a), url.Values{"digest": {a.Digest}, "reject_option": {"never"}}).redirects(pageOf(a))
	if got := w.stands(a.ID); got.Status() != models.StatusRejected || *got.Vote.Option != "never" {
		t.Errorf("it is %s by %+v", got.Status(), got.Vote)
	}
}

// An edit can't reach such a client: the page offers to reject with the change described,
// and no form approves it.
func TestAnEditIsDescribedToWhoCannotReceiveIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.ask(fromSDK)
	p := w.signedIn(ownerEmail)
	shown := p.get(pageOf(a)).is(http.StatusOK).says("#edit", "Change the input, then reject and suggest it").says("#edit-reject", "Reject with this change")
	if n := shown.doc.Find("[value=approve_edited]").Length(); n != 0 {
		t.Errorf("%d buttons approve an edit", n)
	}
	send := func(verdict, input, reason string) *page {
		return p.post(decideOf(a), url.Values{"digest": {a.Digest}, "verdict": {verdict}, "input": {input}, "reason": {reason}})
	}
	send("approve_edited", `{"to":"b@example.test"}`, "").is(http.StatusUnprocessableEntity)
	send("reject_edited", a.ToolInputJSON, "").is(http.StatusUnprocessableEntity)
	send("reject_edited", `{"to":`, "").is(http.StatusUnprocessableEntity)
	// Without the digest of what was changed the change would be lost.
	p.post(decideOf(a), url.Values{"verdict": {"reject_edited"}, "input": {`{"to":"b@example.test"}`}}).is(http.StatusUnprocessableEntity)
	send("reject_edited", `{"to":"`+strings.Repeat("x", models.MaxReason)+`"}`, "").is(http.StatusUnprocessableEntity)
	if w.stands(a.ID).Status() != models.StatusPending {
		t.Fatal("what was refused decided")
	}
	send("reject_edited", `{"to":"b@example.test","cc":null}`, "Wrong address.").redirects(pageOf(a))
	got := w.stands(a.ID)
	const want = "Wrong address.\n\nApproved with another input: ask again with it. Make the call again with: \"cc\" added as null; \"to\" as \"b@example.test\" instead of \"a@example.test\"; without \"count\"."
	if got.Status() != models.StatusRejected || got.Feedback() != want {
		t.Errorf("it is %s: %q", got.Status(), got.Feedback())
	}
	if input, ok := got.Suggested(); !ok || input != `{"to":"b@example.test","cc":null}` || got.MayRun() {
		t.Errorf("suggested: %q", input)
	}
	p.get(pageOf(a)).is(http.StatusOK).says(".outcome", "Suggested input, not approved").says(".outcome", "Digest suggested")
	// Others can receive one, and no button of theirs describes it.
	other := w.ask()
	p.post(decideOf(other), url.Values{"digest": {other.Digest}, "verdict": {"reject_edited"}, "input": {`{}`}}).is(http.StatusUnprocessableEntity)
}

// A question's options fill in too; its answer then goes with the option.
func TestAResponseOptionFillsInItsText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.ask(question, func(in *models.AskInput) {
		in.Options = []models.Option{{Name: "eu", PromptFill: "Europe, because \u202e"}, {Name: "us"}}
	})
	p := w.signedIn(ownerEmail)
	p.post(decideOf(a), url.Values{"verdict": {"answer"}, "digest": {a.Digest}, "fill": {"eu"}}).is(http.StatusOK).says("textarea[name=answer]", "Europe, because ⟨U+202E⟩")
	p.post(decideOf(a), url.Values{"verdict": {"answer"}, "digest": {a.Digest}, "with_option": {"eu"}, "answer": {""}}).is(http.StatusUnprocessableEntity)
	p.post(decideOf(a), url.Values{"verdict": {"answer"}, "digest": {a.Digest}, "with_option": {"eu"}, "answer": {"Europe, because of the law"}}).redirects(pageOf(a))
	if got := w.stands(a.ID); got.Answer != "Europe, because of the law" || *got.Vote.Option != "eu" {
		t.Errorf("answered %q with %v", got.Answer, got.Vote.Option)
	}
}

// An escalation is on the page and in the inbox of who may decide, as the agent's words, and
// changes neither clock nor digest. What the client sent beside is shown escaped (I13).
func TestAnEscalationIsShownToWhoDecides(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.ask(fromSDK)
	_, err := w.store.Escalate(t.Context(), w.agent, a.ID, "Please look \u202e<b>now</b>.")
	storetest.Must(t, err)
	p := w.signedIn(ownerEmail)
	shown := p.get(pageOf(a)).is(http.StatusOK).says("#notes", "asks for more attention").says("#notes", "⟨U+202E⟩")
	if text := shown.doc.Text(); !strings.Contains(text, "Also sent by the agent's client") || !strings.Contains(text, "<b>3</b>") {
		t.Error("what the client sent beside is not shown as it was sent")
	}
	p.get("/").is(http.StatusOK).says("#row-"+string(a.ID), "Escalated")
	if got := w.stands(a.ID); got.Digest != a.Digest || !got.ApprovalTimeoutAt.Equal(a.ApprovalTimeoutAt) {
		t.Error("the escalation changed the request")
	}
}

// Hidden characters in what an agent's client sent beside are warned of, as anywhere (I13).
func TestI13WhatAClientSentIsWarnedOf(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.signedIn(ownerEmail)
	plain := w.ask(fromSDK)
	if strings.Contains(p.get(pageOf(plain)).is(http.StatusOK).doc.Text(), "Contains hidden characters.") {
		t.Fatal("nothing is hidden")
	}
	a := w.ask(fromSDK, func(in *models.AskInput) {
		in.ToolUseID = "call-2"
		in.Client.RejectOptions = []models.Option{{Name: "later", PromptFill: "wait\u200b until"}}
	})
	if text := p.get(pageOf(a)).is(http.StatusOK).doc.Text(); !strings.Contains(text, "Contains hidden characters.") || !strings.Contains(text, "in what the agent's client sent") {
		t.Error("nothing warns of a hidden character in an option")
	}
}
