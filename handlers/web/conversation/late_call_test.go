package conversation_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/handlers/web/webtest"
	"countersign/models"
)

func TestALateCallIsShownInItsRun(t *testing.T) {
	t.Parallel()
	o := webtest.NewOutside(t, webtest.New(t))
	a := o.Late(webtest.Bash("c6", "r", "step 6"))
	p := o.SignIn(webtest.OwnerEmail)
	p.Get(webtest.PageOf(&a)).Says(".what", "Unmatched")
	o.Clock.Step(13 * time.Second)
	id := o.Run(models.RunInput{RunID: "r", OnRejectDefault: models.OnRejectCascade}, webtest.Ten()...)
	p.Get(webtest.PageOf(&a)).Is(http.StatusOK).Says("header", "deployer", "asked through night-shift").SaysNot(".what", "Unmatched")
	if got := p.Get("/").Doc.Find("#inbox .row").Length(); got != 1 {
		t.Errorf("the inbox has %d rows for one act", got)
	}
	got := p.Get(webtest.ConversationPath(id)).Says(".batch-call[data-waits]", "#6", "waiting for approval", "step 6").Says("#after-rejection", "rejected too")
	if n := got.Doc.Find(".batch-call").Length(); n != 10 {
		t.Errorf("the batch has %d calls", n)
	}
	p.Post(webtest.DecideOf(&a), url.Values{"verdict": {"reject"}, "reason": {"not on a Friday"}}).Redirects(webtest.PageOf(&a))
	o.Deliver(a.ID, models.DeliveryEnd{Result: models.DeliveryTaken})
	for _, use := range []string{"u6", "u7", "u8"} {
		o.Report(id, models.RunEvent{Type: models.RunEventToolResult, ToolUseID: use, Result: "The user rejected it.", IsError: true})
	}
	want := "#1 running, #2 queued, #3 queued, #4 queued, #5 queued, #6 rejected, #7 rejected with #6, #8 rejected with #6, #9 rejected with #6, #10 rejected with #6"
	got = p.Get(webtest.ConversationPath(id))
	if pills := got.Pills(); pills != want {
		t.Errorf("the page shows %s\nwant %s", pills, want)
	}
	got.Says("#entry-7", "Result, 21 bytes").SaysNot("#entry-7", "failed").SaysNot("#entry-7", "Error")
	p.Get(got.Doc.Find("#entry-7 .batch-what").AttrOr("href", "-")).Says("main", "The user rejected it.", "not on a Friday").SaysNot("main", "failed").SaysNot("main", "with an error").SaysNot("main", "Error reported")
}

func TestLinkedRowsLeadToEachOtherWithBothInputs(t *testing.T) {
	t.Parallel()
	o := webtest.NewOutside(t, webtest.New(t))
	o.Run(models.RunInput{RunID: "own"})
	a := o.Late(webtest.Bash("c1", "own", "deploy --now <b>"))
	o.Clock.Step(time.Minute)
	id := o.Run(models.RunInput{RunID: "below\u202e", ParentRunID: "own"}, webtest.Queued("u1", "Bash", `{"command":"deploy <i>"}`))
	o.Link()
	p := o.SignIn(webtest.OwnerEmail)
	got := p.Get(webtest.PageOf(&a)).Is(http.StatusOK).Says("[data-linked]", "Matched by order in run below", "Both inputs").Says(".what", "deploy --now <b>", "The input that deployer reported", "deploy <i>").SaysNot(".what", "Unmatched")
	if strings.Contains(got.Body, "\u202e") || strings.Contains(got.Body, "<i>\"") {
		t.Error("what was reported is not escaped")
	}
	call := p.Get(got.Doc.Find("[data-linked] a").AttrOr("href", "-")).Is(http.StatusOK).Says("[data-linked]", "Matched by order in run below", "waiting").Says("main", "night-shift asks with, and runs", "deploy --now <b>", "deploy <i>")
	if back := call.Doc.Find("[data-linked] a").AttrOr("href", "-"); back != webtest.PageOf(&a) {
		t.Errorf("the call leads to %s", back)
	}
	p.Get(webtest.ConversationPath(id)).Says(".batch-call", "waiting for approval", "Matched by order in run below", "deploy --now <b>", "deploy <i>")
	p.Post(webtest.DecideOf(&a), url.Values{"verdict": {"reject"}, "reason": {"no"}}).Redirects(webtest.PageOf(&a))
	o.Deliver(a.ID, models.DeliveryEnd{Result: models.DeliveryTaken})
	p.Get(webtest.ConversationPath(id)).Says(".batch-pill", "rejected").Says(".batch-call", "Open the approval")
	o.Report(id, webtest.Gave("u1", "done"))
	p.Get(webtest.ConversationPath(id)).Says(".batch-call", "although the call was rejected")
	p.Get(webtest.PageOf(&a)).Says("main", "although the call was rejected")
}

func TestTheRunsSettingForTheRestOfABatch(t *testing.T) {
	t.Parallel()
	w := webtest.New(t)
	id := w.Run(models.RunInput{RunID: "r", OnRejectDefault: models.OnRejectCascade}, webtest.Ten()...)
	path := webtest.ConversationPath(id)
	p := w.SignIn(webtest.OwnerEmail)
	form := p.Get(path).Says("#after-rejection", "rejected too, with the same reason").Form("#after-rejection form", "#on-reject-button")
	form.Set("onReject", "stop")
	p.Post(path+"/on-reject", form).Is(http.StatusUnprocessableEntity)
	form.Set("onReject", models.OnRejectContinue)
	p.Post(path+"/on-reject", form).Redirects(path)
	p.Get(path).Says("#after-rejection", "Each call is decided on its own", "A person chose this")
	p.Get(path + "/on-reject").Redirects(path + "#end")
	// What a person chose, the agent does not change.
	w.Run(models.RunInput{RunID: "r", OnReject: models.OnRejectCascade})
	p.Get(path).Says("#after-rejection", "Each call is decided on its own")
	w.SignIn(webtest.StrangerEmail).Post(path+"/on-reject", form).Is(http.StatusNotFound)
}
