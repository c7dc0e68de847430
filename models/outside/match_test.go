package outside_test

import (
	"fmt"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/outside"
	"countersign/models/storetest"
)

// tenQueued are the calls of the worked case: 2, 3, 6 and 9 are bash and 7 writes
// a file; the rest only read.
func tenQueued(same bool) []models.RunEvent {
	tools := []string{"read", "bash", "bash", "read", "read", "bash", "write", "read", "bash", "read"}
	calls := make([]models.RunEvent, len(tools))
	for i, tool := range tools {
		input := fmt.Sprintf(`{"n":%d}`, i+1)
		if same {
			input = `{"n":0}`
		}
		calls[i] = storetest.Reported(fmt.Sprintf("u%d", i+1), tool, input)
	}
	return calls
}

func TestTenQueuedCallsGetEachItsOwnApproval(t *testing.T) {
	t.Parallel()
	for name, same := range map[string]bool{"by input": false, "by order": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			conv := w.Open(t, models.RunInput{RunID: "r", OnReject: models.OnRejectCascade}, tenQueued(same)...)
			args := func(n int) string {
				if same {
					n = 0
				}
				return fmt.Sprintf(`{ "n" : %d }`, n)
			}
			step := func(n int, tool string, verdict models.DecisionInput) models.ResponseID {
				item := storetest.Call(fmt.Sprintf("c%d", n), "r", tool, args(n))
				id := w.Taken(t, item)
				if got := w.ByID(t, id); got.Use != fmt.Sprintf("u%d", n) {
					t.Fatalf("the approval for call %d went to %s", n, got.Use)
				}
				w.Status(t, conv, models.ConversationWaitingInput)
				w.Take(t, item) // listed again while it waits
				w.Vote(t, id, verdict)
				w.Take(t, item)
				w.Deliver(t, id, models.DeliveryTaken)
				w.Status(t, conv, models.ConversationRunning)
				return id
			}
			w.Report(t, conv, storetest.Result("u1"))
			step(2, "bash", storetest.Yes())
			w.Report(t, conv, storetest.Result("u2"))
			step(3, "bash", storetest.Yes())
			w.Report(t, conv, storetest.Result("u3"), storetest.Result("u4"), storetest.Result("u5"))
			sixth := step(6, "bash", storetest.No("not on a Friday"))

			for n, want := range map[int]string{1: " ", 2: "approved reviewer", 3: "approved reviewer", 4: " ", 5: " ", 6: "rejected reviewer"} {
				w.WantRow(t, w.ByUse(t, fmt.Sprintf("u%d", n)).ID, want)
			}
			for n := 7; n <= 10; n++ {
				r := w.ByUse(t, fmt.Sprintf("u%d", n))
				if r.Status != "rejected" || r.Cause != "cascade" || r.From != sixth || r.Feedback != "not on a Friday" {
					t.Errorf("call %d: %+v", n, r)
				}
				storetest.SameStrings(t, r.Use, w.ActionsOn(t, r.ID), []string{"user approval.rejected"})
			}
			storetest.SameStrings(t, "call 6", w.ActionsOn(t, sixth), []string{"system approval.requested", "user approval.voted", "user approval.rejected"})
			w.Verify(t)
		})
	}
}

func TestApprovalsThatArriveInAnotherOrderGoToTheirInput(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Open(t, models.RunInput{RunID: "r"}, tenQueued(false)...)
	for _, n := range []int{9, 3, 6, 2} {
		id := w.Taken(t, storetest.Call(fmt.Sprint(n), "r", "bash", fmt.Sprintf(`{"n":%d}`, n)))
		if r := w.ByID(t, id); r.Use != fmt.Sprintf("u%d", n) || r.Contradiction != "" {
			t.Errorf("%d: %+v", n, r)
		}
	}
}

func TestOnlyTheOrderDecidesIsShownWithBothInputs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Open(t, models.RunInput{RunID: "r"}, tenQueued(false)...)
	id := w.Taken(t, storetest.Call("c", "r", "bash", `{"n":77}`))
	r := w.ByID(t, id)
	a, err := w.Requests.Approval(t.Context(), w.Owner, id)
	storetest.Must(t, err)
	if r.Use != "u2" || r.Matched != "order" || r.Contradiction == "" || a.Context != `{"n":77}` || a.ToolInputJSON != `{"n":2}` {
		t.Errorf("%+v, context %s", r, a.Context)
	}
	// Of what is kept cut, nobody can say what would be released.
	long := `{"x":"` + strings.Repeat("x", models.MaxInput) + `"}`
	cut := w.Taken(t, storetest.Call("long", "r", "bash", long))
	_, err = w.Decide(t.Context(), w.Owner, cut, storetest.Yes())
	storetest.Refused(t, err, models.CodeWrongDecisionKind)
	w.Vote(t, cut, storetest.No("too long"))
}

func TestAToolUseIDNamesItsCallAndNoOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Open(t, models.RunInput{RunID: "r"}, tenQueued(true)...)
	item := storetest.Call("c9", "r", "bash", `{"n":0}`)
	item.ToolUseID = "u9"
	if r := w.ByID(t, w.Taken(t, item)); r.Use != "u9" || r.Matched != "tool_use_id" {
		t.Errorf("%+v", r)
	}
	other := storetest.Call("cx", "r", "bash", `{"n":0}`)
	other.ToolUseID = "nobody's"
	w.Take(t, other)
	if r := w.Of(t, "cx"); r.ID != "" {
		t.Errorf("it was matched with another call: %+v", r)
	}
	w.Take(t, other)
	if r := w.Of(t, "cx"); r.Matched != "unmatched" || r.Use != "" {
		t.Errorf("%+v", r)
	}
}

func TestWhatIsAnsweredIsNeverMatchedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.UsePolicy(t, `{"rules":[{"name":"free","tools":["bash"],"effect":"allow"}]}`)
	conv := w.Open(t, models.RunInput{RunID: "r", OnReject: models.OnRejectCascade}, storetest.Reported("let", "bash", `{}`), storetest.Reported("done", "bash", `{}`), storetest.Reported("asked", "bash", `{}`),
		storetest.Reported("first", "bash", `{}`), storetest.Reported("second", "bash", `{}`))
	if _, err := w.Ask(t.Context(), w.Agent, models.AskInput{RunID: "r", ToolUseID: "let", ToolName: "bash"}); err != nil {
		t.Fatal(err)
	}
	w.Report(t, conv, storetest.Result("done"))
	if _, err := w.Ask(t.Context(), w.Agent, models.AskInput{RunID: "r", ToolUseID: "asked", ToolName: "bash", Explicit: true}); err != nil {
		t.Fatal(err)
	}
	before := w.ByUse(t, "let")
	for i, use := range []string{"first", "second"} {
		if r := w.ByID(t, w.Taken(t, storetest.Call(fmt.Sprint(i), "r", "bash", `{}`))); r.Use != use {
			t.Errorf("the approval went to %s, want %s", r.Use, use)
		}
	}
	stuck := storetest.Call("2", "r", "bash", `{}`)
	w.Take(t, stuck, stuck)
	if r := w.Of(t, "2"); r.Matched != "unmatched" {
		t.Errorf("%+v", r)
	}
	id := w.ByUse(t, "first").ID
	w.Vote(t, id, storetest.No("no"))
	w.Deliver(t, id, models.DeliveryTaken)
	if after := w.ByUse(t, "let"); after != before || after.Status != "" || after.Cause == "" {
		t.Errorf("what was let through became %+v", after)
	}
	if r := w.ByUse(t, "second"); r.Cause != "cascade" {
		t.Errorf("%+v", r)
	}
}

func TestASubAgentsCallIsFoundByTheParentRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Open(t, models.RunInput{RunID: "child 1", ParentRunID: "root"}, storetest.Reported("a", "read", `{}`))
	w.Clock.Step(1)
	w.Open(t, models.RunInput{RunID: "child 2", ParentRunID: "root"}, storetest.Reported("b", "bash", `{"n":1}`))
	w.Clock.Step(1)
	w.Open(t, models.RunInput{RunID: "child 3", ParentRunID: "root"}, storetest.Reported("c", "bash", `{"n":2}`))
	if r := w.ByID(t, w.Taken(t, storetest.Call("1", "root", "bash", `{"n":2}`))); r.Use != "c" || r.Matched != "input" {
		t.Errorf("the child with the same input comes first: %+v", r)
	}
	// A run that is known by itself is meant first, whatever it started.
	w.Open(t, models.RunInput{RunID: "root"}, storetest.Reported("d", "bash", `{"n":9}`))
	if r := w.ByID(t, w.Taken(t, storetest.Call("2", "root", "bash", `{"n":1}`))); r.Use != "d" {
		t.Errorf("%+v", r)
	}
	if r := w.ByID(t, w.Taken(t, storetest.Call("3", "root", "bash", `{"n":1}`))); r.Use != "b" || r.Matched != "input" {
		t.Errorf("%+v", r)
	}
}

func TestRunsOfOthersAreNeverMatched(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	conv, _, err := w.OpenRun(t.Context(), w.Other, models.RunInput{RunID: "r"})
	storetest.Must(t, err)
	storetest.Must(t, storetest.Err(w.ReportEvents(t.Context(), w.Other, conv.ID, []models.RunEvent{storetest.Reported("u", "bash", `{}`)})))
	item := storetest.Call("c", "r", "bash", `{}`)
	w.Take(t, item, item)
	if r := w.Of(t, "c"); r.Matched != "unmatched" || r.Conversation == conv.ID {
		t.Errorf("%+v", r)
	}
}

func TestACallThatIsReportedLateIsMatchedOnTheNextPoll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	item := storetest.Call("c", "r", "bash", `{"n":1}`)
	w.Take(t, item)
	if r := w.Of(t, "c"); r.ID != "" {
		t.Fatalf("%+v", r)
	}
	w.Open(t, models.RunInput{RunID: "r"}, storetest.Reported("u", "bash", `{"n":1}`))
	if r := w.ByID(t, w.Taken(t, item)); r.Use != "u" || r.Matched != "only" {
		t.Errorf("%+v", r)
	}
}

func TestWhatFindsNoCallIsAskedByItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	late := storetest.Call("late", "r", "bash", `{"n":1}`)
	w.Take(t, late)
	w.Take(t, late)
	alone := w.Taken(t, storetest.Call("alone", "", "bash", `{"n":1}`))
	for _, r := range []storetest.OutsideRow{w.Of(t, "late"), w.ByID(t, alone)} {
		if r.Matched != "unmatched" || r.Status != "pending" || r.Kind != "tool_call" {
			t.Errorf("%+v", r)
		}
		v, err := w.Requests.Conversation(t.Context(), w.Owner, r.Conversation)
		storetest.Must(t, err)
		if !v.Standing || v.AgentID != w.Up.AgentID || v.OnReject != models.OnRejectCascade || v.Status != models.ConversationWaitingInput {
			t.Errorf("%+v", v.Conversation)
		}
		w.Vote(t, r.ID, storetest.Yes())
		w.Deliver(t, r.ID, models.DeliveryTaken)
		w.WantRow(t, r.ID, "approved reviewer")
	}
	w.Status(t, w.Of(t, "late").Conversation, models.ConversationRunning)
	// The call that comes too late is another row, and twice is harmless.
	w.Open(t, models.RunInput{RunID: "r"}, storetest.Reported("u", "bash", `{"n":1}`))
	before := storetest.Dump(t, w.Store)
	w.Take(t, late)
	if after := storetest.Dump(t, w.Store); after != before {
		t.Error(storetest.Difference(before, after))
	}
	w.Verify(t)
}

func TestContactsBecomeQuestionsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	conv := w.Open(t, models.RunInput{RunID: "r"}, storetest.Reported("u", "bash", `{}`))
	item := storetest.Contact("q", "r", "Which colour?")
	item.Name, item.Options = "Paint", []models.Option{{Name: "red"}, {Name: "blue"}}
	id := w.Taken(t, item)
	w.Take(t, item)
	other := w.Taken(t, storetest.Contact("q2", "", "And now?"))
	if r := w.ByID(t, id); r.Kind != "question" || r.Conversation != conv {
		t.Errorf("%+v", r)
	}
	if r := w.ByID(t, other); r.Kind != "question" || r.Conversation == conv {
		t.Errorf("%+v", r)
	}
	a, err := w.Requests.Approval(t.Context(), w.Owner, id)
	storetest.Must(t, err)
	options, err := a.OptionList()
	if err != nil || a.Description != "Which colour?" || a.Context != "Paint" || len(options) != 2 {
		t.Errorf("%+v, %v", a.Response, err)
	}
	empty, answer, red := "", "Anything", "red"
	for code, in := range map[models.Code]models.DecisionInput{
		models.CodeWrongDecisionKind: storetest.No("go away"), models.CodeResponseRequired: {Answer: &empty}, models.CodeInvalid: {Option: &answer},
	} {
		_, err := w.Decide(t.Context(), w.Owner, id, in)
		storetest.Refused(t, err, code)
	}
	storetest.Refused(t, storetest.Err(w.Decide(t.Context(), w.Owner, id, storetest.Yes())), models.CodeWrongDecisionKind)
	w.Vote(t, id, models.DecisionInput{Option: &red})
	if d := w.Begin(t, id); d.Kind != models.OutsideContact || d.Answer != "red" || d.Option != "red" || d.CallID != "q" {
		t.Errorf("%+v", d)
	}
	w.End(t, id, models.DeliveryTaken)
	w.WantRow(t, id, "approved reviewer")
	w.Vote(t, other, models.DecisionInput{Answer: &answer})
	if d := w.Begin(t, other); d.Answer != answer || d.Option != "" {
		t.Errorf("%+v", d)
	}
}

func TestArgumentsWithoutACanonicalFormCanBeRejectedOnly(t *testing.T) {
	t.Parallel()
	for name, args := range map[string]string{
		"twice": `{"a":1,"a":2}`, "surrogate": `{"a":"\ud800"}`, "no UTF-8": "{\"a\":\"\xff\"}", "large": `{"a":"` + strings.Repeat("x", models.MaxInput) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			id := w.Taken(t, storetest.Call("c", "", "bash", args))
			storetest.Refused(t, storetest.Err(w.Decide(t.Context(), w.Owner, id, storetest.Yes())), models.CodeWrongDecisionKind)
			w.Vote(t, id, storetest.No("what is that?"))
			// In a run, the order decides.
			w.Open(t, models.RunInput{RunID: "r"}, tenQueued(false)...)
			if r := w.ByID(t, w.Taken(t, storetest.Call("d", "r", "bash", args))); r.Use != "u2" || r.Matched != "order" || r.Contradiction == "" {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestOneCallIDAtTwoUpstreamsIsTwoApprovals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	second := w.Upstream(t, "other")
	w.Open(t, models.RunInput{RunID: "r"}, tenQueued(true)...)
	first := w.Taken(t, storetest.Call("c", "r", "bash", `{"n":0}`))
	storetest.Must(t, outside.New(w.Store).Take(t.Context(), w.Poll, second.ID, storetest.Call("c", "r", "bash", `{"n":0}`)))
	r, ok := w.Row(t, `upstream_id = ? AND call_id = 'c'`, second.ID)
	if !ok || r.ID == first || r.Use != "u3" {
		t.Errorf("%+v", r)
	}
}

func TestOddNamesAreKept(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	long := strings.Repeat("n", 5000) + "\x1b[2J"
	if r := w.ByID(t, w.Taken(t, storetest.Call("c", "", long, `{}`))); r.Tool != long {
		t.Errorf("%.20q of %d", r.Tool, len(r.Tool))
	}
	w.Taken(t, storetest.Call("no name", "", "", `{}`))
}
