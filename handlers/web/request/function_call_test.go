package request_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"countersign/handlers/web/webtest"
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
	w := webtest.New(t)
	a := w.Ask(fromSDK)
	p := w.SignIn(webtest.OwnerEmail)
	shown := p.Get(webtest.PageOf(a)).Is(http.StatusOK).Says("#reject-menu", "Later").Says("#reject-menu", "not now")
	if b := buttons(shown, "#reject-menu button[name=fill]"); len(b) != 1 || !strings.HasPrefix(b["later"], "Later tells the agent “later”") {
		t.Errorf("buttons that fill in: %q", b)
	}
	form := url.Values{"digest": {a.Digest}, "fill": {"later"}}
	filled := p.Post(webtest.DecideOf(a), form).Is(http.StatusOK).Says("textarea[name=reason]", "wait until").Says("#reject", "Reject: Later")
	if w.Approval(a.ID).Status() != models.StatusPending {
		t.Fatal("a button that fills in decided")
	}
	if got := filled.Doc.Find("input[name=with_option]").AttrOr("value", ""); got != "later" {
		t.Errorf("the form goes on with %q", got)
	}
	// An approval beside it would drop the choice.
	p.Post(webtest.DecideOf(a), url.Values{"digest": {a.Digest}, "verdict": {"approve"}, "with_option": {"later"}}).Is(http.StatusUnprocessableEntity)
	p.Post(webtest.DecideOf(a), url.Values{"digest": {a.Digest}, "verdict": {"reject"}, "with_option": {"later"}, "reason": {"wait until Monday"}}).Redirects(webtest.PageOf(a))
	got := w.Approval(a.ID)
	if got.Status() != models.StatusRejected || *got.Vote.Option != "later" || got.Feedback() != "wait until Monday" {
		t.Errorf("it is %s by %+v", got.Status(), got.Vote)
	}
	p.Get(webtest.PageOf(a)).Is(http.StatusOK).Says(".outcome", "later")
}

// A text that somebody has begun is kept, and an option without a text rejects at once.
func TestARejectOptionWithoutATextRejects(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a := w.Ask(fromSDK)
	p := w.SignIn(webtest.OwnerEmail)
	p.Post(webtest.DecideOf(a), url.Values{"digest": {a.Digest}, "fill": {"later"}, "reason": {"my own"}}).Is(http.StatusOK).Says("textarea[name=reason]", "my own")
	p.Post(webtest.DecideOf(a), url.Values{"digest": {a.Digest}, "reject_option": {"other"}}).Is(http.StatusUnprocessableEntity)
	p.Post(webtest.DecideOf(a), url.Values{"digest": {a.Digest}, "reject_option": {"never"}}).Redirects(webtest.PageOf(a))
	if got := w.Approval(a.ID); got.Status() != models.StatusRejected || *got.Vote.Option != "never" {
		t.Errorf("it is %s by %+v", got.Status(), got.Vote)
	}
}

// An edit can't reach such a client: the page offers to reject with the change described,
// and no form approves it.
func TestAnEditIsDescribedToWhoCannotReceiveIt(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a := w.Ask(fromSDK)
	p := w.SignIn(webtest.OwnerEmail)
	shown := p.Get(webtest.PageOf(a)).Is(http.StatusOK).Says("#edit", "Change the input, then reject and suggest it").Says("#edit-reject", "Reject with this change")
	if n := shown.Doc.Find("[value=approve_edited]").Length(); n != 0 {
		t.Errorf("%d buttons approve an edit", n)
	}
	send := func(verdict, input, reason string) *webtest.Page {
		return p.Post(webtest.DecideOf(a), url.Values{"digest": {a.Digest}, "verdict": {verdict}, "input": {input}, "reason": {reason}})
	}
	send("approve_edited", `{"to":"b@example.test"}`, "").Is(http.StatusUnprocessableEntity)
	send("reject_edited", a.ToolInputJSON, "").Is(http.StatusUnprocessableEntity)
	send("reject_edited", `{"to":`, "").Is(http.StatusUnprocessableEntity)
	// Without the digest of what was changed the change would be lost.
	p.Post(webtest.DecideOf(a), url.Values{"verdict": {"reject_edited"}, "input": {`{"to":"b@example.test"}`}}).Is(http.StatusUnprocessableEntity)
	send("reject_edited", `{"to":"`+strings.Repeat("x", models.MaxReason)+`"}`, "").Is(http.StatusUnprocessableEntity)
	if w.Approval(a.ID).Status() != models.StatusPending {
		t.Fatal("what was refused decided")
	}
	send("reject_edited", `{"to":"b@example.test","cc":null}`, "Wrong address.").Redirects(webtest.PageOf(a))
	got := w.Approval(a.ID)
	const want = "Wrong address.\n\nApproved with another input: ask again with it. Make the call again with: \"cc\" added as null; \"to\" as \"b@example.test\" instead of \"a@example.test\"; without \"count\"."
	if got.Status() != models.StatusRejected || got.Feedback() != want {
		t.Errorf("it is %s: %q", got.Status(), got.Feedback())
	}
	if input, ok := got.Suggested(); !ok || input != `{"to":"b@example.test","cc":null}` || got.MayRun() {
		t.Errorf("suggested: %q", input)
	}
	p.Get(webtest.PageOf(a)).Is(http.StatusOK).Says(".outcome", "Suggested input, not approved").Says(".outcome", "Digest suggested")
	// Others can receive one, and no button of theirs describes it.
	other := w.Ask()
	p.Post(webtest.DecideOf(other), url.Values{"digest": {other.Digest}, "verdict": {"reject_edited"}, "input": {`{}`}}).Is(http.StatusUnprocessableEntity)
}

// A question's options fill in too; its answer then goes with the option.
func TestAResponseOptionFillsInItsText(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a := w.Ask(webtest.Question, func(in *models.AskInput) {
		in.Options = []models.Option{{Name: "eu", PromptFill: "Europe, because \u202e"}, {Name: "us"}}
	})
	p := w.SignIn(webtest.OwnerEmail)
	p.Post(webtest.DecideOf(a), url.Values{"verdict": {"answer"}, "digest": {a.Digest}, "fill": {"eu"}}).Is(http.StatusOK).Says("textarea[name=answer]", "Europe, because ⟨U+202E⟩")
	p.Post(webtest.DecideOf(a), url.Values{"verdict": {"answer"}, "digest": {a.Digest}, "with_option": {"eu"}, "answer": {""}}).Is(http.StatusUnprocessableEntity)
	p.Post(webtest.DecideOf(a), url.Values{"verdict": {"answer"}, "digest": {a.Digest}, "with_option": {"eu"}, "answer": {"Europe, because of the law"}}).Redirects(webtest.PageOf(a))
	if got := w.Approval(a.ID); got.Answer != "Europe, because of the law" || *got.Vote.Option != "eu" {
		t.Errorf("answered %q with %v", got.Answer, got.Vote.Option)
	}
}

// An escalation is on the page and in the inbox of who may decide, as the agent's words, and
// changes neither clock nor digest. What the client sent beside is shown escaped (I13).
func TestAnEscalationIsShownToWhoDecides(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	a := w.Ask(fromSDK)
	_, err := w.Store.Escalate(t.Context(), w.Agent, a.ID, "Please look \u202e<b>now</b>.")
	storetest.Must(t, err)
	p := w.SignIn(webtest.OwnerEmail)
	shown := p.Get(webtest.PageOf(a)).Is(http.StatusOK).Says("#notes", "asks for more attention").Says("#notes", "⟨U+202E⟩")
	if text := shown.Doc.Text(); !strings.Contains(text, "Also sent by the agent's client") || !strings.Contains(text, "<b>3</b>") {
		t.Error("what the client sent beside is not shown as it was sent")
	}
	p.Get("/").Is(http.StatusOK).Says("#row-"+string(a.ID), "Escalated")
	if got := w.Approval(a.ID); got.Digest != a.Digest || !got.ApprovalTimeoutAt.Equal(a.ApprovalTimeoutAt) {
		t.Error("the escalation changed the request")
	}
}

// Hidden characters in what an agent's client sent beside are warned of, as anywhere (I13).
func TestI13WhatAClientSentIsWarnedOf(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	p := w.SignIn(webtest.OwnerEmail)
	plain := w.Ask(fromSDK)
	if strings.Contains(p.Get(webtest.PageOf(plain)).Is(http.StatusOK).Doc.Text(), "Contains hidden characters.") {
		t.Fatal("nothing is hidden")
	}
	a := w.Ask(fromSDK, func(in *models.AskInput) {
		in.ToolUseID = "call-2"
		in.Client.RejectOptions = []models.Option{{Name: "later", PromptFill: "wait\u200b until"}}
	})
	if text := p.Get(webtest.PageOf(a)).Is(http.StatusOK).Doc.Text(); !strings.Contains(text, "Contains hidden characters.") || !strings.Contains(text, "in what the agent's client sent") {
		t.Error("nothing warns of a hidden character in an option")
	}
}
