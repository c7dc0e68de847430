package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/models"
	elsewhere "countersign/models/outside"
)

// link looks again for the calls of approvals that found none, as each poll does.
func (o *outside) link() {
	o.tb.Helper()
	if err := elsewhere.New(o.store).Link(o.tb.Context(), o.poll, o.up); err != nil {
		o.tb.Fatal(err)
	}
}

// late takes what finds no call, and returns its request.
func (o *outside) late(item models.OutsideItem) models.Approval {
	o.tb.Helper()
	o.take(item)
	o.take(item)
	return o.waits()
}

func bash(call, run, command string) models.OutsideItem {
	return models.OutsideItem{CallID: call, RunID: run, Name: "Bash", Arguments: []byte(`{"command":"` + command + `"}`)}
}

func TestALateCallIsShownInItsRun(t *testing.T) {
	t.Parallel()
	o := newOutside(t, newWorld(t))
	a := o.late(bash("c6", "r", "step 6"))
	p := o.signedIn(ownerEmail)
	p.get(pageOf(&a)).says(".what", "Unmatched")
	o.clock.Step(13 * time.Second)
	id := o.run(models.RunInput{RunID: "r", OnRejectDefault: models.OnRejectCascade}, ten()...)
	p.get(pageOf(&a)).is(http.StatusOK).says("header", "deployer", "asked through night-shift").saysNot(".what", "Unmatched")
	if got := p.get("/").doc.Find("#inbox .row").Length(); got != 1 {
		t.Errorf("the inbox has %d rows for one act", got)
	}
	got := p.get(conversationPath(id)).says(".batch-call[data-waits]", "#6", "waiting for approval", "step 6").says("#after-rejection", "rejected too")
	if n := got.doc.Find(".batch-call").Length(); n != 10 {
		t.Errorf("the batch has %d calls", n)
	}
	p.post(decideOf(&a), url.Values{"verdict": {"reject"}, "reason": {"not on a Friday"}}).redirects(pageOf(&a))
	o.deliver(a.ID, models.DeliveryEnd{Result: models.DeliveryTaken})
	for _, use := range []string{"u6", "u7", "u8"} {
		o.report(id, models.RunEvent{Type: models.RunEventToolResult, ToolUseID: use, Result: "The user rejected it.", IsError: true})
	}
	want := "#1 running, #2 queued, #3 queued, #4 queued, #5 queued, #6 rejected, #7 rejected with #6, #8 rejected with #6, #9 rejected with #6, #10 rejected with #6"
	got = p.get(conversationPath(id))
	if pills := got.pills(); pills != want {
		t.Errorf("the page shows %s\nwant %s", pills, want)
	}
	got.says("#entry-7", "Result, 21 bytes").saysNot("#entry-7", "failed").saysNot("#entry-7", "Error")
	p.get(got.doc.Find("#entry-7 .batch-what").AttrOr("href", "-")).says("main", "The user rejected it.", "not on a Friday").saysNot("main", "failed").saysNot("main", "with an error").saysNot("main", "Error reported")
}

func TestLinkedRowsLeadToEachOtherWithBothInputs(t *testing.T) {
	t.Parallel()
	o := newOutside(t, newWorld(t))
	o.run(models.RunInput{RunID: "own"})
	a := o.late(bash("c1", "own", "deploy --now <b>"))
	o.clock.Step(time.Minute)
	id := o.run(models.RunInput{RunID: "below\u202e", ParentRunID: "own"}, queued("u1", "Bash", `{"command":"deploy <i>"}`))
	o.link()
	p := o.signedIn(ownerEmail)
	got := p.get(pageOf(&a)).is(http.StatusOK).says("[data-linked]", "Matched by order in run below", "Both inputs").says(".what", "deploy --now <b>", "The input that deployer reported", "deploy <i>").saysNot(".what", "Unmatched")
	if strings.Contains(got.body, "\u202e") || strings.Contains(got.body, "<i>\"") {
		t.Error("what was reported is not escaped")
	}
	call := p.get(got.doc.Find("[data-linked] a").AttrOr("href", "-")).is(http.StatusOK).says("[data-linked]", "Matched by order in run below", "waiting").says("main", "night-shift asks with, and runs", "deploy --now <b>", "deploy <i>")
	if back := call.doc.Find("[data-linked] a").AttrOr("href", "-"); back != pageOf(&a) {
		t.Errorf("the call leads to %s", back)
	}
	p.get(conversationPath(id)).says(".batch-call", "waiting for approval", "Matched by order in run below", "deploy --now <b>", "deploy <i>")
	p.post(decideOf(&a), url.Values{"verdict": {"reject"}, "reason": {"no"}}).redirects(pageOf(&a))
	o.deliver(a.ID, models.DeliveryEnd{Result: models.DeliveryTaken})
	p.get(conversationPath(id)).says(".batch-pill", "rejected").says(".batch-call", "Open the approval")
	o.report(id, gave("u1", "done"))
	p.get(conversationPath(id)).says(".batch-call", "although the call was rejected")
	p.get(pageOf(&a)).says("main", "although the call was rejected")
}

func TestTheRunsSettingForTheRestOfABatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.run(models.RunInput{RunID: "r", OnRejectDefault: models.OnRejectCascade}, ten()...)
	path := conversationPath(id)
	p := w.signedIn(ownerEmail)
	form := p.get(path).says("#after-rejection", "rejected too, with the same reason").form("#after-rejection form", "#on-reject-button")
	form.Set("onReject", "stop")
	p.post(path+"/on-reject", form).is(http.StatusUnprocessableEntity)
	form.Set("onReject", models.OnRejectContinue)
	p.post(path+"/on-reject", form).redirects(path)
	p.get(path).says("#after-rejection", "Each call is decided on its own", "A person chose this")
	p.get(path + "/on-reject").redirects(path + "#end")
	// What a person chose, the agent does not change.
	w.run(models.RunInput{RunID: "r", OnReject: models.OnRejectCascade})
	p.get(path).says("#after-rejection", "Each call is decided on its own")
	w.signedIn(strangerEmail).post(path+"/on-reject", form).is(http.StatusNotFound)
}
