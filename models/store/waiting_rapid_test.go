package store_test

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/requests"
	"countersign/models/runs"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/models/upkeep"
)

// TestRandomWaitsAreToldOnce: however asks, outcomes, reports and messages follow each
// other in several conversations, a conversation is shown as waiting while a
// request is undecided, and the stream, read whenever, tells each change of what
// is shown once and in order, after the store was opened again too.
func TestRandomWaitsAreToldOnce(t *testing.T) {
	t.Parallel()
	made := newTrace(t, models.OnRejectCascade, storetest.WithDir(storetest.Dir(t)))
	if err := made.Close(); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		dir := storetest.Dir(t)
		dbtest.Copy(t, filepath.Dir(made.Path()), dir)
		w := &waitingWorld{
			made: made, open: func() *store.Store {
				return storetest.New(t, storetest.WithDir(dir), storetest.WithClock(made.Clock), storetest.NoLimits)
			},
			shown: map[models.ConversationID]models.ConversationStatus{}, told: map[models.ConversationID][]models.ConversationStatus{},
			real: map[models.ConversationID][]models.ConversationStatus{},
		}
		w.Store = w.open()
		defer func() { _ = w.Close() }() // New closes it too, and tells what went wrong
		w.look(rt)
		var err error
		w.heard, err = headOf(w.Store)
		if err != nil {
			rt.Fatal(err)
		}
		clear(w.real)
		rt.Repeat(map[string]func(*rapid.T){
			"ask": w.ask, "ask more": w.ask, "say": w.propose, "decide": w.decide, "decide more": w.decide, "cancel": w.cancel, "report": w.report,
			"report a call": w.reportCall, "expire": w.expire, "steer": w.steer, "write": w.write, "budget": w.budget, "listen": w.listen, "reopen": w.reopen,
			"": w.look,
		})
		w.listen(rt)
		for id := range w.real {
			if !slices.Equal(w.real[id], w.told[id]) {
				rt.Fatalf("%s was %v, and the stream tells %v", id, w.real[id], w.told[id])
			}
		}
		if len(w.told) > len(w.real) {
			rt.Fatalf("the stream tells %v of what did not change, %v did", w.told, slices.Collect(maps.Keys(w.real)))
		}
		w.rowsHold(rt)
	})
}

// waitingWorld remembers what was shown, and what was told.
type waitingWorld struct {
	*store.Store

	made  *trace
	open  func() *store.Store
	asked []models.ResponseID
	heard int64
	shown map[models.ConversationID]models.ConversationStatus
	real  map[models.ConversationID][]models.ConversationStatus // what was shown anew, in order
	told  map[models.ConversationID][]models.ConversationStatus // what the stream says
}

func headOf(s *store.Store) (int64, error) {
	head, err := s.Ledger.Head(context.Background())
	return head.Seq, err
}

// look reads what every conversation is shown as, which the oracle works out from
// the requests in it.
func (w *waitingWorld) look(rt *rapid.T) {
	ctx := context.Background()
	list, err := w.Requests.Conversations(ctx, w.made.Owner, requests.ConversationQuery{Limit: models.MaxPage})
	if err != nil {
		rt.Fatal(err)
	}
	byStatus := map[models.ConversationStatus]int{}
	for i := range list.Items {
		v := &list.Items[i]
		ended := v.Status == models.ConversationCompleted || v.Status == models.ConversationFailed
		if waits := v.Pending > 0; waits && !ended && v.Status != models.ConversationWaitingInput {
			rt.Fatalf("%d wait in %s, which is shown as %s", v.Pending, v.ID, v.Status)
		}
		byStatus[v.Status]++
		before, known := w.shown[v.ID]
		if !known {
			before = models.ConversationRunning // in which it was opened
		}
		if w.shown[v.ID] = v.Status; before != v.Status {
			w.real[v.ID] = append(w.real[v.ID], v.Status)
		}
	}
	for _, status := range []models.ConversationStatus{models.ConversationRunning, models.ConversationWaitingInput, models.ConversationCompleted, models.ConversationFailed} {
		some, err := w.Requests.Conversations(ctx, w.made.Owner, requests.ConversationQuery{Status: status, Limit: models.MaxPage})
		if err != nil || len(some.Items) != byStatus[status] || slices.ContainsFunc(some.Items, func(v models.ConversationView) bool { return v.Status != status }) {
			rt.Fatalf("%d are listed as %s, want %d: %v", len(some.Items), status, byStatus[status], err)
		}
	}
}

func (w *waitingWorld) listen(rt *rapid.T) {
	var err error
	w.heard, err = w.Requests.Feed(context.Background(), w.made.Owner, w.heard, func(h *requests.FeedEvent) error {
		for _, c := range h.Changes {
			if was := w.told[c.Conversation]; c.Old == c.New || len(was) > 0 && was[len(was)-1] != c.Old {
				rt.Fatalf("told that %s went from %s to %s after %v", c.Conversation, c.Old, c.New, was)
			}
			w.told[c.Conversation] = append(w.told[c.Conversation], c.New)
		}
		return nil
	})
	if err != nil {
		rt.Fatal(err)
	}
}

func (w *waitingWorld) reopen(rt *rapid.T) {
	if err := w.Close(); err != nil {
		rt.Fatal(err)
	}
	w.Store = w.open()
}

func (w *waitingWorld) rowsHold(rt *rapid.T) {
	found, err := upkeep.New(w.Store).VerifyRows(context.Background(), nil)
	if err != nil || found.Found > 0 {
		rt.Fatalf("the rows are not as the ledger tells: %+v, %v", found, err)
	}
}

// fails ends the run on what is no refusal.
func fails(rt *rapid.T, err error) {
	if err != nil && models.ErrorCode(err) == models.CodeInternal {
		rt.Fatal(err)
	}
}

func (w *waitingWorld) ask(rt *rapid.T) {
	run := storetest.Pick(rt, "run", []string{"run", "", "two"})
	in := models.AskInput{ToolUseID: storetest.Pick(rt, "use", storetest.CallIDs(1, 4)), ToolName: "Bash", Input: []byte(`{"n":1}`), Explicit: rapid.Bool().Draw(rt, "explicit"), RunID: run}
	if rapid.Bool().Draw(rt, "short") {
		in.TimeoutSeconds = new(int64(30))
	}
	a, err := w.Ask(context.Background(), w.made.Agent, in)
	if fails(rt, err); err == nil {
		w.asked = append(w.asked, a.ID)
	}
}

func (w *waitingWorld) propose(rt *rapid.T) {
	_, err := w.Respond(context.Background(), w.made.Agent, models.ResponseInput{ConversationID: w.made.Conv, Kind: models.KindProposal, Content: "Shall I?"})
	fails(rt, err)
}

func (w *waitingWorld) decide(rt *rapid.T) {
	list, err := w.Requests.PendingList(context.Background(), w.made.Owner, "", models.MaxPage)
	if err != nil {
		rt.Fatal(err)
	}
	if len(list.Items) == 0 {
		rt.Skip("nothing waits")
	}
	a := rapid.SampledFrom(list.Items).Draw(rt, "request")
	in := storetest.Pick(rt, "verdict", []models.DecisionInput{storetest.Yes(), storetest.No("no")})
	in.Digest = a.Digest
	fails(rt, storetest.Err(w.Decide(context.Background(), w.made.Owner, a.ID, in)))
}

func (w *waitingWorld) cancel(rt *rapid.T) {
	if len(w.asked) == 0 {
		rt.Skip("nothing was asked")
	}
	fails(rt, storetest.Err(w.Cancel(context.Background(), w.made.Agent, storetest.Pick(rt, "request", w.asked))))
}

func (w *waitingWorld) report(rt *rapid.T) {
	said := storetest.StatusEvent("s"+string(models.NewID[models.ResponseID]()), storetest.Pick(rt, "status", []models.ConversationStatus{
		models.ConversationRunning, models.ConversationRunning, models.ConversationWaitingInput, models.ConversationCompleted, models.ConversationFailed,
	}))
	_, err := runs.New(w.Store).ReportEvents(context.Background(), w.made.Agent, w.made.Conv, []models.RunEvent{said})
	fails(rt, err)
}

func (w *waitingWorld) reportCall(rt *rapid.T) {
	call := storetest.Queued(storetest.Pick(rt, "use", storetest.CallIDs(1, 4)), "Bash", `{"n":1}`, storetest.Pick(rt, "batch", []string{"", "b1", "b2"}))
	_, err := runs.New(w.Store).ReportEvents(context.Background(), w.made.Agent, w.made.Conv, []models.RunEvent{call})
	fails(rt, err)
}

func (w *waitingWorld) expire(rt *rapid.T) {
	w.made.Clock.Step(31 * time.Second)
	_, err := w.ExpireDue(context.Background(), 1)
	fails(rt, err)
}

func (w *waitingWorld) steer(rt *rapid.T) {
	fails(rt, storetest.Err(runs.New(w.Store).Steer(context.Background(), w.made.Owner, w.made.Conv, models.SteerStop)))
}

func (w *waitingWorld) write(rt *rapid.T) {
	fails(rt, storetest.Err(runs.New(w.Store).Say(context.Background(), w.made.Owner, models.MessageInput{ConversationID: w.made.Conv, Content: "go on"})))
}

func (w *waitingWorld) budget(rt *rapid.T) {
	change := storetest.Pick(rt, "budget", []models.BudgetChange{set(1000), delta(5)})
	who := storetest.Pick(rt, "who", []models.Actor{w.made.Agent, w.made.Owner})
	fails(rt, storetest.Err(w.ChangeBudget(context.Background(), who, w.made.Conv, change, "")))
}
