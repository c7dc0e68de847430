package api_test

import (
	"net/http"
	"strings"
	"testing"

	"countersign/models"
)

// TestACallThatAGrantLetsThroughNamesIt on every surface, and is nobody's
// decision.
func TestACallThatAGrantLetsThroughNamesIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"rules":[{"name":"deploys","tools":["deploy"],"effect":"require"}]}`)
	first := w.call(w.agent, "POST", "/v1/approvals", `{"toolUseId":"c1","toolName":"deploy","input":{"to":"test","tag":1}}`)
	if _, ok := first.object["grantId"]; ok {
		t.Errorf("what waits names a grant: %s", first.body)
	}
	g, err := w.store.MakeGrant(t.Context(), w.owner, models.ResponseID(first.text("approvalId")), models.GrantInput{
		Fixed: []string{"to"}, Hours: 2, Uses: 2, Digest: first.text("digest"),
	})
	if err != nil {
		t.Fatal(err)
	}
	const why = "Pre-approved by owner@example.com until 2026-03-02 14:00 UTC, use 1 of 2."
	a := w.call(w.agent, "POST", "/v1/approvals?wait=10s", `{"toolUseId":"c2","toolName":"deploy","input":{"tag":2,"to":"test"}}`)
	a.want(t, http.StatusOK, map[string]any{
		"status": "approved", "cause": "grant", "grantId": string(g.ID), "requiresApproval": false, "timeoutAt": nil,
		"advice": models.Advice(models.StatusNone, models.CauseGrant, models.KindToolCall),
	})
	if a.at("decision.by") != nil || a.at("decision.approved") != true || !strings.HasPrefix(a.text("decision.reason"), why) || a.text("policy.rule") != "deploys" {
		t.Errorf("let through: %s", a.body)
	}
	again := w.call(w.agent, "GET", "/v1/approvals/"+a.text("approvalId"), "")
	again.want(t, http.StatusOK, map[string]any{"grantId": string(g.ID), "cause": "grant"})
	tool := w.call(w.agent, "POST", "/api/approval/request", `{"tool_use_id":"c3","session_id":"s","tool_name":"deploy","tool_input":{"tag":3,"to":"test"}}`)
	tool.want(t, http.StatusOK, map[string]any{"status": "APPROVED", "cause": "grant", "requires_approval": false})
	if !strings.Contains(tool.text("reason"), "use 2 of 2") {
		t.Errorf("let through: %s", tool.body)
	}
	w.call(w.agent, "POST", "/v1/approvals", `{"toolUseId":"c4","toolName":"deploy","input":{"tag":4,"to":"test"}}`).want(t, http.StatusAccepted, map[string]any{"status": "pending"})
}
