package store_test

import (
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

// What was planned before a server stopped comes when the next one runs: steps of an escalation
// and absences are rows, and so is what was handed over.
func TestActingForOthersOutlivesARestart(t *testing.T) {
	t.Parallel()
	dir := storetest.Dir(t)
	b := newBench(t, storetest.WithDir(dir))
	eve, zoe := storetest.Reviewer(t, b.Store, "eve@example.com"), storetest.Reviewer(t, b.Store, "zoe@example.com")
	b.substitute(t, b.Stranger, eve)
	b.UsePolicy(t, payments(byStranger+only+`,"timeout_minutes":600,"escalate":[{"after_minutes":30,"to":["zoe@example.com"]}]`))
	waits, handed := b.pay(t, 1), b.pay(t, 2)
	b.handsOver(t, b.Stranger, handed.ID, eve)
	from := b.Now().Add(20 * time.Minute)
	storetest.Must(t, storetest.Err(b.PlanAbsence(t.Context(), b.Stranger, models.AbsenceInput{UserID: b.Stranger.UserID(), From: from, Until: from.Add(time.Hour), Substitute: eve.UserID()})))
	storetest.Must(t, b.Close())
	b.Clock.Step(40 * time.Minute)
	b.Use(storetest.New(t, storetest.WithDir(dir), storetest.WithClock(b.Clock)))
	if !b.asks(t, eve, handed.ID) || b.asks(t, eve, waits.ID) || b.asks(t, zoe, waits.ID) {
		t.Error("before the worker runs, others have it than before the stop")
	}
	b.passes(t, 0)
	storetest.Must(t, storetest.Err(b.TakeAbsences(t.Context())))
	if !b.asks(t, eve, waits.ID) || !b.asks(t, zoe, waits.ID) {
		t.Error("what came while no server ran is lost")
	}
	got, err := b.Decide(t.Context(), eve, waits.ID, storetest.Yes())
	storetest.Must(t, err)
	if got.Vote.BehalfOf != b.Stranger.UserID() {
		t.Errorf("on behalf of %q", got.Vote.BehalfOf)
	}
	storetest.CheckRows(t, b.Store)
}
