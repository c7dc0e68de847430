package mcp_test

import (
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
	"countersign/models/upkeep"
)

// TestRemovedContentsAreNoAdvice: a prompt is denied and a tool is told that there is nothing
// to act on, once what was asked is gone.
func TestRemovedContentsAreNoAdvice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.begin(w.agent)
	const asked = `{"question":"where?","options":[{"name":"here"}]}`
	prompt, question := c.call(1, "approve", touch), c.call(2, "ask_human", asked)
	for _, row := range w.pending(2) {
		if row.Kind == models.KindQuestion {
			w.decide(row.ID, models.DecisionInput{Option: new("here")})
		} else {
			w.decide(row.ID, models.DecisionInput{Approved: new(true)})
		}
	}
	id, _ := question.answer().member("approval_id").(string)
	if got := prompt.answer().text(); !strings.Contains(got, `"allow"`) {
		t.Fatal(got)
	}
	p, err := upkeep.New(w.store).NewPurge(t.Context(), storetest.Operator(), models.PurgeQuery{Before: w.clock.Step(time.Hour)})
	storetest.Must(t, err)
	_, err = p.All(t.Context())
	storetest.Must(t, err)
	if got := c.call(3, "approve", touch).answer().text(); got != `{"behavior":"deny","message":"`+models.AdviceRemoved+`"}` {
		t.Error(got)
	}
	for _, name := range []string{`{"approval_id":"` + id + `"}`, `{"tool_use_id":"toolu_1"}`} {
		r := c.call(4, "check_approval", name).answer()
		if r.member("approved") != false || r.member("status") != "resolved" || r.member("advice") != models.AdviceRemoved || r.member("input") != nil || r.member("answer") != nil || r.member("option") != nil {
			t.Errorf("%s: %s", name, r.text())
		}
	}
}
