package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

// reports sends reports of calls that ran without an answer, one for each tool.
func (b *bench) reportsFallback(t *testing.T, tool string, at time.Time) *models.Approval {
	t.Helper()
	return b.AskFor(t, models.AskInput{ToolName: tool, ToolUseID: tool + at.String(), FallbackAt: at.Format(time.RFC3339Nano)})
}

const fallbackRules = `{"fallback_auto_approve":true,"unmatched":"allow","rules":[
 {"name":"never","tools":["format"],"effect":"deny","reason":"Nobody formats disks."},
 {"name":"when","tools":["Bash"],"when":"input.command == \"rm\"","effect":"deny","reason":"Nobody removes."},
 {"name":"free","tools":["read"],"effect":"allow"},
 {"name":"careful","tools":["deploy"],"effect":"require","risk":"critical"},
 {"name":"loud","tools":["mail"],"effect":"require","risk":"high"}]}`

// TestAReportOfAFallbackIsJudgedI11: that a call ran without an answer excuses it from no rule
// and no stop. It is recorded, with what speaks against it, and nothing is approved.
func TestAReportOfAFallbackIsJudgedI11(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, fallbackRules)
	b.Clock.Step(time.Minute)
	var stop *models.Stop
	for _, stopped := range []bool{false, true} {
		if stopped {
			var err error
			if stop, _, err = b.Stop(t.Context(), b.Owner, b.Agent.AgentID(), "it misbehaves"); err != nil {
				t.Fatal(err)
			}
		}
		for _, tt := range []struct {
			tool, input, says string
			denied            bool
		}{
			{tool: "read", says: "went on without an answer"},
			{tool: "other", says: "went on without an answer"},
			{tool: "deploy", says: "although its risk is critical"},
			{tool: "mail", says: "although its risk is high"},
			{tool: "format", says: "ran although denied: Nobody formats disks.", denied: true},
			{tool: "Bash", input: `{"command":"rm"}`, says: "ran although denied: Nobody removes.", denied: true},
			{tool: "Bash", input: `{"command":"ls"}`, says: "went on without an answer"},
		} {
			at := b.Clock.Step(time.Second)
			before := b.VerifiedHead(t)
			got := b.AskFor(t, models.AskInput{ToolName: tt.tool, Input: []byte(tt.input), ToolUseID: at.String(), FallbackAt: at.Format(time.RFC3339Nano)})
			said := got.PolicyReason
			if tt.denied {
				said = got.Feedback()
			}
			if stopped && !strings.Contains(said, "ran while stopped: "+stop.Text()) || (!stopped || tt.denied) && !strings.Contains(said, tt.says) {
				t.Errorf("stopped %v, %s: %q, want %q", stopped, tt.tool, said, tt.says)
			}
			if rejected := got.Status() == models.StatusRejected; rejected != tt.denied || got.Cause != models.CauseFallback || got.MayRun() {
				t.Errorf("stopped %v, %s: %s by %q, may run: %v", stopped, tt.tool, got.Status(), got.Cause, got.MayRun())
			}
			want := "approval.ran"
			if tt.denied {
				want = "approval.rejected"
			}
			if actions := b.Actions(t, before); !slices.Contains(actions, want) {
				t.Errorf("stopped %v, %s: the entries are %q", stopped, tt.tool, actions)
			}
		}
	}
}

// TestAReportOfAFallbackKnowsTheStopOfItsTime: a stop that was lifted before the report is told
// all the same, and one that came after the call does not say that it ran meanwhile.
func TestAReportOfAFallbackKnowsTheStopOfItsTime(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, fallbackRules)
	ran := b.Clock.Step(time.Minute)
	b.Clock.Step(time.Minute)
	stop, _, err := b.Stop(t.Context(), b.Admin, "", "everything")
	if err != nil {
		t.Fatal(err)
	}
	meanwhile := b.Clock.Step(time.Minute)
	if got := b.reportsFallback(t, "mail", ran); !strings.HasPrefix(got.PolicyReason, "went on without an answer at ") || !strings.Contains(got.PolicyReason, "reported it while stopped") {
		t.Errorf("before the stop: %q", got.PolicyReason)
	}
	b.Clock.Step(time.Minute)
	if err := b.Lift(t.Context(), b.Admin, stop.ID, "over"); err != nil {
		t.Fatal(err)
	}
	after := b.Clock.Step(time.Minute)
	if got := b.reportsFallback(t, "mail", meanwhile); !strings.HasPrefix(got.PolicyReason, "ran while stopped: ") {
		t.Errorf("during the stop: %q", got.PolicyReason)
	}
	if got := b.reportsFallback(t, "mail", after); strings.Contains(got.PolicyReason, "stopped") {
		t.Errorf("after the stop: %q", got.PolicyReason)
	}
}

// TestAReportOfAFallbackIsNotedOnWhatIsKnownAlready: where the answer to the ask was lost, the
// request is there already. The report decides nothing of it, and is shown beside it, once.
func TestAReportOfAFallbackIsNotedOnWhatIsKnownAlready(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.UsePolicy(t, fallbackRules)
	b.Clock.Step(time.Minute)
	for tool, want := range map[string]models.Status{"mail": models.StatusPending, "format": models.StatusRejected, "read": models.StatusNone} {
		first := b.AskFor(t, models.AskInput{ToolName: tool, ToolUseID: tool})
		at := b.Clock.Step(time.Second)
		for range 2 {
			got := b.AskFor(t, models.AskInput{ToolName: tool, ToolUseID: tool, FallbackAt: at.Format(time.RFC3339Nano)})
			if got.ID != first.ID || got.Status() != want || got.Cause != first.Cause {
				t.Errorf("%s: %s by %q", tool, got.Status(), got.Cause)
			}
		}
		noted := storetest.Scalar[string](t, b.Store, `SELECT contradiction FROM responses WHERE id = ?`, first.ID)
		if strings.Count(noted, "went on without an answer at") != map[bool]int{true: 0, false: 1}[want == models.StatusNone] {
			t.Errorf("%s: %q", tool, noted)
		}
	}
}

// TestAFallbackBehindTheResultIsAnotherRun: what ran without an answer under the key of a call
// that had run before is not hidden behind that call's approval.
func TestAFallbackBehindTheResultIsAnotherRun(t *testing.T) {
	t.Parallel()
	r := newBench(t).open(t, models.RunInput{RunID: "run"})
	r.UsePolicy(t, `{"fallback_auto_approve":true,"rules":[{"name":"rm","tools":["rm"],"effect":"require","risk":"low"}]}`)
	byKey := models.AskInput{RunID: "run", ToolUseID: "c1", ToolName: "rm", Input: []byte(`{"f":1}`)}
	first := r.AskFor(t, byKey)
	storetest.Must(t, storetest.Err(r.Decide(t.Context(), r.Owner, first.ID, storetest.Yes())))
	lost := byKey // the answer was lost, and the result is that of this run
	lost.FallbackAt = r.Clock.Step(time.Second).Format(time.RFC3339Nano)
	r.Clock.Step(time.Second)
	r.Reports(t, storetest.One(storetest.Queued("c1", "rm", `{"f":1}`, "b1")))
	r.Reports(t, storetest.One(storetest.Gave("c1", "first")))
	if got := r.AskFor(t, lost); got.ID != first.ID {
		t.Error("the report of the run whose result is known is another request")
	}
	again := byKey
	again.FallbackAt = r.Clock.Step(time.Minute).Format(time.RFC3339Nano)
	second := r.AskFor(t, again)
	if second.ID == first.ID || second.Status() != models.StatusRan {
		t.Errorf("a run after the result: the same row %t, %s", second.ID == first.ID, second.Status())
	}
	if got := r.AskFor(t, again); got.ID != second.ID {
		t.Error("its report, sent again, is a third request")
	}

	byID := again
	byID.ApprovalID = string(first.ID)
	if got := r.AskFor(t, byID); got.ID != first.ID {
		t.Errorf("the report by its id is the request %s", got.ID)
	}
	if noted := storetest.Scalar[string](t, r.Store, `SELECT contradiction FROM responses WHERE id = ?`, first.ID); !strings.Contains(noted, "after the call had run before") {
		t.Errorf("by its id it is noted as %q", noted)
	}
}
