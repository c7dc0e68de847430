package api_test

import (
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
	"countersign/models/upkeep"
)

// removeAll removes the contents of all that is over.
func (w *world) removeAll() {
	w.tb.Helper()
	p, err := upkeep.New(w.store).NewPurge(w.tb.Context(), storetest.Operator(), models.PurgeQuery{Before: w.clock.Step(time.Hour)})
	if err == nil {
		_, err = p.All(w.tb.Context())
	}
	if err != nil {
		w.tb.Fatal(err)
	}
}

// TestRemovedContentsAreNoAdvice: an agent that asks again is never told to run the mark that
// stands in the place of what was approved, nor what it holds itself.
func TestRemovedContentsAreNoAdvice(t *testing.T) {
	t.Parallel()
	const mark = "removed on 2026-03-02, by tester"
	w := newWorld(t)
	w.policy(`{"rules":[{"name":"reading","tools":["ls"],"effect":"allow"}]}`)
	asks := map[string]string{
		"plain":  `{"toolUseId":"plain","toolName":"rm","input":{"path":"/a"},"runId":"s"}`,
		"edited": `{"toolUseId":"edited","toolName":"rm","input":{"path":"/b"},"runId":"s","acceptsEdits":true}`,
		"let":    `{"toolUseId":"let","toolName":"ls","input":{},"runId":"s"}`,
		"asked":  `{"toolUseId":"asked","kind":"question","description":"where?","options":[{"name":"here"}],"runId":"s"}`,
	}
	ids := map[string]string{}
	for name, body := range asks {
		ids[name] = w.call(w.agent, "POST", "/v1/approvals", body).text("approvalId")
	}
	for name, verdict := range map[string]string{"plain": `{"approved":true}`, "edited": `{"approved":true,"input":{"path":"/c"}}`, "asked": `{"option":"here"}`} {
		w.call(w.reviewer, "POST", "/v1/approvals/"+ids[name]+"/respond", verdict).want(t, 200, nil)
	}
	w.removeAll()

	gone := map[string]any{
		"status": "resolved", "approved": false, "response.approved": false, "decision.approved": false, "decision.input": nil, "input": nil,
		"decision.answer": nil, "decision.option": nil, "reason": models.AdviceRemoved, "advice": models.AdviceRemoved, "removed": mark,
	}
	tool := map[string]any{"status": "CANCELLED", "reason": models.AdviceRemoved, "tool_input": nil, "edited_input": nil, "removed": mark}
	for name, body := range asks {
		w.call(w.agent, "POST", "/v1/approvals", body).want(t, 200, gone)
		w.call(w.agent, "GET", "/v1/approvals/"+ids[name], "").want(t, 200, gone)
		w.call(w.agent, "GET", "/api/approval/invocation/"+name+"?session_id=s", "").want(t, 200, tool)
	}
	w.call(w.agent, "POST", "/api/approval/request", `{"tool_use_id":"plain","tool_name":"rm","tool_input":{"path":"/a"},"session_id":"s"}`).want(t, 200, tool)
	storetest.CheckRows(t, w.store)
}
