package outside_test

import (
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/requests"
	"countersign/models/storetest"
)

// A request moves into the run of its call out of a conversation of another agent:
// the run's agent is woken, and told of its own run only.
func TestAnAgentIsToldOfItsOwnRunsOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.Late(t, storetest.Call("c", "r", "bash", `{"n":1}`))
	conv := w.Open(t, models.RunInput{RunID: "r"})
	sub := w.Bus().Subscribe(16, events.Agent(w.Agent.ID))
	defer sub.Close()
	w.Report(t, conv, storetest.Reported("u1", "bash", `{"n":1}`))
	if r := w.ByID(t, id); r.Conversation != conv {
		t.Fatalf("%+v", r)
	}
	select {
	case <-sub.C:
	default:
		t.Error("the agent is not woken")
	}
	waits := 0
	_, err := w.Requests.Feed(t.Context(), w.Agent, 0, func(h *requests.FeedEvent) error {
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
	w := newWorld(t)
	id := w.Late(t, storetest.Call("c", "r", "bash", `{"n":1,"dry":false}`))
	conv := w.Open(t, models.RunInput{RunID: "r"}, storetest.Reported("u1", "bash", `{"n":"as reported"}`))
	w.Clock.Step(models.NameAloneAfter)
	w.Link(t)
	use := w.ByUse(t, "u1").ID
	w.Report(t, conv, storetest.Result("u1"))
	input := func() string {
		return strings.Join(storetest.Column(t, w.Store, `SELECT tool_input_json FROM responses WHERE id = '`+string(use)+`'`), "")
	}
	w.Clock.Step(time.Minute)
	storetest.Purge(t, w.Store, models.PurgeQuery{Before: w.Clock.Now()})
	if got := input(); !strings.Contains(got, "as reported") {
		t.Fatalf("while its approval is pending, the call has %s", got)
	}
	w.Vote(t, id, storetest.No("no"))
	w.Deliver(t, id, models.DeliveryTaken)
	w.Clock.Step(time.Minute)
	storetest.Purge(t, w.Store, models.PurgeQuery{Before: w.Clock.Now()})
	if got := input(); strings.Contains(got, "as reported") {
		t.Errorf("when it is settled, the call still has %s", got)
	}
	w.VerifyRows(t)
}

// An item that waited for its call while a purge removed it is shown as it is
// listed then, not as the mark.
func TestAnItemIsShownAsItIsListedAfterAPurge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	item := storetest.Call("c", "r", "bash", `{"n":"as asked"}`)
	conv := w.Open(t, models.RunInput{RunID: "r"})
	w.Take(t, item)
	w.Clock.Step(48 * time.Hour)
	if r := storetest.Purge(t, w.Store, models.PurgeQuery{Before: w.Clock.Now()}); r.Removed["outside_approvals"] == 0 {
		t.Fatalf("%+v", r.Removed)
	}
	w.Report(t, conv, storetest.Reported("u1", "bash", `{"n":2}`))
	w.Take(t, item)
	got := strings.Join(storetest.Column(t, w.Store, `SELECT context FROM responses WHERE call_id = 'c'`), "")
	if !strings.Contains(got, "as asked") || strings.Contains(got, "removed on") {
		t.Errorf("the input that is asked for is shown as %q", got)
	}
}
