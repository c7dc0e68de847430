package humanlayer_test

import (
	"fmt"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/runs"
	"countersign/models/storetest"
)

// waiting returns once so many callers wait.
func (w *world) waiting(n int) {
	w.tb.Helper()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for w.store.Waiters() != n {
		select {
		case <-tick.C:
		case <-deadline.C:
			w.tb.Fatalf("%d callers wait, want %d", w.store.Waiters(), n)
		}
	}
}

// Who polls too often is slowed down and never refused, and hears an outcome at once.
func TestPollsOverTheLimitAreDelayed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.calls.Pace(1, time.Hour)
	w.ask("c1")
	w.call(w.agent, "GET", "/function_calls/c1", "").want(t, 200, map[string]any{"status.approved": nil})
	polled := make(chan answer, 1)
	go func() {
		got, err := w.try(w.agent, "GET", "/function_calls/c1", "")
		if err != nil {
			t.Error(err)
		}
		polled <- got
	}()
	w.waiting(1)
	w.call(w.reviewer, "POST", "/agent/function_calls/c1/respond", `{"approved":true}`).want(t, 200, nil)
	got := <-polled
	got.want(t, 200, map[string]any{"status.approved": true})
}

// The status of a poll stays what it is, however late it comes; and a server that stops
// answers those who are delayed.
func TestAStoppingServerAnswersPending(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.calls.Pace(1, time.Hour)
	w.ask("c1")
	w.contact("q1")
	w.call(w.agent, "GET", "/function_calls/c1", "").want(t, 200, nil) // the last that is not delayed
	polls := map[string]int{"/function_calls/c1": 200, "/contact_requests/q1": 200}
	got := make(chan string, len(polls))
	for path, status := range polls {
		go func() {
			a, err := w.try(w.agent, "GET", path, "")
			if err != nil || a.status != status || a.at("status.approved") != nil || a.at("status.response") != nil || a.text("call_id") == "" || a.header.Get("Retry-After") != "1" {
				got <- fmt.Sprintf("%s: %v %d %v %s", path, err, a.status, a.header, a.body)
				return
			}
			got <- ""
		}()
	}
	w.waiting(2)
	w.store.EndWaits()
	for range polls {
		if fault := <-got; fault != "" {
			t.Error(fault)
		}
	}
	// While it stops nobody is delayed, and what is wrong stays wrong.
	w.call(w.agent, "GET", "/function_calls/c1", "").want(t, 200, map[string]any{"status.approved": nil})
	w.call(w.agent, "GET", "/function_calls/nope", "").want(t, 404, map[string]any{"error.code": "not_found"})
	w.call("nonsense", "GET", "/function_calls/c1", "").want(t, 401, nil)
	// What the database can't tell any more is still pending.
	if err := w.store.Close(); err != nil {
		t.Fatal(err)
	}
	unread := w.call(w.agent, "GET", "/function_calls/c1", "")
	if unread.want(t, 200, map[string]any{"status.approved": nil, "call_id": "c1"}); unread.header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After: %q", unread.header.Get("Retry-After"))
	}
	w.call(w.agent, "POST", "/function_calls", `{"call_id":"c9","spec":{"fn":"f"}}`).want(t, 503, nil)
}

// A token that is revoked ends a delayed poll too.
func TestARevokedTokenEndsADelayedPoll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.calls.Pace(1, time.Hour)
	w.ask("c1")
	w.call(w.agent, "GET", "/function_calls/c1", "").want(t, 200, nil)
	polled := make(chan answer, 1)
	go func() {
		got, err := w.try(w.agent, "GET", "/function_calls/c1", "")
		if err != nil {
			t.Error(err)
		}
		polled <- got
	}()
	w.waiting(1)
	if err := w.store.People.RevokeToken(t.Context(), w.owner, w.agentAs.TokenID); err != nil {
		t.Fatal(err)
	}
	got := <-polled
	got.want(t, 401, nil)
}

// What is delivered with an undo window is pending for the agent until it counts.
func TestAHeldDecisionIsPending(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"undo_seconds":{"medium":30}}`)
	w.ask("c1")
	w.call(w.reviewer, "POST", "/agent/function_calls/c1/respond", `{"approved":true}`).want(t, 202, map[string]any{"status.approved": nil, "held.reason": "undo"})
	w.call(w.agent, "GET", "/function_calls/c1", "").want(t, 200, map[string]any{"status.approved": nil, "held": nil})
	w.clock.Step(time.Minute)
	if _, err := w.store.ReleaseDue(t.Context(), 10); err != nil {
		t.Fatal(err)
	}
	w.call(w.agent, "GET", "/function_calls/c1", "").want(t, 200, map[string]any{"status.approved": true})
}

// High risk is approved only by who says what they saw.
func TestRespondWithADigest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"rules":[{"name":"mail","tools":["send_email"],"effect":"require","risk":"high"}]}`)
	made := w.ask("c1")
	respond := func(digest string) answer {
		return w.call(w.reviewer, "POST", "/agent/function_calls/c1/respond", `{"approved":true,"digest":"`+digest+`"}`)
	}
	respond("").want(t, 422, map[string]any{"error.code": string(models.CodeDigestRequired)})
	respond(models.Digest([]byte("{}"))).want(t, 409, map[string]any{"error.code": string(models.CodeDigestMismatch)})
	respond(made.text("digest")).want(t, 200, map[string]any{"status.approved": true})
}

// Who polls waits: another way in that gives the same call up leaves it (I8).
func TestAPollKeepsTheRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ask("c1")
	a, err := runs.New(w.store).FindCall(t.Context(), w.agentAs, "c1")
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		w.clock.Step(10 * time.Second)
		w.call(w.agent, "GET", "/function_calls/c1", "").want(t, 200, nil)
	}
	w.clock.Step(5 * time.Second)
	if got, err := w.store.GiveUp(t.Context(), w.agentAs, a.ID, "prompt"); err != nil || got.Status() != models.StatusPending || !storetest.PresenceOf(t, w.store, a.ID).Waiting {
		t.Fatalf("given up while it is polled: %v, %v", got.Status(), err)
	}
	w.clock.Step(time.Minute)
	w.call(w.reviewer, "GET", "/function_calls/c1", "").want(t, 200, nil)
	if got, err := w.store.GiveUp(t.Context(), w.agentAs, a.ID, "prompt"); err != nil || got.Status() != models.StatusCancelled {
		t.Fatalf("given up when nobody polls any more: %v, %v", got.Status(), err)
	}
}
