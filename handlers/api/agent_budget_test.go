package api_test

import (
	"strings"
	"testing"
	"time"
)

// TestAnAgentsBudgetOverHTTP: 402 on every surface that asks, with the one request
// for more, which only a person decides.
func TestAnAgentsBudgetOverHTTP(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"budget_per_agent":{"energy":10,"hours":2}}`)
	w.respond(`{"kind":"reply","content":"hello","energy":6}`).want(t, 200, nil)
	first := w.call(w.agent, "POST", "/v1/approvals", `{"toolName":"Bash","toolUseId":"t1","energy":4}`)
	first.want(t, 202, nil)
	refused := w.respond(`{"kind":"proposal","content":"more"}`)
	refused.want(t, 402, map[string]any{"code": "budget_exhausted", "approval.status": "pending", "approval.kind": "budget"})
	if detail := refused.text("detail"); !strings.Contains(detail, "10 units of energy in 2 hours, over all its conversations: this costs 1, and 0 are left") {
		t.Errorf("it says %q", detail)
	}
	id := refused.text("approvalId")
	elsewhere := "/conversations/" + uuid + "d/responses"
	w.unchanged("what is refused", func() {
		w.call(w.agent, "POST", elsewhere, `{"kind":"reply","content":"x"}`).want(t, 402, map[string]any{"approvalId": id})
		w.call(w.agent, "POST", "/v1/approvals", `{"toolName":"Bash","toolUseId":"t2"}`).want(t, 402, map[string]any{"approvalId": id})
		w.call(w.agent, "POST", "/v1/approvals", `{"toolName":"Bash","toolUseId":"t1","energy":4}`).want(t, 202, map[string]any{"approvalId": first.text("approvalId")})
	})
	w.call(w.second, "POST", "/conversations/"+uuid+"c/responses", `{"kind":"reply","content":"x"}`).want(t, 200, nil)
	until := w.clock.Now().Truncate(time.Minute).Add(2*time.Hour + time.Minute).Format(time.RFC3339)
	shown := w.call(w.agent, "GET", "/v1/approvals/"+id, "")
	shown.want(t, 200, map[string]any{
		"toolName": "allow_agent_energy", "kind": "budget", "input.energy": jsonNumber("5"), "input.until": until, "timeoutAt": until,
	})
	for _, token := range []string{w.agent, w.second, w.foreign} { // I4
		w.unchanged("an agent's verdict", func() {
			w.call(token, "POST", "/v1/approvals/"+id+"/respond", `{"approved":true}`).want(t, 403, map[string]any{"code": "forbidden"})
		})
	}
	for _, edit := range []string{`{"budget":5}`, `{"energy":5}`, `{"energy":-1,"until":"` + until + `"}`, `{"energy":5,"until":"2099-01-01T00:00:00Z"}`} {
		w.unchanged("the edit "+edit, func() {
			w.call(w.reviewer, "POST", "/v1/approvals/"+id+"/respond", `{"approved":true,"input":`+edit+`}`).want(t, 422, nil)
		})
	}
	w.call(w.reviewer, "POST", "/conversations/"+run+"/approve", `{"responseId":"`+id+`","newBudget":900}`).want(t, 422, map[string]any{"code": "invalid"})
	w.call(w.reviewer, "POST", "/conversations/"+run+"/approve", `{"responseId":"`+id+`"}`).
		want(t, 200, map[string]any{"status": "approved", "budgetUpdated": false, "newBudget": nil})
	got := w.call(w.agent, "GET", "/v1/approvals/"+id, "")
	got.want(t, 200, map[string]any{"status": "approved"})
	if advice := got.text("advice"); !strings.Contains(advice, "allows the agent to spend more") {
		t.Errorf("the advice: %q", advice)
	}
	w.call(w.agent, "POST", elsewhere, `{"kind":"reply","content":"x","energy":5}`).want(t, 200, nil)
	again := w.respond(`{"kind":"proposal","content":"more"}`)
	again.want(t, 402, map[string]any{"approval.status": "pending"})
	w.call(w.reviewer, "POST", "/v1/approvals/"+again.text("approvalId")+"/respond", `{"approved":false,"reason":"enough"}`).want(t, 200, nil)
	w.respond(`{"kind":"proposal","content":"more"}`).want(t, 402, map[string]any{"approvalId": again.text("approvalId"), "approval.status": "rejected"})
	w.clock.Step(2*time.Hour + time.Minute)
	w.respond(`{"kind":"proposal","content":"more"}`).want(t, 202, nil)
}
