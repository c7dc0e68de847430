package mcp_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/people"
	"countersign/models/store"
	"countersign/models/storetest"
)

const allowed = `{"behavior":"allow","updatedInput":{"command":"touch one.txt","n":9007199254740993}}`

// waiting calls the permission prompt and reads up to the first byte of the wait: what the
// stream is resumed by.
func (c *client) waiting(id int) (*stream, event) {
	c.w.tb.Helper()
	s := c.call(id, "approve", touch)
	s.want(http.StatusOK)
	e, ok := s.next()
	if !ok {
		c.w.tb.Fatal("no first event")
	}
	return s, e
}

// TestTheServerIsDownBeforeTheAsk: the agent hears of no decision, and nobody is asked.
func TestTheServerIsDownBeforeTheAsk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.begin(w.agent)
	w.down()
	if s, err := c.send(http.MethodPost, callOf(1, "approve", touch, "{}", c.protocol), nil); err == nil {
		t.Errorf("a server that is down answered: %d", s.status)
	}
	w.up()
	w.pending(0)
	// The session is still good, and so is the call.
	s := c.call(1, "approve", touch)
	yes := true
	w.decide(w.pending(1)[0].ID, models.DecisionInput{Approved: &yes})
	if got := s.answer().text(); got != allowed {
		t.Error(got)
	}
}

// TestARestartWhileItWaitsI8: a client with a session resumes its stream and gets the answer
// of the new process, whether the decision came before or after; the request stays pending.
func TestARestartWhileItWaitsI8(t *testing.T) {
	t.Parallel()
	for _, early := range []bool{true, false} {
		w := newWorld(t)
		c := w.begin(w.agent)
		s, first := c.waiting(4)
		if first.id == "" || first.retry != "10000" || first.data != "" {
			t.Fatalf("the first event is %+v", first)
		}
		w.down()
		for {
			e, ok := s.next()
			if !ok {
				break
			}
			if strings.Contains(e.data, `"result"`) || strings.Contains(e.data, `"error"`) {
				t.Fatalf("the stream was answered at the stop: %s", e.data)
			}
		}
		w.up()
		row := w.pending(1)[0]
		if storetest.PresenceOf(t, w.store, row.ID).Waiting {
			t.Error("the agent is shown as waiting while it is cut off")
		}
		yes := true
		if early {
			w.decide(row.ID, models.DecisionInput{Approved: &yes})
		}
		back := c.resume(first.id)
		if !early {
			w.until("it waits again", func() bool { return storetest.PresenceOf(t, w.store, row.ID).Waiting })
			if e, ok := back.next(); !ok || e.id != first.id {
				t.Errorf("the resumed stream begins with %+v", e)
			}
			if e, ok := back.next(); !ok || !strings.Contains(e.data, `"progressToken":7`) {
				t.Errorf("progress is not told on: %+v", e)
			}
			w.decide(row.ID, models.DecisionInput{Approved: &yes})
		}
		if r := back.answer(); r.ID != 4 || r.text() != allowed {
			t.Errorf("answer %d: %s", r.ID, r.text())
		}
	}
}

// TestARestartWithoutASession: the call fails, which is a no, and issued again meets its row (I9).
func TestARestartWithoutASession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.modern(w.agent, "approve")
	s, first := c.waiting(4)
	if first.id != "" {
		t.Errorf("a stream that can't be resumed has the id %q", first.id)
	}
	w.down()
	if got := s.answer().text(); !strings.HasPrefix(got, "error: The server is restarting") {
		t.Error(got)
	}
	w.up()
	s = c.call(5, "approve", touch)
	yes := true
	w.decide(w.pending(1)[0].ID, models.DecisionInput{Approved: &yes})
	if got := s.answer().text(); got != allowed {
		t.Error(got)
	}
}

// TestALostConnectionWithdrawsNothingI8: the request stays, and the agent is shown as gone.
func TestALostConnectionWithdrawsNothingI8(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []*client{w.begin(w.agent), w.modern(w.agent, "approve")} {
		s, _ := c.waiting(1)
		row := w.pending(1)[0]
		w.until("it waits", func() bool { return storetest.PresenceOf(t, w.store, row.ID).Waiting })
		s.close()
		w.until("it is gone", func() bool { return w.store.Waiters() == 0 })
		w.clock.Step(time.Minute / 2) // longer than clients take from one wait to the next
		if storetest.PresenceOf(t, w.store, row.ID).Waiting {
			t.Errorf("protocol %s: the agent is shown as waiting", c.protocol)
		}
		w.pending(1)
	}
}

// TestAnAnswerAfterTheDecision: who comes after it hears the same.
func TestAnAnswerAfterTheDecision(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.begin(w.agent)
	s, first := c.waiting(1)
	s.close()
	no := false
	w.decide(w.pending(1)[0].ID, models.DecisionInput{Approved: &no, Reason: "no"})
	w.down()
	w.up()
	for _, s := range []*stream{c.resume(first.id), c.call(2, "approve", touch)} {
		if got := s.answer().text(); !strings.HasPrefix(got, `{"behavior":"deny","message":"no`) {
			t.Error(got)
		}
	}
}

// TestCancelling withdraws what its client no longer waits for, in the same session only.
func TestCancelling(t *testing.T) {
	t.Parallel()
	const cancelled = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"gave up"}}`
	w := newWorld(t)
	c := w.begin(w.agent)
	s, _ := c.waiting(1)
	w.until("it waits", func() bool { return w.store.Waiters() == 1 })
	for _, other := range []*client{w.begin(w.agent), w.client(w.agent), w.begin(w.foreign), w.begin(w.second)} {
		other.post(cancelled).want(http.StatusAccepted)
	}
	w.pending(1)
	c.post(cancelled).want(http.StatusAccepted)
	if got := s.answer().text(); !strings.HasPrefix(got, `{"behavior":"deny","message":"The request was cancelled`) {
		t.Error(got)
	}
	w.pending(0)
	c.post(cancelled).want(http.StatusAccepted) // of what was answered already: nothing
}

// TestI8CancellingLeavesWhatAnotherWayWaitsFor: the request ends with the last way in.
func TestI8CancellingLeavesWhatAnotherWayWaitsFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.begin(w.agent)
	s, _ := c.waiting(1)
	row := w.pending(1)[0]
	w.until("it waits", func() bool { return w.store.Waiters() == 1 })
	other := w.store.Watch(t.Context(), w.agentAs, row.ID, time.Minute, store.ByWay("hook"))
	if _, _, err := other.Look(t.Context()); err != nil {
		t.Fatal(err)
	}
	cancel := func(id string) {
		c.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`).want(http.StatusAccepted)
	}
	cancel("1")
	w.pending(1)
	w.until("the call that was given up waits no longer", func() bool { return w.store.Waiters() == 1 })
	s.close()
	other.Close()
	w.clock.Step(time.Minute)
	again := c.call(2, "approve", touch)
	w.until("it waits again", func() bool { return w.store.Waiters() == 1 })
	cancel("2")
	w.pending(0)
	if got := again.answer().text(); !strings.HasPrefix(got, `{"behavior":"deny","message":"The request was cancelled`) {
		t.Error(got)
	}
}

// TestCancellingLeavesTheOtherWayI8: what the agent waits for in another way too stays, and its
// outcome is told there; the call that was given up ends without one.
func TestCancellingLeavesTheOtherWayI8(t *testing.T) {
	t.Parallel()
	const cancelled = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`
	w := newWorld(t)
	c, other := w.begin(w.agent), w.begin(w.agent)
	s, _ := c.waiting(1)
	kept, _ := other.waiting(1)
	w.until("both wait", func() bool { return w.store.Waiters() == 2 })
	c.post(cancelled).want(http.StatusAccepted)
	if got := s.answer().text(); !strings.HasPrefix(got, "error: This call was cancelled.") {
		t.Error(got)
	}
	yes := true
	w.decide(w.pending(1)[0].ID, models.DecisionInput{Approved: &yes})
	if got := kept.answer().text(); got != allowed {
		t.Error(got)
	}
}

// TestCancellingAfterARestart: the call is known by its stream that was resumed.
func TestCancellingAfterARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.begin(w.agent)
	_, first := c.waiting(1)
	w.down()
	w.up()
	s := c.resume(first.id)
	w.until("it waits again", func() bool { return w.store.Waiters() == 1 })
	w.clock.Step(time.Minute) // every other way in has had its time to come back
	c.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`).want(http.StatusAccepted)
	if got := s.answer().text(); !strings.HasPrefix(got, `{"behavior":"deny"`) {
		t.Error(got)
	}
}

// TestARevokedTokenEndsTheWait: nothing is released to it.
func TestARevokedTokenEndsTheWait(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, _ := w.begin(w.agent).waiting(1)
	row := w.pending(1)[0]
	if err := w.store.People.RevokeToken(t.Context(), w.admin, w.agentAs.TokenID); err != nil {
		t.Fatal(err)
	}
	if got := s.answer().text(); !strings.HasPrefix(got, "error: ") {
		t.Error(got)
	}
	if a := w.pending(1); a[0].ID != row.ID {
		t.Error("another row waits")
	}
}

// TestATokenThatExpiresHearsNoOutcome: a wait may be longer than a token is good for.
func TestATokenThatExpiresHearsNoOutcome(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	short, _, err := w.store.People.AddToken(t.Context(), storetest.Operator(), people.NewToken{Scope: models.ScopeAgent, Agent: "coder", Name: "short", UserID: w.owner.OwnerID, Expires: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	s, _ := w.begin(short).waiting(1)
	row := w.pending(1)[0]
	w.clock.Step(2 * time.Minute)
	yes := true
	w.decide(row.ID, models.DecisionInput{Approved: &yes})
	if got := s.answer().text(); !strings.HasPrefix(got, "error: A valid bearer token is needed") {
		t.Error(got)
	}
}
