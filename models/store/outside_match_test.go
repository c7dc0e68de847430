package store_test

import (
	"fmt"
	"strings"
	"testing"

	"countersign/models"
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
		calls[i] = reported(fmt.Sprintf("u%d", i+1), tool, input)
	}
	return calls
}

func TestTenQueuedCallsGetEachItsOwnApproval(t *testing.T) {
	t.Parallel()
	for name, same := range map[string]bool{"by input": false, "by order": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newOutsideWorld(t)
			conv := w.open(t, models.RunInput{RunID: "r", OnReject: models.OnRejectCascade}, tenQueued(same)...)
			args := func(n int) string {
				if same {
					n = 0
				}
				return fmt.Sprintf(`{ "n" : %d }`, n)
			}
			step := func(n int, tool string, verdict models.DecisionInput) models.ResponseID {
				item := call(fmt.Sprintf("c%d", n), "r", tool, args(n))
				id := w.taken(t, item)
				if got := w.byID(t, id); got.use != fmt.Sprintf("u%d", n) {
					t.Fatalf("the approval for call %d went to %s", n, got.use)
				}
				w.status(t, conv, models.ConversationWaitingInput)
				w.take(t, item) // listed again while it waits
				w.vote(t, id, verdict)
				w.take(t, item)
				w.deliver(t, id, models.DeliveryTaken)
				w.status(t, conv, models.ConversationRunning)
				return id
			}
			w.report(t, conv, result("u1"))
			step(2, "bash", yes())
			w.report(t, conv, result("u2"))
			step(3, "bash", yes())
			w.report(t, conv, result("u3"), result("u4"), result("u5"))
			sixth := step(6, "bash", no("not on a Friday"))

			for n, want := range map[int]string{1: " ", 2: "approved reviewer", 3: "approved reviewer", 4: " ", 5: " ", 6: "rejected reviewer"} {
				w.wantRow(t, w.byUse(t, fmt.Sprintf("u%d", n)).id, want)
			}
			for n := 7; n <= 10; n++ {
				r := w.byUse(t, fmt.Sprintf("u%d", n))
				if r.status != "rejected" || r.cause != "cascade" || r.from != sixth || r.feedback != "not on a Friday" {
					t.Errorf("call %d: %+v", n, r)
				}
				storetest.SameStrings(t, r.use, w.actionsOn(t, r.id), []string{"user approval.rejected"})
			}
			storetest.SameStrings(t, "call 6", w.actionsOn(t, sixth), []string{"system approval.requested", "user approval.voted", "user approval.rejected"})
			w.verify(t)
		})
	}
}

func TestApprovalsThatArriveInAnotherOrderGoToTheirInput(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	w.open(t, models.RunInput{RunID: "r"}, tenQueued(false)...)
	for _, n := range []int{9, 3, 6, 2} {
		id := w.taken(t, call(fmt.Sprint(n), "r", "bash", fmt.Sprintf(`{"n":%d}`, n)))
		if r := w.byID(t, id); r.use != fmt.Sprintf("u%d", n) || r.contradiction != "" {
			t.Errorf("%d: %+v", n, r)
		}
	}
}

func TestOnlyTheOrderDecidesIsShownWithBothInputs(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	w.open(t, models.RunInput{RunID: "r"}, tenQueued(false)...)
	id := w.taken(t, call("c", "r", "bash", `{"n":77}`))
	r := w.byID(t, id)
	a, err := w.Approval(t.Context(), w.owner, id)
	storetest.Must(t, err)
	if r.use != "u2" || r.matched != "order" || r.contradiction == "" || a.Context != `{"n":77}` || a.ToolInputJSON != `{"n":2}` {
		t.Errorf("%+v, context %s", r, a.Context)
	}
	// Of what is kept cut, nobody can say what would be released.
	long := `{"x":"` + strings.Repeat("x", models.MaxInput) + `"}`
	cut := w.taken(t, call("long", "r", "bash", long))
	_, err = w.Decide(t.Context(), w.owner, cut, yes())
	wantCode(t, err, models.CodeWrongDecisionKind)
	w.vote(t, cut, no("too long"))
}

func TestAToolUseIDNamesItsCallAndNoOther(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	w.open(t, models.RunInput{RunID: "r"}, tenQueued(true)...)
	item := call("c9", "r", "bash", `{"n":0}`)
	item.ToolUseID = "u9"
	if r := w.byID(t, w.taken(t, item)); r.use != "u9" || r.matched != "tool_use_id" {
		t.Errorf("%+v", r)
	}
	other := call("cx", "r", "bash", `{"n":0}`)
	other.ToolUseID = "nobody's"
	w.take(t, other)
	if r := w.of(t, "cx"); r.id != "" {
		t.Errorf("it was matched with another call: %+v", r)
	}
	w.take(t, other)
	if r := w.of(t, "cx"); r.matched != "unmatched" || r.use != "" {
		t.Errorf("%+v", r)
	}
}

func TestWhatIsAnsweredIsNeverMatchedAgain(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	w.policy(t, `{"rules":[{"name":"free","tools":["bash"],"effect":"allow"}]}`)
	conv := w.open(t, models.RunInput{RunID: "r", OnReject: models.OnRejectCascade}, reported("let", "bash", `{}`), reported("done", "bash", `{}`), reported("asked", "bash", `{}`),
		reported("first", "bash", `{}`), reported("second", "bash", `{}`))
	if _, err := w.Ask(t.Context(), w.agent, models.AskInput{RunID: "r", ToolUseID: "let", ToolName: "bash"}); err != nil {
		t.Fatal(err)
	}
	w.report(t, conv, result("done"))
	if _, err := w.Ask(t.Context(), w.agent, models.AskInput{RunID: "r", ToolUseID: "asked", ToolName: "bash", Explicit: true}); err != nil {
		t.Fatal(err)
	}
	before := w.byUse(t, "let")
	for i, use := range []string{"first", "second"} {
		if r := w.byID(t, w.taken(t, call(fmt.Sprint(i), "r", "bash", `{}`))); r.use != use {
			t.Errorf("the approval went to %s, want %s", r.use, use)
		}
	}
	stuck := call("2", "r", "bash", `{}`)
	w.take(t, stuck, stuck)
	if r := w.of(t, "2"); r.matched != "unmatched" {
		t.Errorf("%+v", r)
	}
	id := w.byUse(t, "first").id
	w.vote(t, id, no("no"))
	w.deliver(t, id, models.DeliveryTaken)
	if after := w.byUse(t, "let"); after != before || after.status != "" || after.cause == "" {
		t.Errorf("what was let through became %+v", after)
	}
	if r := w.byUse(t, "second"); r.cause != "cascade" {
		t.Errorf("%+v", r)
	}
}

func TestASubAgentsCallIsFoundByTheParentRun(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	w.open(t, models.RunInput{RunID: "child 1", ParentRunID: "root"}, reported("a", "read", `{}`))
	w.clock.Step(1)
	w.open(t, models.RunInput{RunID: "child 2", ParentRunID: "root"}, reported("b", "bash", `{"n":1}`))
	w.clock.Step(1)
	w.open(t, models.RunInput{RunID: "child 3", ParentRunID: "root"}, reported("c", "bash", `{"n":2}`))
	if r := w.byID(t, w.taken(t, call("1", "root", "bash", `{"n":2}`))); r.use != "c" || r.matched != "input" {
		t.Errorf("the child with the same input comes first: %+v", r)
	}
	// A run that is known by itself is meant first, whatever it started.
	w.open(t, models.RunInput{RunID: "root"}, reported("d", "bash", `{"n":9}`))
	if r := w.byID(t, w.taken(t, call("2", "root", "bash", `{"n":1}`))); r.use != "d" {
		t.Errorf("%+v", r)
	}
	if r := w.byID(t, w.taken(t, call("3", "root", "bash", `{"n":1}`))); r.use != "b" || r.matched != "input" {
		t.Errorf("%+v", r)
	}
}

func TestRunsOfOthersAreNeverMatched(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	conv, _, err := w.OpenRun(t.Context(), w.other, models.RunInput{RunID: "r"})
	storetest.Must(t, err)
	storetest.Must(t, storetest.Err(w.ReportEvents(t.Context(), w.other, conv.ID, []models.RunEvent{reported("u", "bash", `{}`)})))
	item := call("c", "r", "bash", `{}`)
	w.take(t, item, item)
	if r := w.of(t, "c"); r.matched != "unmatched" || r.conv == conv.ID {
		t.Errorf("%+v", r)
	}
}

func TestACallThatIsReportedLateIsMatchedOnTheNextPoll(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	item := call("c", "r", "bash", `{"n":1}`)
	w.take(t, item)
	if r := w.of(t, "c"); r.id != "" {
		t.Fatalf("%+v", r)
	}
	w.open(t, models.RunInput{RunID: "r"}, reported("u", "bash", `{"n":1}`))
	if r := w.byID(t, w.taken(t, item)); r.use != "u" || r.matched != "only" {
		t.Errorf("%+v", r)
	}
}

func TestWhatFindsNoCallIsAskedByItself(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	late := call("late", "r", "bash", `{"n":1}`)
	w.take(t, late)
	w.take(t, late)
	alone := w.taken(t, call("alone", "", "bash", `{"n":1}`))
	for _, r := range []outsideRow{w.of(t, "late"), w.byID(t, alone)} {
		if r.matched != "unmatched" || r.status != "pending" || r.kind != "tool_call" {
			t.Errorf("%+v", r)
		}
		v, err := w.Conversation(t.Context(), w.owner, r.conv)
		storetest.Must(t, err)
		if !v.Standing || v.AgentID != w.up.AgentID || v.OnReject != models.OnRejectCascade || v.Status != models.ConversationWaitingInput {
			t.Errorf("%+v", v.Conversation)
		}
		w.vote(t, r.id, yes())
		w.deliver(t, r.id, models.DeliveryTaken)
		w.wantRow(t, r.id, "approved reviewer")
	}
	w.status(t, w.of(t, "late").conv, models.ConversationRunning)
	// The call that comes too late is another row, and twice is harmless.
	w.open(t, models.RunInput{RunID: "r"}, reported("u", "bash", `{"n":1}`))
	before := storetest.Dump(t, w.Store)
	w.take(t, late)
	if after := storetest.Dump(t, w.Store); after != before {
		t.Error(difference(before, after))
	}
	w.verify(t)
}

func TestContactsBecomeQuestionsAtOnce(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	conv := w.open(t, models.RunInput{RunID: "r"}, reported("u", "bash", `{}`))
	item := contact("q", "r", "Which colour?")
	item.Name, item.Options = "Paint", []models.Option{{Name: "red"}, {Name: "blue"}}
	id := w.taken(t, item)
	w.take(t, item)
	other := w.taken(t, contact("q2", "", "And now?"))
	if r := w.byID(t, id); r.kind != "question" || r.conv != conv {
		t.Errorf("%+v", r)
	}
	if r := w.byID(t, other); r.kind != "question" || r.conv == conv {
		t.Errorf("%+v", r)
	}
	a, err := w.Approval(t.Context(), w.owner, id)
	storetest.Must(t, err)
	options, err := a.OptionList()
	if err != nil || a.Description != "Which colour?" || a.Context != "Paint" || len(options) != 2 {
		t.Errorf("%+v, %v", a.Response, err)
	}
	empty, answer, red := "", "Anything", "red"
	for code, in := range map[models.Code]models.DecisionInput{
		models.CodeWrongDecisionKind: no("go away"), models.CodeResponseRequired: {Answer: &empty}, models.CodeInvalid: {Option: &answer},
	} {
		_, err := w.Decide(t.Context(), w.owner, id, in)
		wantCode(t, err, code)
	}
	wantCode(t, storetest.Err(w.Decide(t.Context(), w.owner, id, yes())), models.CodeWrongDecisionKind)
	w.vote(t, id, models.DecisionInput{Option: &red})
	if d := w.begin(t, id); d.Kind != models.OutsideContact || d.Answer != "red" || d.Option != "red" || d.CallID != "q" {
		t.Errorf("%+v", d)
	}
	w.end(t, id, models.DeliveryTaken)
	w.wantRow(t, id, "approved reviewer")
	w.vote(t, other, models.DecisionInput{Answer: &answer})
	if d := w.begin(t, other); d.Answer != answer || d.Option != "" {
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
			w := newOutsideWorld(t)
			id := w.taken(t, call("c", "", "bash", args))
			wantCode(t, storetest.Err(w.Decide(t.Context(), w.owner, id, yes())), models.CodeWrongDecisionKind)
			w.vote(t, id, no("what is that?"))
			// In a run, the order decides.
			w.open(t, models.RunInput{RunID: "r"}, tenQueued(false)...)
			if r := w.byID(t, w.taken(t, call("d", "r", "bash", args))); r.use != "u2" || r.matched != "order" || r.contradiction == "" {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestOneCallIDAtTwoUpstreamsIsTwoApprovals(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	second := w.upstream(t, "other")
	w.open(t, models.RunInput{RunID: "r"}, tenQueued(true)...)
	first := w.taken(t, call("c", "r", "bash", `{"n":0}`))
	storetest.Must(t, w.TakeOutside(t.Context(), w.poll, second.ID, call("c", "r", "bash", `{"n":0}`)))
	r, ok := w.row(t, `upstream_id = ? AND call_id = 'c'`, second.ID)
	if !ok || r.id == first || r.use != "u3" {
		t.Errorf("%+v", r)
	}
}

func TestOddNamesAreKept(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	long := strings.Repeat("n", 5000) + "\x1b[2J"
	if r := w.byID(t, w.taken(t, call("c", "", long, `{}`))); r.tool != long {
		t.Errorf("%.20q of %d", r.tool, len(r.tool))
	}
	w.taken(t, call("no name", "", "", `{}`))
}
