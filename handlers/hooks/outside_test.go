package hooks_test

import (
	"testing"
	"time"

	"countersign/models"
	"countersign/models/outside"
	"countersign/models/runs"
)

// Where another system asks for the agent's call with another input, that one is seen and
// approved. So it is what the agent may run, or nothing where it is no input of a tool.
func TestTheInputThatWasSeenIsReleasedI6(t *testing.T) {
	t.Parallel()
	for input, says := range map[string]string{
		`{"command":"ls -l"}`:                `"permissionDecision":"allow","permissionDecisionReason":"Approved by owner@example.com.","updatedInput":{"command":"ls -l"}`,
		`{"command":"ls","command":"ls -l"}`: `"permissionDecision":"deny","permissionDecisionReason":"This call was approved with an input that is not a JSON object`,
	} {
		w := newWorld(t)
		conv, _, err := runs.New(w.store).OpenRun(t.Context(), w.agentAs, models.RunInput{RunID: "s1"})
		if err != nil {
			t.Fatal(err)
		}
		call1 := models.RunEvent{ID: "e1", Type: models.RunEventToolCall, ToolUseID: "1", ToolName: "Bash", Input: []byte(`{"command":"rm"}`)}
		if got, err := runs.New(w.store).ReportEvents(t.Context(), w.agentAs, conv.ID, []models.RunEvent{call1}); err != nil || got[0].Error != "" {
			t.Fatalf("%+v, %v", got, err)
		}
		w.outside(models.OutsideItem{Kind: models.OutsideCallKind, CallID: "c1", RunID: "s1", Name: "Bash", Arguments: []byte(input), Timeout: new(time.Hour), Raw: []byte(`{}`)})
		got := w.begin(t.Context(), w.agent, "", event("PreToolUse", call("Bash", `{"command":"rm"}`, "1")))
		asked := w.waiting(1)[0].ID
		w.decide(asked, models.DecisionInput{Approved: new(true)})
		w.delivered(asked)
		(<-got).want(t, 200, says)
	}
}

func (w *world) lease(name string) *models.Lease {
	w.tb.Helper()
	l, err := w.store.Nodes.TakeLease(w.tb.Context(), name, "test", time.Hour)
	if err != nil || l == nil {
		w.tb.Fatalf("take lease %s: %v", name, err)
	}
	return l
}

// outside has another system ask.
func (w *world) outside(item models.OutsideItem) {
	w.tb.Helper()
	up, err := outside.New(w.store).AddUpstream(w.tb.Context(), w.admin, outside.NewUpstream{
		Name: "orders", BaseURL: "https://orders.example.com", Dialect: "plain", Key: "sk-1", OwnerID: w.owner.UserID(),
	})
	if err != nil {
		w.tb.Fatal(err)
	}
	poll := w.lease("poll")
	for range 2 { // of one that fits nothing, a second poll makes a request
		if err := outside.New(w.store).Take(w.tb.Context(), poll, up.ID, item); err != nil {
			w.tb.Fatal(err)
		}
	}
}

// delivered tells the other system the verdict.
func (w *world) delivered(id models.ResponseID) {
	w.tb.Helper()
	deliver := w.lease("deliver")
	if d, _, err := outside.New(w.store).BeginDelivery(w.tb.Context(), deliver, id); err != nil || d == nil {
		w.tb.Fatalf("begin delivery: %+v, %v", d, err)
	}
	if err := outside.New(w.store).EndDelivery(w.tb.Context(), deliver, id, models.DeliveryEnd{Result: models.DeliveryTaken}); err != nil {
		w.tb.Fatal(err)
	}
}
