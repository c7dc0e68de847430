package api_test

import (
	"encoding/json"
	"slices"
	"testing"

	"countersign/handlers/api/wire"
)

// Whoever reads a request by program learns which agent asks and to whom it belongs:
// in each list, alone, at the ask, after its decision and on each stream.
func TestEveryRequestNamesWhoAsks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	approvals, all := w.listen(w.reviewer, "/v1/approvals/stream", ""), w.listen(w.reviewer, eventStream, "")
	named := func(where string, asker any) {
		t.Helper()
		got, err := json.Marshal(asker)
		if err != nil {
			t.Fatal(err)
		}
		var a wire.Asker
		if err := json.Unmarshal(got, &a); err != nil || a.ID == "" || a.Name != "deployer" || string(a.Owner.ID) != w.owner.ID || a.Owner.Name != "owner@example.com" {
			t.Errorf("%s names %s: %v", where, got, err)
		}
	}
	asked := w.call(w.agent, "POST", "/v1/approvals", `{"runId":"run 1","toolUseId":"tu_1","toolName":"rm"}`)
	named("the answer to the ask", asked.at("agent"))
	id := asked.text("approvalId")
	for _, token := range []string{w.agent, w.reviewer, w.admin} {
		named("the request", w.call(token, "GET", "/v1/approvals/"+id, "").at("agent"))
		for path, member := range map[string]string{
			"/v1/approvals": "approvals", "/v1/approvals/pending": "pending", "/api/approval/pending/run%201": "pending",
			"/conversations/" + asked.text("conversationId") + "/approvals": "approvals",
		} {
			list, _ := w.call(token, "GET", path, "").at(member).([]any)
			if len(list) != 1 {
				t.Fatalf("%s: %v", path, list)
			}
			named(path, list[0].(map[string]any)["agent"]) //nolint:forcetypeassert // a panic fails the test
		}
	}
	named("the approval stream", about(approvals, "approvalId", id).at("agent"))
	event := about(all, "type", "new_approval")
	list, _ := event.at("data.approvals").([]any)
	named("/v1/events", list[0].(map[string]any)["agent"]) //nolint:forcetypeassert // a panic fails the test
	settled := w.call(w.agent, "POST", "/v1/approvals", `{"toolName":"Read"}`)
	named("what is settled at once", settled.at("agent"))
}

// A schema that shows what is decided, by its digest and risk, also names who asks.
func TestEverySchemaOfARequestNamesWhoAsks(t *testing.T) {
	t.Parallel()
	beside := []string{
		"ConversationResponse", // the conversation around it names its agent
	}
	seen := 0
	for name, schema := range document(t, newWorld(t)).Components.Schemas {
		p := schema.Value.Properties
		if p["digest"] == nil || p["risk"] == nil || slices.Contains(beside, name) {
			continue
		}
		if seen++; p["agent"] == nil {
			t.Errorf("%s shows a request and does not name who asks: give it the member agent", name)
		}
	}
	if seen < 2 {
		t.Errorf("%d schemas show a request", seen)
	}
}
