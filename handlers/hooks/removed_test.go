package hooks_test

import (
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
	"countersign/models/upkeep"
)

// TestRemovedContentsDenyACall: neither what a person approved nor what the policy let through
// runs again once what was asked is gone.
func TestRemovedContentsDenyACall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	approved, let := event("PreToolUse", call("Bash", `{"command":"rm"}`, "1")), event("PreToolUse", call("Read", `{"file_path":"a"}`, "2"))
	got := w.begin(t.Context(), w.agent, "", approved)
	w.decide(w.waiting(1)[0].ID, models.DecisionInput{Approved: new(true)})
	(<-got).want(t, 200, `"permissionDecision":"allow"`)
	w.send(w.agent, "", let).want(t, 200, `"permissionDecision":"allow"`)
	p, err := upkeep.New(w.store).NewPurge(t.Context(), storetest.Operator(), models.PurgeQuery{Before: w.clock.Step(time.Hour)})
	storetest.Must(t, err)
	_, err = p.All(t.Context())
	storetest.Must(t, err)
	for _, sent := range []string{approved, let} {
		w.send(w.agent, "", sent).want(t, 200, `"permissionDecision":"deny","permissionDecisionReason":"This call must not run: `+models.AdviceRemoved)
	}
}
