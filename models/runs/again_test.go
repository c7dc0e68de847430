package runs_test

import (
	"testing"

	"countersign/models"
	"countersign/models/storetest"
)

// An id of a call is used up once its result was reported: what comes with it next is another
// call, whether it is asked about, reported, or both.
func TestAUsedIDNamesAnotherCallI9(t *testing.T) {
	t.Parallel()
	r := open(t, storetest.NewBench(t), models.RunInput{RunID: "run"})
	r.UsePolicy(t, `{"required_approval_tools":["rm"]}`)
	yes := models.DecisionInput{Approved: new(true)}
	ask := models.AskInput{RunID: "run", ToolUseID: "c1", ToolName: "rm", Input: []byte(`{"f":1}`), Energy: new(int64(3))}
	first := r.AskFor(t, ask)
	yes.Digest = first.Digest
	_, err := r.Decide(t.Context(), r.Owner, first.ID, yes)
	storetest.Must(t, err)
	if again := r.AskFor(t, ask); again.ID != first.ID {
		t.Error("before its result, a repeat is another request")
	}
	other := ask
	other.Input = []byte(`{"f":2}`)
	_, err = r.Ask(t.Context(), r.Agent, other)
	storetest.Refused(t, err, models.CodeKeyConflict)

	call := func(event, input string) models.RunEvent {
		e := storetest.Queued("c1", "rm", input, "b1")
		e.ID = event
		return e
	}
	r.Reports(t, storetest.One(call("e1", `{"f":1}`)))
	r.Reports(t, storetest.One(storetest.Gave("c1", "first")))
	r.Reports(t, storetest.One(storetest.Gave("c1", "first")), models.RunEventRepeated)
	r.Reports(t, storetest.One(call("e1", `{"f":1}`)), models.RunEventRepeated)

	second := r.AskFor(t, ask)
	if second.ID == first.ID || second.Status() != models.StatusPending {
		t.Fatalf("after its result: the same row %t, %s; want another request, pending", second.ID == first.ID, second.Status())
	}
	if v := r.ReadConversation(t, r.Conv); v.EnergyUsed != 6 {
		t.Errorf("%d energy is used, want that of both calls", v.EnergyUsed)
	}
	if again := r.AskFor(t, ask); again.ID != second.ID {
		t.Error("the second call, asked again, is a third")
	}
	r.Reports(t, storetest.One(call("e2", `{"f":1}`)))
	_, err = r.Decide(t.Context(), r.Owner, second.ID, yes)
	storetest.Must(t, err)
	r.Reports(t, storetest.One(storetest.Gave("c1", "second")))

	third := r.AskFor(t, other)
	if third.ID == second.ID || third.Status() != models.StatusPending {
		t.Error("another input under a used id is not another request")
	}
	found, err := r.FindInvocation(t.Context(), r.Agent, "c1", "run")
	storetest.Must(t, err)
	if found.ID != third.ID {
		t.Errorf("the id finds %s, want the last call with it", found.ID)
	}
	if found, err = r.FindInvocation(t.Context(), r.Owner, "c1", ""); err != nil || found.ID != third.ID {
		t.Errorf("the owner finds %v, %v, want the last call with it", found, err)
	}
	if n := storetest.Scalar[int](t, r.Store, `SELECT count(*) FROM responses WHERE tool_use_id = 'c1' AND contradiction = ''`); n != 3 {
		t.Errorf("%d rows without a contradiction, want 3", n)
	}
	_, err = r.Ask(t.Context(), r.Agent, models.AskInput{ApprovalID: string(first.ID), RunID: "run", ToolUseID: "c1", ToolName: "rm", Input: []byte(`{"f":1}`)})
	storetest.Refused(t, err, models.CodeKeyConflict)
}

// Calls that are only reported come one by one as well, and each has its result.
// A report that repeats a call under another id of its own is known by that id: sent again
// when the call has ended, it is no new call.
func TestAReportThatRepeatsIsKnownByItsIDI9(t *testing.T) {
	t.Parallel()
	r := open(t, storetest.NewBench(t), models.RunInput{RunID: "run"})
	call := func(event string) models.RunEvent {
		e := storetest.Queued("c1", "rm", `{"f":1}`, "")
		e.ID = event
		return e
	}
	first := r.Reports(t, storetest.One(call("e1")))
	entries := `SELECT (SELECT count(*) FROM ledger) + (SELECT count(*) FROM responses)`
	before := storetest.Scalar[int](t, r.Store, entries)
	for _, id := range []string{"e2", ""} {
		if again := r.Reports(t, storetest.One(call(id)), models.RunEventRepeated); again[0].ResponseID != first[0].ResponseID {
			t.Errorf("under %q it is response %s, was %s", id, again[0].ResponseID, first[0].ResponseID)
		}
	}
	if after := storetest.Scalar[int](t, r.Store, entries); after != before {
		t.Error("a repeat is in the ledger, or a call of its own")
	}
	r.Reports(t, storetest.One(storetest.Gave("c1", "done")))
	for _, id := range []string{"e2", ""} {
		r.Reports(t, storetest.One(call(id)), models.RunEventRepeated)
	}
	r.Reports(t, storetest.One(call("e3")))
}

func TestReportedCallsWithOneIDAreKept(t *testing.T) {
	t.Parallel()
	r := open(t, storetest.NewBench(t), models.RunInput{RunID: "run"})
	for i, input := range []string{`{"n":1}`, `{"n":1}`, `{"n":2}`} {
		e := storetest.Queued("call_1", "ls", input, "b"+string(rune('1'+i)))
		e.ID = "e" + string(rune('1'+i))
		r.Reports(t, storetest.One(e))
		r.Reports(t, storetest.One(storetest.Gave("call_1", "result of "+e.ID)))
	}
	if n := storetest.Scalar[int](t, r.Store, `SELECT count(DISTINCT tool_result) FROM responses WHERE tool_use_id = 'call_1' AND contradiction = ''`); n != 3 {
		t.Errorf("%d calls with a result of their own, want 3", n)
	}
}

// Where a run's answer was given, a request that names no run is not the same call.
func TestAnApprovalOfARunIsNotForWhoNamesNoneI9(t *testing.T) {
	t.Parallel()
	b := storetest.NewBench(t)
	b.UsePolicy(t, `{"required_approval_tools":["rm"]}`)
	inRun := b.AskFor(t, models.AskInput{RunID: "run", ToolUseID: "c1", ToolName: "rm"})
	without := models.AskInput{ToolUseID: "c1", ToolName: "rm"}
	if waits := b.AskFor(t, without); waits.ID != inRun.ID {
		t.Error("while it waits, the same call by another way is another request")
	}
	_, err := b.Decide(t.Context(), b.Owner, inRun.ID, models.DecisionInput{Approved: new(true), Digest: inRun.Digest})
	storetest.Must(t, err)
	if got := b.AskFor(t, without); got.ID == inRun.ID || got.Status() != models.StatusPending {
		t.Errorf("it has the run's approval: %s", got.Status())
	}
}
