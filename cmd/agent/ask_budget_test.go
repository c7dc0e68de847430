package agent_test

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"

	"countersign/cmd/process"
	"countersign/handlers/api/wire"
	"countersign/models"
)

// spent gives the agent's conversation a budget of which nothing is left.
func spent(t *testing.T, w *process.World) {
	t.Helper()
	w.ApplyPolicy(t, `{"rules": [{"name": "free", "tools": ["free"], "effect": "allow"}], "proposal_timeout_minutes": 1}`)
	client := w.Client(w.Agent)
	first, err := client.Ask(t.Context(), wire.AskRequest{ToolName: "free"}, 0)
	if err == nil {
		_, err = client.ChangeBudget(t.Context(), first.ConversationID, wire.BudgetRequest{Budget: new(wire.WholeNumber(1))})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestAskWaitsForItsBudget(t *testing.T) {
	t.Parallel()
	const waits = "the energy budget is exhausted: waiting for a decision on more at "
	tests := []struct {
		name    string
		args    []string
		decide  *wire.RespondRequest // nil: it is withdrawn
		restart bool
		code    int
		says    string
	}{
		{name: "approved", decide: &wire.RespondRequest{Approved: new(true)}, code: 0, says: "approved: The policy decided; nobody was asked."},
		{name: "approved after a restart", restart: true, decide: &wire.RespondRequest{Approved: new(true)}, code: 0, says: "approved: The policy decided; nobody was asked."},
		{name: "rejected", decide: &wire.RespondRequest{Approved: new(false), Reason: "enough\u202e"}, code: 1, says: "rejected by admin@example.com: enough⟨U+202E⟩"},
		{name: "rejected, as JSON", args: []string{"--json"}, decide: &wire.RespondRequest{Approved: new(false)}, code: 1, says: "rejected by admin@example.com"},
		{name: "withdrawn", code: 2, says: "cancelled"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := process.NewWorld(t)
			spent(t, w)
			p := process.Start(t, w.Env(t), append([]string{"ask", "free"}, tt.args...)...)
			url := p.Says(t, p.Err, waits)
			request := wire.ResponseID(url[strings.LastIndex(url, "/")+1:])
			if tt.restart {
				w.Restart(t)
			}
			if tt.decide != nil {
				w.Respond(t, models.ResponseID(request), *tt.decide)
			} else if _, err := w.Client(w.Agent).Cancel(t.Context(), request); err != nil {
				t.Fatal(err)
			}
			if code := p.Exit(t); code != tt.code || !strings.Contains(p.Err.String(), tt.says) {
				t.Errorf("exit %d, want %d and %q; it said:\n%s", code, tt.code, tt.says, p.Err)
			}
			if len(tt.args) > 0 {
				var got wire.Approval
				if err := json.Unmarshal([]byte(p.Out.String()), &got); err != nil || got.ApprovalID != request || got.Status != wire.StatusRejected {
					t.Errorf("printed %s (%v), want the budget request", p.Out, err)
				}
			} else if p.Out.String() != "" {
				t.Errorf("standard output holds %q", p.Out)
			}
			list, err := w.Client(w.Agent).Get(t.Context(), request, 0)
			if err != nil || list.Kind != wire.KindBudget {
				t.Errorf("the budget request: %+v %v", list, err)
			}
		})
	}
	t.Run("interrupted", func(t *testing.T) {
		t.Parallel()
		w := process.NewWorld(t)
		spent(t, w)
		p := process.Start(t, w.Env(t), "ask", "free")
		url := p.Says(t, p.Err, waits)
		p.Signal(t, syscall.SIGINT)
		if code := p.Exit(t); code != 130 || !strings.Contains(p.Err.String(), "nothing was asked, and the budget request "+url[strings.LastIndex(url, "/")+1:]) {
			t.Errorf("exit %d; it said:\n%s", code, p.Err)
		}
	})
}
