package store_test

import (
	"fmt"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

const keyRefused = "The upstream refuses the key (401)."

func (w *outsideWorld) paused(t *testing.T) bool {
	t.Helper()
	states, err := w.UpstreamStates(t.Context(), w.admin)
	storetest.Must(t, err)
	return states[0].PausedAt != nil
}

// A poll and an attempt begin with a key, the upstream gets another one, and only
// then the first key is refused: that tells nothing of the second.
func TestALateRefusalOfAnOldKeyPausesNothing(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	id := w.taken(t, call("c", "", "bash", `{}`))
	w.vote(t, id, yes())
	polled, _, err := w.DueUpstreams(t.Context())
	storetest.Must(t, err)
	_, told, err := w.BeginDelivery(t.Context(), w.tell, id)
	storetest.Must(t, err)
	w.clock.Step(time.Second)
	storetest.Must(t, w.SetUpstreamKey(t.Context(), w.admin, w.up.ID, "anew"))
	at := storetest.LedgerAt(t, w.Store)

	storetest.Must(t, w.NotePoll(t.Context(), w.poll, w.up.ID, models.PollNote{Failed: true, WrongKey: true, Key: polled[0].KeySealed, Problem: keyRefused, Next: time.Hour}))
	storetest.Must(t, w.EndDelivery(t.Context(), w.tell, id, models.DeliveryEnd{Result: models.DeliveryLater, WrongKey: true, Key: told.KeySealed, Text: keyRefused, Pause: time.Hour}))
	states, err := w.UpstreamStates(t.Context(), w.admin)
	storetest.Must(t, err)
	if s := states[0]; s.PausedAt != nil || s.Failures != 0 || s.Problem != "" {
		t.Errorf("%+v", s)
	}
	storetest.SameStrings(t, "upstream", storetest.ActionsSince(t, w.Store, at), nil)
	if due, _, err := w.DueUpstreams(t.Context()); len(due) != 1 || err != nil {
		t.Errorf("the new key is not tried at once: %v, %v", due, err)
	}
	if due := w.due(t); len(due) != 1 {
		t.Errorf("the decision is not told at once with the new key: %v", due)
	}

	// The key that is stored now pauses it, in both ways.
	_, told, err = w.BeginDelivery(t.Context(), w.tell, id)
	if told == nil || err != nil {
		t.Fatalf("nothing is told with the new key: %v", err)
	}
	storetest.Must(t, w.EndDelivery(t.Context(), w.tell, id, models.DeliveryEnd{Result: models.DeliveryLater, WrongKey: true, Key: told.KeySealed, Text: keyRefused, Pause: time.Hour}))
	if !w.paused(t) {
		t.Error("the new key is refused to a decision, and the upstream is not paused")
	}
	storetest.Must(t, w.ResumeUpstream(t.Context(), w.admin, w.up.ID))
	polled, _, err = w.DueUpstreams(t.Context())
	storetest.Must(t, err)
	storetest.Must(t, w.NotePoll(t.Context(), w.poll, w.up.ID, models.PollNote{Failed: true, WrongKey: true, Key: polled[0].KeySealed, Problem: keyRefused, Next: time.Hour}))
	if !w.paused(t) {
		t.Error("the new key is refused to a poll, and the upstream is not paused")
	}
	w.verify(t)
	storetest.CheckRows(t, w.Store)
}

// What is due already is no reason to look again soon, however much it is.
func TestNextIsNeverInThePast(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	for i := range 20 {
		w.vote(t, w.taken(t, call(fmt.Sprintf("c%d", i), "", "bash", `{}`)), yes())
	}
	w.clock.Step(time.Minute)
	due, next, err := w.DueDeliveries(t.Context(), 16)
	if err != nil || len(due[w.up.ID]) != 16 || !next.IsZero() && !next.After(w.clock.Now()) {
		t.Errorf("%d are due, the next at %s (now %s), %v", len(due[w.up.ID]), next, w.clock.Now(), err)
	}
	second := w.upstream(t, "other")
	storetest.Must(t, w.TakeOutside(t.Context(), w.poll, second.ID, call("late", "", "bash", `{}`)))
	r, _ := w.row(t, `upstream_id = ?`, second.ID)
	w.vote(t, r.id, yes())
	w.begin(t, r.id)
	storetest.Must(t, w.EndDelivery(t.Context(), w.tell, r.id, models.DeliveryEnd{Result: models.DeliveryLater, Text: "It failed (500).", Pause: time.Minute}))
	if due, next, err := w.DueDeliveries(t.Context(), 16); err != nil || len(due[w.up.ID]) != 16 || !next.Equal(w.clock.Now().Add(time.Minute)) {
		t.Errorf("%v are due, the next at %s, %v", due, next, err)
	}
}

// The time of a decision is over while its upstream is paused and an attempt of
// another process may still run: it is looked at when that one must have ended.
func TestAPausedAttemptIsWaitedFor(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	short, other := call("short", "", "bash", `{}`), w.taken(t, call("c", "", "bash", `{}`))
	short.Timeout = new(time.Minute)
	id := w.taken(t, short)
	w.vote(t, id, yes())
	w.vote(t, other, yes())
	var deadline time.Time
	storetest.Must(t, storetest.Beside(t, w.Store).QueryRowContext(t.Context(), `SELECT give_up_at FROM deliveries WHERE response_id = ?`, id).Scan(&deadline))
	w.clock.Step(deadline.Sub(w.clock.Now()) - time.Second)
	w.begin(t, id)
	_, told, err := w.BeginDelivery(t.Context(), w.tell, other)
	storetest.Must(t, err)
	storetest.Must(t, w.EndDelivery(t.Context(), w.tell, other, models.DeliveryEnd{Result: models.DeliveryLater, WrongKey: true, Key: told.KeySealed, Text: keyRefused}))
	w.clock.Step(2 * time.Second)
	if w.begin(t, id) != nil {
		t.Error("it is told while its upstream is paused")
	}
	due, next, err := w.DueDeliveries(t.Context(), 16)
	if err != nil || len(due) != 0 || !next.After(w.clock.Now()) {
		t.Errorf("%v are due, the next at %s, %v", due, next, err)
	}
	w.clock.Step(next.Sub(w.clock.Now()))
	if w.begin(t, id) != nil {
		t.Error("it is told when its time is over")
	}
	w.wantRow(t, id, "expired undelivered")
}
