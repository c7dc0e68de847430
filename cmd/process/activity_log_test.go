package process_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"countersign/cmd/process"
	"countersign/handlers/api/wire"
	"countersign/models"
)

// logLine is a line of the log, written as JSON.
type logLine struct {
	Level, Msg, Approval, Tool, Agent, Outcome, Cause, By, Who string

	Waited *time.Duration
}

func lines(t *testing.T, v *process.Victim) (all []logLine) {
	t.Helper()
	for line := range strings.SplitSeq(strings.TrimSpace(v.Err.String()), "\n") {
		var l logLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%q is no line of JSON: %v", line, err)
		}
		all = append(all, l)
	}
	return all
}

// TestTheLogTellsWhatWasAskedAndHowItEnded: one line each at info, with names and
// never what was asked or said; at debug, which approval the policy judged and who
// waited for it.
func TestTheLogTellsWhatWasAskedAndHowItEnded(t *testing.T) {
	t.Parallel()
	v := process.NewVictim(t, "--log-level", "debug", "--log-format", "json")
	agent, person := v.Client(v.Agent), v.Client(v.Reviewer)
	ctx := t.Context()
	ask := func(tool string, timeout *int64) *wire.Approval {
		t.Helper()
		a, err := agent.Ask(ctx, wire.AskRequest{ToolUseID: tool, ToolName: tool, Input: []byte(`{"key":"secret-input"}`), Explanation: wire.Explanation{Description: "secret-words"}, TimeoutSeconds: timeout}, 0)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	approved, rejected, cancelled, expired := ask("approved", nil), ask("rejected", nil), ask("cancelled", nil), ask("expired", new(int64(1)))
	for id, yes := range map[models.ResponseID]bool{models.ResponseID(approved.ApprovalID): true, models.ResponseID(rejected.ApprovalID): false} {
		if _, err := person.Respond(ctx, wire.ResponseID(id), wire.RespondRequest{Approved: &yes, Reason: "secret-reason"}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := agent.Cancel(ctx, cancelled.ApprovalID); err != nil {
		t.Fatal(err)
	}
	if a, err := agent.Get(ctx, expired.ApprovalID, 20*time.Second); err != nil || a.Status != wire.StatusExpired {
		t.Fatalf("%+v, %v", a, err)
	}
	// A budget that is raised otherwise resolves the request for more.
	run, err := agent.OpenConversation(ctx, wire.OpenRequest{RunID: "r", EnergyBudget: new(wire.WholeNumber(5))})
	if err != nil {
		t.Fatal(err)
	}
	wish, err := agent.ChangeBudget(ctx, run.ID, wire.BudgetRequest{Budget: new(wire.WholeNumber(500))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := person.ChangeBudget(ctx, run.ID, wire.BudgetRequest{Budget: new(wire.WholeNumber(600))}); err != nil {
		t.Fatal(err)
	}

	v.Says(t, v.Err, `"approval expired"`) // a waiter hears before it is written
	v.Says(t, v.Err, `"approval resolved"`)
	v.Says(t, v.Err, `"wait ended"`)
	user := v.Person.Name
	for id, want := range map[models.ResponseID]logLine{
		models.ResponseID(approved.ApprovalID):  {Msg: "approval decided", Tool: "approved", Outcome: "approved", Cause: "reviewer", By: "user", Who: user},
		models.ResponseID(rejected.ApprovalID):  {Msg: "approval decided", Tool: "rejected", Outcome: "rejected", Cause: "reviewer", By: "user", Who: user},
		models.ResponseID(cancelled.ApprovalID): {Msg: "approval cancelled", Tool: "cancelled", Outcome: "cancelled", Cause: "cancelled", By: "agent", Who: "bot"},
		models.ResponseID(expired.ApprovalID):   {Msg: "approval expired", Tool: "expired", Outcome: "expired", Cause: "timeout", By: "system", Who: "expirer"},
		models.ResponseID(wish.Approval.ResponseID): {
			Msg: "approval resolved", Tool: models.ToolSetBudget, Outcome: "resolved", Cause: "elsewhere", By: "user", Who: user,
		},
	} {
		want.Approval, want.Agent, want.Level = string(id), "bot", "INFO"
		asked := logLine{Level: "INFO", Msg: "approval asked", Approval: string(id), Tool: want.Tool, Agent: "bot", Outcome: "pending", By: "agent", Who: "bot"}
		var told, policy []logLine
		for _, l := range lines(t, v) {
			switch {
			case l.Approval != string(id):
			case l.Level == "INFO":
				told = append(told, l)
			case l.Msg == "policy judged":
				policy = append(policy, l)
			}
		}
		if len(policy) == 0 || policy[0].Tool != want.Tool {
			t.Errorf("the policy's lines about %s: %+v", want.Tool, policy)
		}
		if len(told) != 2 {
			t.Errorf("%s has %d lines: %+v", want.Tool, len(told), told)
			continue
		}
		if told[1].Waited == nil || *told[1].Waited < 0 {
			t.Errorf("the log does not tell how long %s waited", want.Tool)
		}
		if told[1].Waited = nil; told[0] != asked || told[1] != want {
			t.Errorf("the log tells\n%+v, want\n%+v", told, []logLine{asked, want})
		}
	}
	for _, text := range []string{"wait begun", "wait ended"} {
		found := false
		for _, l := range lines(t, v) {
			found = found || l.Msg == text && l.Level == "DEBUG" && l.Approval == string(expired.ApprovalID) && l.Who == "bot"
		}
		if !found {
			t.Errorf("no line says %q", text)
		}
	}
	if strings.Contains(v.Err.String(), "secret-") {
		t.Error("the log holds what was asked or said")
	}
}
