package api_test

import (
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/storetest"
	"countersign/models/upkeep"
)

// A client that knows the specification's words only reads that something was approved, and runs
// what it holds. So no way in approves another input for it, and a rejection tells it which one
// would be approved.
func TestNoEditIsLostOnAClientThatTakesNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"required_approval_tools":["deploy"]}`)
	const asked, other = `{"path":"/prod"}`, `{"path":"/staging"}`
	queue := w.call(w.agent, "POST", "/v1/approvals", `{"toolUseId":"q","runId":"s","toolName":"deploy","input":`+asked+`}`)
	queue.want(t, 202, map[string]any{"acceptsEdits": nil})
	tool := w.call(w.agent, "POST", "/api/approval/request", `{"tool_use_id":"t","session_id":"s","tool_name":"deploy","tool_input":`+asked+`}`)
	for _, id := range []string{queue.text("approvalId"), tool.text("tool_call_id")} {
		respond := "/v1/approvals/" + id + "/respond"
		w.call(w.reviewer, "POST", respond, `{"approved":true,"input":`+other+`}`).want(t, 422, map[string]any{"code": "takes_no_edits"})
		for _, wrong := range []string{`{"approved":true,"suggestedInput":` + other + `}`, `{"approved":false,"suggestedInput":` + asked + `}`, `{"approved":false,"suggestedInput":{"a":1,"a":2}}`} {
			w.call(w.reviewer, "POST", respond, wrong).want(t, 422, map[string]any{"code": "invalid"})
		}
		w.call(w.agent, "GET", "/v1/approvals/"+id, "").want(t, 200, map[string]any{"status": "pending"})
	}

	w.call(w.reviewer, "POST", "/v1/approvals/"+queue.text("approvalId")+"/respond", `{"approved":false,"reason":"not there","suggestedInput":`+other+`}`).
		want(t, 200, map[string]any{"status": "rejected", "response.approved": false})
	got := w.call(w.agent, "GET", "/v1/approvals/"+queue.text("approvalId"), "")
	got.want(t, 200, map[string]any{"status": "rejected", "approved": false, "decision.approved": false, "decision.edited": false, "decision.input": nil, "decision.suggestedInput.path": "/staging"})
	if !strings.Contains(got.text("advice"), "decision.suggestedInput") {
		t.Errorf("the advice is %q", got.text("advice"))
	}
	w.call(w.reviewer, "POST", "/api/approval/decide", `{"tool_use_id":"t","session_id":"s","decision":"REJECTED","suggested_input":`+other+`}`).
		want(t, 200, map[string]any{"status": "REJECTED"})
	w.call(w.agent, "GET", "/api/approval/invocation/t?session_id=s", "").
		want(t, 200, map[string]any{"status": "REJECTED", "edited_input": nil, "suggested_input.path": "/staging"})
	storetest.CheckRows(t, w.store)

	// Asked again with it, a person is asked again.
	w.call(w.agent, "POST", "/v1/approvals", `{"toolUseId":"q2","runId":"s","toolName":"deploy","input":`+other+`}`).want(t, 202, nil)
	w.removeAll()
	w.call(w.agent, "GET", "/v1/approvals/"+queue.text("approvalId"), "").want(t, 200, map[string]any{"status": "rejected", "decision.suggestedInput": nil})
}

// A suggestion that the policy denies would only be denied.
func TestWhatThePolicyDeniesIsNotSuggested(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"rules":[{"name":"never","tools":["deploy"],"when":"input.path == \"/etc\"","effect":"deny"}]}`)
	id := w.ask(`{"toolUseId":"q","toolName":"deploy","input":{"path":"/prod"}}`)
	w.call(w.reviewer, "POST", "/v1/approvals/"+id+"/respond", `{"approved":false,"suggestedInput":{"path":"/etc"}}`).want(t, 422, map[string]any{"code": "invalid"})
	proposal := w.call(w.agent, "POST", "/conversations/"+w.openRun(`{"runId":"r"}`)+"/responses", `{"kind":"proposal","content":"Pay it."}`).text("responseId")
	w.call(w.reviewer, "POST", "/v1/approvals/"+proposal+"/respond", `{"approved":false,"suggestedInput":{"path":"/etc"}}`).want(t, 422, nil)
}

// The same call asked by a client that takes edits and by one that does not is one request to
// neither: one of them would lose the edit.
func TestARepeatThatWouldLoseTheEditIsAConflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"required_approval_tools":["deploy"]}`)
	const takes, takesNone = `{"toolUseId":"q","runId":"s","toolName":"deploy","input":{"n":1},"acceptsEdits":true}`, `{"toolUseId":"q","runId":"s","toolName":"deploy","input":{"n":1}}`
	const tool = `{"tool_use_id":"q","session_id":"s","tool_name":"deploy","tool_input":{"n":1}}`
	id := w.ask(takes)
	for range 2 {
		w.call(w.agent, "POST", "/v1/approvals", takesNone).want(t, 409, map[string]any{"code": "key_conflict"})
		w.call(w.agent, "POST", "/api/approval/request", tool).want(t, 409, map[string]any{"code": "key_conflict"})
		w.call(w.reviewer, "POST", "/v1/approvals/"+id+"/respond", `{"approved":true,"input":{"n":2}}`)
	}
	w.call(w.agent, "POST", "/v1/approvals", takes).want(t, 200, map[string]any{"approved": true, "acceptsEdits": true, "decision.input.n": jsonNumber("2")})
	// Approved as it was sent, nothing is lost.
	plain := w.ask(`{"toolUseId":"p","runId":"s","toolName":"deploy","input":{"n":1},"acceptsEdits":true}`)
	w.call(w.reviewer, "POST", "/v1/approvals/"+plain+"/respond", `{"approved":true}`).want(t, 200, nil)
	w.call(w.agent, "POST", "/v1/approvals", `{"toolUseId":"p","runId":"s","toolName":"deploy","input":{"n":1}}`).want(t, 200, map[string]any{"approved": true})
	// The other way round the first stays.
	w.ask(`{"toolUseId":"r","runId":"s","toolName":"deploy","input":{"n":1}}`)
	w.call(w.agent, "POST", "/v1/approvals", `{"toolUseId":"r","runId":"s","toolName":"deploy","input":{"n":1},"acceptsEdits":true}`).want(t, 202, map[string]any{"acceptsEdits": nil})
}

// Whether a client takes edits is frozen with the request, and proved by its entry.
func TestWhetherAClientTakesEditsNeverChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ask(`{"toolUseId":"q","toolName":"deploy"}`)
	if _, err := storetest.Beside(t, w.store).Exec(`UPDATE responses SET accepts_edits = TRUE`); err == nil {
		t.Error("it was changed")
	}
	storetest.Forge(t, w.store, `UPDATE responses SET accepts_edits = TRUE`)
	report, err := upkeep.New(w.store).VerifyRows(t.Context(), nil)
	storetest.Must(t, err)
	if len(report.Faults) == 0 {
		t.Error("a change beside the ledger is not found")
	}
}

// What was approved with another input before a request said whether it takes one is told as no
// go: nobody knows whether its client would run the one that was approved.
func TestAnOldEditIsNoGo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.ask(`{"toolUseId":"q","runId":"s","toolName":"deploy","input":{"n":1},"acceptsEdits":true}`)
	w.call(w.reviewer, "POST", "/v1/approvals/"+id+"/respond", `{"approved":true,"input":{"n":2}}`).want(t, 200, nil)
	storetest.Forge(t, w.store, `UPDATE responses SET accepts_edits = FALSE`)
	w.call(w.agent, "GET", "/v1/approvals/"+id, "").want(t, 200, map[string]any{
		"status": "resolved", "approved": false, "reason": models.AdviceOtherInput, "advice": models.AdviceOtherInput, "decision.input": nil, "decision.suggestedInput.n": jsonNumber("2"),
	})
	w.call(w.agent, "GET", "/api/approval/invocation/q?session_id=s", "").want(t, 200, map[string]any{
		"status": "CANCELLED", "reason": models.AdviceOtherInput, "edited_input": nil, "suggested_input.n": jsonNumber("2"),
	})
}
