package outside_test

import (
	"fmt"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/outside"
	"countersign/models/storetest"
)

const keyRefused = "The upstream refuses the key (401)."

func (w *world) paused(t *testing.T) bool {
	t.Helper()
	states, err := outside.New(w.Store).UpstreamStates(t.Context(), w.Admin)
	storetest.Must(t, err)
	return states[0].PausedAt != nil
}

// A poll and an attempt begin with a key, the upstream gets another one, and only
// then the first key is refused: that tells nothing of the second.
func TestALateRefusalOfAnOldKeyPausesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.Taken(t, storetest.Call("c", "", "bash", `{}`))
	w.Vote(t, id, storetest.Yes())
	polled, _, err := outside.New(w.Store).DueUpstreams(t.Context())
	storetest.Must(t, err)
	_, told, err := outside.New(w.Store).BeginDelivery(t.Context(), w.Tell, id)
	storetest.Must(t, err)
	w.Clock.Step(time.Second)
	storetest.Must(t, outside.New(w.Store).SetUpstreamKey(t.Context(), w.Admin, w.Up.ID, "anew"))
	at := storetest.LedgerAt(t, w.Store)

	storetest.Must(t, outside.New(w.Store).NotePoll(t.Context(), w.Poll, w.Up.ID, models.PollNote{Failed: true, WrongKey: true, Key: polled[0].KeySealed, Problem: keyRefused, Next: time.Hour}))
	storetest.Must(t, outside.New(w.Store).EndDelivery(t.Context(), w.Tell, id, models.DeliveryEnd{Result: models.DeliveryLater, WrongKey: true, Key: told.KeySealed, Text: keyRefused, Pause: time.Hour}))
	states, err := outside.New(w.Store).UpstreamStates(t.Context(), w.Admin)
	storetest.Must(t, err)
	if s := states[0]; s.PausedAt != nil || s.Failures != 0 || s.Problem != "" {
		t.Errorf("%+v", s)
	}
	storetest.SameStrings(t, "upstream", storetest.ActionsSince(t, w.Store, at), nil)
	if due, _, err := outside.New(w.Store).DueUpstreams(t.Context()); len(due) != 1 || err != nil {
		t.Errorf("the new key is not tried at once: %v, %v", due, err)
	}
	if due := w.Due(t); len(due) != 1 {
		t.Errorf("the decision is not told at once with the new key: %v", due)
	}

	// The key that is stored now pauses it, in both ways.
	_, told, err = outside.New(w.Store).BeginDelivery(t.Context(), w.Tell, id)
	if told == nil || err != nil {
		t.Fatalf("nothing is told with the new key: %v", err)
	}
	storetest.Must(t, outside.New(w.Store).EndDelivery(t.Context(), w.Tell, id, models.DeliveryEnd{Result: models.DeliveryLater, WrongKey: true, Key: told.KeySealed, Text: keyRefused, Pause: time.Hour}))
	if !w.paused(t) {
		t.Error("the new key is refused to a decision, and the upstream is not paused")
	}
	storetest.Must(t, outside.New(w.Store).ResumeUpstream(t.Context(), w.Admin, w.Up.ID))
	polled, _, err = outside.New(w.Store).DueUpstreams(t.Context())
	storetest.Must(t, err)
	storetest.Must(t, outside.New(w.Store).NotePoll(t.Context(), w.Poll, w.Up.ID, models.PollNote{Failed: true, WrongKey: true, Key: polled[0].KeySealed, Problem: keyRefused, Next: time.Hour}))
	if !w.paused(t) {
		t.Error("the new key is refused to a poll, and the upstream is not paused")
	}
	w.Verify(t)
	storetest.CheckRows(t, w.Store)
}

// What is due already is no reason to look again soon, however much it is.
func TestNextIsNeverInThePast(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 20 {
		w.Vote(t, w.Taken(t, storetest.Call(fmt.Sprintf("c%d", i), "", "bash", `{}`)), storetest.Yes())
	}
	w.Clock.Step(time.Minute)
	due, next, err := outside.New(w.Store).DueDeliveries(t.Context(), 16)
	if err != nil || len(due[w.Up.ID]) != 16 || !next.IsZero() && !next.After(w.Clock.Now()) {
		t.Errorf("%d are due, the next at %s (now %s), %v", len(due[w.Up.ID]), next, w.Clock.Now(), err)
	}
	second := w.Upstream(t, "other")
	storetest.Must(t, outside.New(w.Store).Take(t.Context(), w.Poll, second.ID, storetest.Call("late", "", "bash", `{}`)))
	r, _ := w.Row(t, `upstream_id = ?`, second.ID)
	w.Vote(t, r.ID, storetest.Yes())
	w.Begin(t, r.ID)
	storetest.Must(t, outside.New(w.Store).EndDelivery(t.Context(), w.Tell, r.ID, models.DeliveryEnd{Result: models.DeliveryLater, Text: "It failed (500).", Pause: time.Minute}))
	if due, next, err := outside.New(w.Store).DueDeliveries(t.Context(), 16); err != nil || len(due[w.Up.ID]) != 16 || !next.Equal(w.Clock.Now().Add(time.Minute)) {
		t.Errorf("%v are due, the next at %s, %v", due, next, err)
	}
}

// The time of a decision is over while its upstream is paused and an attempt of
// another process may still run: it is looked at when that one must have ended.
func TestAPausedAttemptIsWaitedFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	short, other := storetest.Call("short", "", "bash", `{}`), w.Taken(t, storetest.Call("c", "", "bash", `{}`))
	short.Timeout = new(time.Minute)
	id := w.Taken(t, short)
	w.Vote(t, id, storetest.Yes())
	w.Vote(t, other, storetest.Yes())
	var deadline time.Time
	storetest.Must(t, storetest.Beside(t, w.Store).QueryRowContext(t.Context(), `SELECT give_up_at FROM deliveries WHERE response_id = ?`, id).Scan(&deadline))
	w.Clock.Step(deadline.Sub(w.Clock.Now()) - time.Second)
	w.Begin(t, id)
	_, told, err := outside.New(w.Store).BeginDelivery(t.Context(), w.Tell, other)
	storetest.Must(t, err)
	storetest.Must(t, outside.New(w.Store).EndDelivery(t.Context(), w.Tell, other, models.DeliveryEnd{Result: models.DeliveryLater, WrongKey: true, Key: told.KeySealed, Text: keyRefused}))
	w.Clock.Step(2 * time.Second)
	if w.Begin(t, id) != nil {
		t.Error("it is told while its upstream is paused")
	}
	due, next, err := outside.New(w.Store).DueDeliveries(t.Context(), 16)
	if err != nil || len(due) != 0 || !next.After(w.Clock.Now()) {
		t.Errorf("%v are due, the next at %s, %v", due, next, err)
	}
	w.Clock.Step(next.Sub(w.Clock.Now()))
	if w.Begin(t, id) != nil {
		t.Error("it is told when its time is over")
	}
	w.WantRow(t, id, "expired undelivered")
}
