package api_test

import (
	"encoding/json"
	"strings"
	"testing"

	"countersign/models"
)

// What another system asks with and runs is the input on every surface, and what the
// agent reported stands beside it: nobody who knows one surface alone approves
// something else than runs.
func TestEverySurfaceTellsTheInputThatRuns(t *testing.T) {
	t.Parallel()
	const runs, reported = `{"command":"rm -rf /"}`, `{"command":"ls"}`
	w := newOutsideWorld(t)
	w.policy(`{"rules":[{"name":"all","tools":["bash"],"effect":"require","risk":"high","reason":"runs anything"}]}`)
	conv := w.openRun(`{"runId":"r"}`)
	w.report(w.agent, conv, ndjson, `{"type":"tool_call","toolUseId":"t1","toolName":"bash","input":`+reported+`,"batchId":"b"}`)
	queue, tools, all := w.listen(w.reviewer, queueStream, ""), w.listen(w.reviewer, toolStream, ""), w.listen(w.reviewer, eventStream, "")
	id := w.wants(t, outsideCall("call-1", "bash", runs))

	get := func(path string) answer { return w.call(w.reviewer, "GET", path, "") }
	first := func(path, list string) answer {
		for _, one := range get(path).entries(list) {
			return one // nothing else waits
		}
		t.Errorf("%s: nothing: %s", path, get(path).body)
		return answer{}
	}
	part := func(of any) answer {
		object, _ := of.(map[string]any)
		return answer{object: object}
	}
	digest := get("/v1/approvals/" + id).text("digest")
	camel := map[string]string{"input": runs, "reportedInput": reported, "digest": `"` + digest + `"`, "context": "null"}
	snake := map[string]string{"tool_input": runs, "reported_input": reported, "digest": `"` + digest + `"`, "context": "null"}
	event := map[string]string{"function_args": runs, "tool_input": runs, "reported_input": reported, "context": "null"}
	refused := w.call(w.reviewer, "POST", "/v1/approvals/"+id+"/respond", `{"approved":true,"digest":"`+strings.Repeat("0", 64)+`"}`)

	for name, tt := range map[string]struct {
		got     answer
		members map[string]string
	}{
		"request":               {get("/v1/approvals/" + id), camel},
		"request, waited for":   {get("/v1/approvals/" + id + "?wait=1ms"), camel},
		"list":                  {first("/v1/approvals", "approvals"), camel},
		"pending":               {first("/v1/approvals/pending", "pending"), camel},
		"refused verdict":       {part(refused.at("approval")), camel},
		"history":               {part(w.entry(t, conv, id).at("response")), camel},
		"requests of a run":     {first("/conversations/"+conv+"/approvals", "approvals"), map[string]string{"content": `"bash {\"command\":\"rm -rf /\"}"`, "reportedInput": reported, "digest": `"` + digest + `"`}},
		"invocation":            {get("/api/approval/invocation/t1"), snake},
		"pending of a session":  {first("/api/approval/pending/r", "pending"), snake},
		"stream of requests":    {about(queue, "approvalId", id), camel},
		"stream of tools":       {about(tools, "tool_call_id", id), snake},
		"stream of all":         {part(about(all, "type", "new_approval").at("data").(map[string]any)["approvals"].([]any)[0]), event},
		"request, to its agent": {w.call(w.agent, "GET", "/v1/approvals/"+id, ""), camel},
	} {
		for member, want := range tt.members {
			if got, err := json.Marshal(tt.got.at(member)); err != nil || string(got) != want {
				t.Errorf("%s: %s is %s, want %s, %v", name, member, got, want, err)
			}
		}
	}

	w.call(w.reviewer, "POST", "/v1/approvals/"+id+"/respond", `{"approved":true,"digest":"`+digest+`"}`).want(t, 202, nil)
	w.tells(t, id, models.DeliveryEnd{Result: models.DeliveryTaken})
	w.call(w.agent, "GET", "/v1/approvals/"+id, "").want(t, 200, map[string]any{"status": "approved", "decision.edited": true, "decision.input.command": "rm -rf /", "input.command": "rm -rf /", "reportedInput.command": "ls"})
	w.call(w.agent, "GET", "/api/approval/invocation/t1", "").want(t, 200, map[string]any{"status": "APPROVED", "edited_input.command": "rm -rf /", "reported_input.command": "ls"})
}

// What may be read in two ways, or is kept cut, is told as a text.
func TestWhatIsNotOneJSONValueIsToldAsAText(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	w.report(w.agent, w.openRun(`{"runId":"r"}`), ndjson, `{"type":"tool_call","toolUseId":"u","toolName":"bash","input":{"n":1}}`)
	twice := `{"command":"ls","command":"rm -rf /"}`
	id := w.wants(t, outsideCall("call-1", "bash", twice))
	w.call(w.reviewer, "GET", "/v1/approvals/"+id, "").want(t, 200, map[string]any{"input": twice, "reportedInput.n": jsonNumber("1"), "context": nil})
}

// Where both ask for the same, nothing stands beside the input, and an agent's own
// context is told.
func TestOnlyAnotherInputIsToldAsReported(t *testing.T) {
	t.Parallel()
	w := newOutsideWorld(t)
	w.report(w.agent, w.openRun(`{"runId":"r"}`), ndjson, `{"type":"tool_call","toolUseId":"u","toolName":"bash","input":{"n":1}}`)
	id := w.wants(t, outsideCall("call-1", "bash", `{"n":1}`))
	w.call(w.reviewer, "GET", "/v1/approvals/"+id, "").want(t, 200, map[string]any{"input.n": jsonNumber("1"), "reportedInput": nil})
	own := w.ask(`{"approvalId":"` + string(models.NewID[models.ResponseID]()) + `","toolName":"bash","input":{"n":2},"context":"because"}`)
	w.call(w.reviewer, "GET", "/v1/approvals/"+own, "").want(t, 200, map[string]any{"input.n": jsonNumber("2"), "reportedInput": nil, "context": "because"})
}
