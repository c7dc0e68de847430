package requests_test

import (
	"testing"

	"countersign/models"
	"countersign/models/storetest"
)

// What became of an agent's last calls is grouped by tool, rule and effect; only its owner and admins read it.
func TestCallsOfAnAgentAreGrouped(t *testing.T) {
	t.Parallel()
	b := storetest.NewBench(t)
	b.UsePolicy(t, `{"rules":[{"name":"Shell","tools":["shell.run"],"effect":"require"},{"name":"No payments","tools":["pay"],"effect":"deny"},{"name":"reading","tools":["read"],"effect":"allow"}]}`)
	ask := func(tool string, n int) {
		t.Helper()
		for range n {
			_, err := b.Ask(t.Context(), b.Agent, models.AskInput{ToolName: tool})
			storetest.Must(t, err)
		}
	}
	id := b.Agent.AgentID()
	if got, err := b.Requests.OfAgent(t.Context(), b.Owner, id); err != nil || got.Groups.Calls+len(got.Newest)+len(got.Pending) > 0 {
		t.Errorf("before the first request: %+v, %v", got, err)
	}
	ask("shell.run", 3)
	ask("pay", 1)
	ask("read", 4)
	ask("other", 2)
	b.AskFor(t, models.AskInput{ToolName: "other"})
	got, err := b.Requests.OfAgent(t.Context(), b.Owner, id)
	storetest.Must(t, err)
	want := []models.CallGroup{
		{Kind: models.KindToolCall, Tool: "read", Rule: "reading", Effect: models.CallRan, Count: 4},
		{Kind: models.KindToolCall, Tool: "other", Rule: "unmatched", Effect: models.CallRan, Count: 2},
		{Kind: models.KindToolCall, Tool: "other", Rule: "explicit ask", Effect: models.CallWaited, Count: 1},
		{Kind: models.KindToolCall, Tool: "shell.run", Rule: "Shell", Effect: models.CallWaited, Count: 3},
		{Kind: models.KindToolCall, Tool: "pay", Rule: "No payments", Effect: models.CallDenied, Count: 1},
	}
	if len(got.Groups.Groups) != len(want) || got.Groups.Calls != 11 || got.Groups.More {
		t.Fatalf("%+v", got.Groups)
	}
	for i, g := range got.Groups.Groups {
		if g != want[i] {
			t.Errorf("group %d is %+v, want %+v", i, g, want[i])
		}
	}
	if len(got.Newest) != 10 || got.Newest[0].ToolName != "other" || len(got.Pending) != 4 || got.Pending[0].ToolName != "shell.run" {
		t.Errorf("%d newest, %d pending", len(got.Newest), len(got.Pending))
	}
	ask("read", 200)
	if got, err := b.Requests.OfAgent(t.Context(), b.Admin, id); err != nil || got.Groups.Calls != 200 || !got.Groups.More {
		t.Errorf("%+v, %v", got.Groups, err)
	}
	storetest.Refused(t, storetest.Err(b.Requests.OfAgent(t.Context(), b.Stranger, id)), models.CodeNotFound)
	storetest.Refused(t, storetest.Err(b.Requests.OfAgent(t.Context(), b.Agent, id)), models.CodeNotFound)
}
