package webhooks_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/storetest"
	"countersign/models/upkeep"
)

// Every event comes once, signed, and tells nothing of what is asked.
func TestEventsComeSignedAndTellNoInput(t *testing.T) {
	t.Parallel()
	p, r := newPlace(t), newReceiver(t)
	h := p.add(t, r, models.WebhookInput{})
	w := p.runs(t)
	a := p.ask(t, "run-1", "one")
	yes := true
	_, err := p.Decide(t.Context(), p.admin, a.ID, models.DecisionInput{Approved: &yes, Digest: a.Digest, Reason: "because-of-this"})
	storetest.Must(t, err)
	want := p.wanted(t, h.Cursor, nil)
	r.await(t, "all events", func() bool { return p.state(t, h.ID).Behind == 0 })
	got := r.got()
	checkOrder(t, want, got)
	last := got[len(got)-1]
	request := last.Data.Request
	if last.Type != "approval.approved" || request["id"] != string(a.ID) || request["status"] != "approved" || request["toolName"] != "deploy" || request["digest"] != a.Digest {
		t.Errorf("%s", last.Raw)
	}
	if request["url"] != "https://gate.example/approvals/"+string(a.ID) || request["decision"].(map[string]any)["by"].(map[string]any)["id"] != p.admin.ID {
		t.Errorf("%s", last.Raw)
	}
	for _, e := range got {
		for _, secret := range []string{"input-one", "described", "because-of-this", `"proof"`} {
			if strings.Contains(e.Raw, secret) {
				t.Errorf("%s is in %s", secret, e.Raw)
			}
		}
	}
	if len(r.bad) > 0 {
		t.Errorf("%q", r.bad)
	}
	tried, err := w.Test(t.Context(), p.admin, h.ID)
	if storetest.Must(t, err); tried.Class != models.SendSent || tried.Status != 200 || tried.Type != models.WebhookTest {
		t.Errorf("%+v", tried)
	}
	if s := p.state(t, h.ID); s.Last == nil || s.Last.Type != models.WebhookTest || s.LastAcceptedAt == nil || s.OldestAt != nil || s.BlockCount != 0 {
		t.Errorf("%+v", s)
	}
}

// With the right an endpoint gets inputs, as they are when the event is sent: what was removed
// by then is gone.
func TestInputsComeOnlyWithTheRightAndNotOnceRemoved(t *testing.T) {
	t.Parallel()
	p, with, without := newPlace(t), newReceiver(t), newReceiver(t)
	with.echoes = true
	p.add(t, without, models.WebhookInput{})
	h := p.add(t, with, models.WebhookInput{Inputs: true, Types: []string{"approval.requested", "approval.approved"}})
	a := p.ask(t, "run-1", "one")
	yes := true
	_, err := p.Decide(t.Context(), p.admin, a.ID, models.DecisionInput{Approved: &yes, Digest: a.Digest, Input: []byte(`{"edited":"by-hand"}`)})
	storetest.Must(t, err)
	largest := `{"x":"` + strings.Repeat("y", models.MaxWebhookInput-8) + `"}`
	big, err := p.Ask(t.Context(), p.agent, models.AskInput{ToolName: "deploy", ToolUseID: "big", Explicit: true, Input: []byte(largest)})
	storetest.Must(t, err)
	p.runs(t)
	with.await(t, "all events", func() bool { return len(with.got()) == 3 })
	for _, e := range with.got() {
		switch {
		case e.Data.Request["id"] == string(big.ID):
			if !strings.Contains(e.Raw, largest) || e.Data.Request["digest"] != big.Digest {
				t.Errorf("%.300s", e.Raw)
			}
		case !strings.Contains(e.Raw, `"secret":"input-one"`), !strings.Contains(e.Raw, "by-hand"):
			t.Errorf("%s", e.Raw)
		}
	}
	without.await(t, "the same elsewhere", func() bool { return len(without.got()) >= 3 })
	for _, e := range without.got() {
		if strings.Contains(e.Raw, "input-one") || strings.Contains(e.Raw, "by-hand") || strings.Contains(e.Raw, "yyy") {
			t.Errorf("%.300s", e.Raw)
		}
	}
	p.stop()
	kept := func() bool {
		answers, err := p.Webhooks.Answers(t.Context(), p.admin, h.ID)
		storetest.Must(t, err)
		return slices.ContainsFunc(answers, func(a models.WebhookAnswer) bool { return strings.Contains(string(a.Body), "input-one") })
	}
	if !kept() {
		t.Error("no answer has the input: this test shows nothing")
	}
	purge, err := upkeep.New(p.Store).NewPurge(t.Context(), storetest.Operator(), models.PurgeQuery{Before: p.clock.Step(time.Hour)})
	storetest.Must(t, err)
	_, err = purge.All(t.Context())
	storetest.Must(t, err)
	if kept() {
		t.Error("what was removed is in an answer that is kept")
	}
	storetest.Must(t, p.Webhooks.Replay(t.Context(), p.admin, h.ID, models.WebhookFrom{Seq: h.Cursor}))
	before := len(with.got())
	p.runs(t)
	with.await(t, "all again", func() bool { return len(with.got()) == before+3 })
	for _, e := range with.got()[before:] {
		if e.Data.Request["id"] == string(a.ID) && (e.Data.Request["removed"] != true || strings.Contains(e.Raw, "input-one") || strings.Contains(e.Raw, "by-hand")) {
			t.Errorf("what was removed came again: %s", e.Raw)
		}
	}
	ids := map[string]int{}
	for _, e := range with.got() {
		ids[e.ID]++
	}
	for id, n := range ids {
		if n != 2 || len(ids) != 3 {
			t.Errorf("%s came %d times: a replay has the same ids", id, n)
		}
	}
}

// One refused event blocks its conversation and no other; once it is accepted the rest follows
// in order.
func TestARefusedEventBlocksItsConversationOnly(t *testing.T) {
	t.Parallel()
	p, r := newPlace(t), newReceiver(t)
	h := p.add(t, r, models.WebhookInput{Types: []string{"approval.requested"}})
	bad := p.ask(t, "bad", "b1")
	refuse := func(e event) int {
		if e.stream() == string(bad.ConversationID) {
			return http.StatusUnprocessableEntity
		}
		return http.StatusNoContent
	}
	r.set(refuse)
	p.runs(t)
	for i := range 5 {
		p.ask(t, "bad", fmt.Sprint("b", i+2))
		p.ask(t, "good", fmt.Sprint("g", i))
	}
	want := p.wanted(t, h.Cursor, func(e models.Entry) bool { return e.Action == "approval.requested" })
	r.await(t, "the other conversation", func() bool { return len(r.got()) == 5 })
	r.await(t, "the cursor goes past", func() bool { s := p.state(t, h.ID); return s.Behind == 0 && s.BlockCount == 1 })
	blocks, err := p.Webhooks.Blocks(t.Context(), p.admin, h.ID)
	storetest.Must(t, err)
	if len(blocks) != 1 || blocks[0].ConversationID != bad.ConversationID || blocks[0].Status != 422 || blocks[0].Class != models.SendRejected || blocks[0].ResponseID != bad.ID {
		t.Fatalf("%+v", blocks)
	}
	for i, wait := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} { // pauses double
		before := len(r.tried())
		p.clock.Step(wait / 2)
		p.Bus().Publish(events.Webhooks)
		p.clock.Step(wait / 2)
		p.Bus().Publish(events.Webhooks)
		r.await(t, fmt.Sprint("attempt ", i+2), func() bool { return len(r.tried()) == before+1 })
		r.await(t, "it is kept", func() bool {
			blocks, err := p.Webhooks.Blocks(t.Context(), p.admin, h.ID)
			return err == nil && blocks[0].Attempts == i+2
		})
	}
	r.set(nil)
	storetest.Must(t, p.Webhooks.RetryNow(t.Context(), p.admin, h.ID))
	r.await(t, "the rest", func() bool { return p.state(t, h.ID).BlockCount == 0 && len(r.got()) >= 11 })
	checkOrder(t, want, r.got())
}

// After a day of refusals an endpoint is paused, and resumed where it was; 410 ends it at once.
func TestAnEndpointThatRefusesForADayIsPaused(t *testing.T) {
	t.Parallel()
	p, r := newPlace(t), newReceiver(t)
	h := p.add(t, r, models.WebhookInput{Types: []string{"approval.requested"}})
	r.set(func(event) int { return http.StatusInternalServerError })
	p.runs(t)
	a := p.ask(t, "run", "one")
	r.await(t, "a refusal", func() bool { return p.state(t, h.ID).BlockCount == 1 })
	p.clock.Step(models.WebhookGiveUp)
	p.Bus().Publish(events.Webhooks)
	r.await(t, "the pause", func() bool { return p.state(t, h.ID).PausedWhy == models.PausedFailing })
	r.set(nil)
	storetest.Must(t, p.Webhooks.Resume(t.Context(), p.admin, h.ID))
	r.await(t, "the event", func() bool { got := r.got(); return len(got) == 1 && got[0].Data.Request["id"] == string(a.ID) })
	r.set(func(event) int { return http.StatusGone })
	p.ask(t, "run", "two")
	r.await(t, "the end", func() bool { return p.state(t, h.ID).PausedWhy == models.PausedGone })
}

// An event that somebody gave up is not sent, and what follows it is.
func TestASkippedEventIsNotSent(t *testing.T) {
	t.Parallel()
	p, r := newPlace(t), newReceiver(t)
	h := p.add(t, r, models.WebhookInput{Types: []string{"approval.requested"}})
	first, second := p.ask(t, "run", "one"), p.ask(t, "run", "two")
	r.set(func(e event) int {
		if e.Data.Request["id"] == string(first.ID) {
			return http.StatusBadRequest
		}
		return http.StatusOK
	})
	p.runs(t)
	r.await(t, "the block", func() bool { return p.state(t, h.ID).BlockCount == 1 })
	blocks, err := p.Webhooks.Blocks(t.Context(), p.admin, h.ID)
	storetest.Must(t, err)
	storetest.Must(t, p.Webhooks.Skip(t.Context(), p.admin, h.ID, blocks[0].Seq, "it can't take it"))
	r.await(t, "what follows", func() bool { got := r.got(); return len(got) == 1 && got[0].Data.Request["id"] == string(second.ID) })
	r.await(t, "nothing is blocked", func() bool { return p.state(t, h.ID).BlockCount == 0 })
}

// While its key changes, an endpoint that has either key can verify.
func TestBothKeysVerifyWhileTheyChange(t *testing.T) {
	t.Parallel()
	p, r := newPlace(t), newReceiver(t)
	h := p.add(t, r, models.WebhookInput{Types: []string{"approval.requested"}})
	p.runs(t)
	key, err := p.Webhooks.Rotate(t.Context(), p.admin, h.ID)
	storetest.Must(t, err)
	p.ask(t, "run", "old key")
	r.await(t, "by the old key", func() bool { return len(r.got()) == 1 })
	if signed := strings.Fields(r.got()[0].Head.Get("webhook-signature")); len(signed) != 2 {
		t.Errorf("%q", signed)
	}
	r.key(t, key)
	p.ask(t, "run", "new key")
	r.await(t, "by the new key", func() bool { return len(r.got()) == 2 })
	p.clock.Step(models.WebhookOldKeyLife)
	p.ask(t, "run", "later")
	r.await(t, "by the new key alone", func() bool { return len(r.got()) == 3 })
	if signed := strings.Fields(r.got()[2].Head.Get("webhook-signature")); len(signed) != 1 {
		t.Errorf("%q", signed)
	}
}
