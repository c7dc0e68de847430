package store_test

import (
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/store"
	"countersign/models/storetest"
)

// A request moves into the run of its call out of a conversation of another agent:
// the run's agent is woken, and told of its own run only.
func TestAnAgentIsToldOfItsOwnRunsOnly(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	id := w.late(t, call("c", "r", "bash", `{"n":1}`))
	conv := w.open(t, models.RunInput{RunID: "r"})
	sub := w.Bus().Subscribe(16, events.Agent(w.agent.ID))
	defer sub.Close()
	w.report(t, conv, reported("u1", "bash", `{"n":1}`))
	if r := w.byID(t, id); r.conv != conv {
		t.Fatalf("%+v", r)
	}
	select {
	case <-sub.C:
	default:
		t.Error("the agent is not woken")
	}
	waits := 0
	_, err := w.Feed(t.Context(), w.agent, 0, func(h *store.FeedEvent) error {
		for _, c := range h.Changes {
			if c.Conversation != conv {
				t.Errorf("it is told of %s", c.Conversation)
			}
			if c.New == models.ConversationWaitingInput {
				waits++
			}
		}
		return nil
	})
	storetest.Must(t, err)
	if waits != 1 {
		t.Errorf("its run is told to wait %d times, want once", waits)
	}
}

// The call that a pending request of another system leads to keeps its input: a
// reviewer compares both. Once that is settled, it goes too.
func TestAPurgeLeavesTheCallOfAPendingRequest(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	id := w.late(t, call("c", "r", "bash", `{"n":1,"dry":false}`))
	conv := w.open(t, models.RunInput{RunID: "r"}, reported("u1", "bash", `{"n":"as reported"}`))
	w.clock.Step(models.NameAloneAfter)
	w.link(t)
	use := w.byUse(t, "u1").id
	w.report(t, conv, result("u1"))
	input := func() string {
		return strings.Join(storetest.Column(t, w.Store, `SELECT tool_input_json FROM responses WHERE id = '`+string(use)+`'`), "")
	}
	w.clock.Step(time.Minute)
	purge(t, w.Store, models.PurgeQuery{Before: w.clock.Now()})
	if got := input(); !strings.Contains(got, "as reported") {
		t.Fatalf("while its approval is pending, the call has %s", got)
	}
	w.vote(t, id, no("no"))
	w.deliver(t, id, models.DeliveryTaken)
	w.clock.Step(time.Minute)
	purge(t, w.Store, models.PurgeQuery{Before: w.clock.Now()})
	if got := input(); strings.Contains(got, "as reported") {
		t.Errorf("when it is settled, the call still has %s", got)
	}
	w.verifyRows(t)
}

// An item that waited for its call while a purge removed it is shown as it is
// listed then, not as the mark.
func TestAnItemIsShownAsItIsListedAfterAPurge(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	item := call("c", "r", "bash", `{"n":"as asked"}`)
	conv := w.open(t, models.RunInput{RunID: "r"})
	w.take(t, item)
	w.clock.Step(48 * time.Hour)
	if r := purge(t, w.Store, models.PurgeQuery{Before: w.clock.Now()}); r.Removed["outside_approvals"] == 0 {
		t.Fatalf("%+v", r.Removed)
	}
	w.report(t, conv, reported("u1", "bash", `{"n":2}`))
	w.take(t, item)
	got := strings.Join(storetest.Column(t, w.Store, `SELECT context FROM responses WHERE call_id = 'c'`), "")
	if !strings.Contains(got, "as asked") || strings.Contains(got, "removed on") {
		t.Errorf("the input that is asked for is shown as %q", got)
	}
}
