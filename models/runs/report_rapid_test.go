package runs_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/storetest"
)

// TestRandomReportsHoldTogether: however events, requests, verdicts and ends of a
// run follow each other, energy adds up, what has ended waits for nobody, and all
// that was reported can be sent again and changes nothing (I9).
func TestRandomReportsHoldTogether(t *testing.T) {
	t.Parallel()
	made := newTrace(t, models.OnRejectCascade, storetest.WithDir(storetest.Dir(t)))
	if err := made.Close(); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		dir := storetest.Dir(t)
		dbtest.Copy(t, filepath.Dir(made.Path()), dir)
		b := &storetest.Bench{Owner: made.Owner, Agent: made.Agent}
		b.Use(storetest.New(t, storetest.WithDir(dir), storetest.WithClock(made.Clock), storetest.NoLimits))
		r := &reportWorld{trace: trace{b, storetest.TraceOf(b, made.Conv)}}
		defer r.Close() // New closes it too, and tells what went wrong
		rt.Repeat(map[string]func(*rapid.T){
			"report": r.reportAny, "report more": r.reportAny, "ask": r.askAny, "decide": r.decideAny, "close": r.closeAny,
			"": func(*rapid.T) { r.WantEnergyAddsUp(t) },
		})
		r.sendAgain(t, rt)
	})
}

type reportWorld struct {
	trace

	sent   [][]models.RunEvent
	asked  []models.ResponseID
	stored []models.ResponseID
}

func (r *reportWorld) use(rt *rapid.T) string {
	return storetest.Pick(rt, "use", storetest.CallIDs(1, 4))
}

func (r *reportWorld) event(rt *rapid.T) models.RunEvent {
	input := storetest.Pick(rt, "input", []string{`{"n":1}`, `{"n":1}`, `{"n":1}`, `{"n":2}`})
	id := storetest.Pick(rt, "id", []string{"", "", "i1", "i2", "i3"})
	e := map[int]models.RunEvent{
		0: storetest.Queued(r.use(rt), "Bash", input, storetest.Pick(rt, "batch", []string{"", "b1", "b2"})), 1: storetest.Gave(r.use(rt), storetest.Pick(rt, "text", []string{"ok", "no"})), 2: storetest.Denial(r.use(rt), "denied"),
		3: storetest.Said("s"+id, input, "b3"), 4: storetest.StatusEvent("e"+id, storetest.Pick(rt, "status", []models.ConversationStatus{models.ConversationRunning, models.ConversationCompleted})),
	}[rapid.SampledFrom([]int{0, 0, 0, 0, 1, 1, 2, 3, 4}).Draw(rt, "type")]
	if e.ID == "" {
		e.ID = id
	}
	if rapid.Bool().Draw(rt, "sub") {
		e.ParentToolUseID = "c1"
	}
	return e
}

func (r *reportWorld) reportAny(rt *rapid.T) {
	reported := rapid.SliceOfN(rapid.Custom(r.event), 1, 4).Draw(rt, "events")
	out, err := r.ReportEvents(context.Background(), r.Agent, r.Conv, reported)
	if err != nil {
		rt.Fatalf("report: %v", err)
	}
	r.sent = append(r.sent, reported)
	for i, got := range out {
		if got.Status == models.RunEventError {
			rt.Fatalf("event %+v: %+v", reported[i], got)
		}
		if got.ResponseID != "" {
			r.stored = append(r.stored, got.ResponseID)
		}
	}
	if last := reported[len(reported)-1]; last.Status == models.ConversationCompleted && out[len(out)-1].Status == models.RunEventStored {
		v, err := r.Requests.Conversation(context.Background(), r.Owner, r.Conv)
		if err != nil || v.Pending > 0 || v.Status != models.ConversationCompleted {
			rt.Fatalf("it has ended, is %s, and %d wait: %v", v.Status, v.Pending, err)
		}
	}
}

func (r *reportWorld) askAny(rt *rapid.T) {
	in := models.AskInput{ToolUseID: r.use(rt), ToolName: "Bash", Input: []byte(`{"n":1}`), Explicit: true, RunID: storetest.Pick(rt, "run", []string{"run", ""})}
	a, err := r.Ask(context.Background(), r.Agent, in)
	if models.ErrorCode(err) == models.CodeKeyConflict {
		return // it was reported with another input
	}
	if err != nil {
		rt.Fatalf("ask: %v", err)
	}
	if a.Unasked() {
		rt.Fatalf("asked, and nothing happened to it: %+v", a.Response)
	}
	r.asked = append(r.asked, a.ID)
}

func (r *reportWorld) decideAny(rt *rapid.T) {
	if len(r.asked) == 0 {
		rt.Skip("nothing was asked")
	}
	in := storetest.Pick(rt, "verdict", []models.DecisionInput{storetest.Yes(), storetest.No("no")})
	_, err := r.Decide(context.Background(), r.Owner, storetest.Pick(rt, "request", r.asked), in)
	if code := models.ErrorCode(err); code != "" && code != models.CodeAlreadyDecided {
		rt.Fatalf("decide: %v", err)
	}
}

func (r *reportWorld) closeAny(rt *rapid.T) {
	if len(r.stored) == 0 {
		rt.Skip("nothing was reported")
	}
	_, err := r.CloseCall(context.Background(), r.Owner, storetest.Pick(rt, "call", r.stored))
	if models.ErrorCode(err) == models.CodeInternal {
		rt.Fatalf("close: %v", err)
	}
}

func (r *reportWorld) sendAgain(t *testing.T, rt *rapid.T) {
	t.Helper()
	// An event without an id is known by the id of its call, for as long as that names one call.
	again := map[string]bool{}
	for _, use := range storetest.CallIDs(1, 4) {
		again[use] = storetest.Scalar[int](t, r.Store, `SELECT count(*) FROM responses WHERE tool_use_id = '`+use+`'`) > 1
	}
	for i := range r.sent {
		r.sent[i] = slices.DeleteFunc(r.sent[i], func(e models.RunEvent) bool { return e.ID == "" && again[e.ToolUseID] })
	}
	before := storetest.Dump(t, r.Store)
	for _, reported := range r.sent {
		out, err := r.ReportEvents(context.Background(), r.Agent, r.Conv, reported)
		if err != nil {
			rt.Fatalf("report again: %v", err)
		}
		for i, got := range out {
			if got.Status == models.RunEventStored {
				rt.Fatalf("sent again, %+v is %+v", reported[i], got)
			}
		}
	}
	if after := storetest.Dump(t, r.Store); after != before {
		rt.Fatalf("sent again, it changed\n%s", storetest.Difference(before, after))
	}
	if _, err := r.Ledger.Verify(context.Background(), nil); err != nil {
		rt.Fatalf("the chain: %v", err)
	}
}
