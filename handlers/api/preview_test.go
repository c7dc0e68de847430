package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"countersign/models"
)

// TestAPreviewIsTakenByEverySurfaceThatAsks: exact to who reads JSON, kept as it was first
// said (I9), and no part of the digest.
func TestAPreviewIsTakenByEverySurfaceThatAsks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"required_approval_tools":["rm"]}`)
	conv := w.call(w.agent, "POST", "/v1/conversations", `{"runId":"s"}`).text("requestId")
	if conv == "" {
		conv = w.call(w.agent, "GET", "/v1/approvals/"+w.ask(`{"runId":"s","toolUseId":"t0","toolName":"rm"}`), "").text("conversationId")
	}
	response := string(models.NewID[models.ResponseID]())
	for name, tt := range map[string]struct{ path, body, read string }{
		"queue":        {"/v1/approvals", `{"toolUseId":"t1","toolName":"rm","preview":%q}`, ""},
		"tool":         {"/api/approval/request", `{"tool_use_id":"t2","session_id":"s","tool_name":"rm","preview":%q}`, "/api/approval/invocation/t2"},
		"conversation": {"/conversations/" + conv + "/responses", `{"responseId":"` + response + `","kind":"proposal","content":"Go?","preview":%q}`, ""},
	} {
		const first = "- old\n+ new <b>\u202e"
		asked := w.call(w.agent, "POST", tt.path, fmt.Sprintf(tt.body, first))
		read := asked
		if tt.read != "" {
			read = w.call(w.agent, "GET", tt.read, "")
		}
		if asked.status >= 300 || read.at("preview") != first {
			t.Errorf("%s: %d, preview %q: %s", name, asked.status, read.at("preview"), asked.body)
		}
		again := w.call(w.agent, "POST", tt.path, fmt.Sprintf(tt.body, "another"))
		if tt.read != "" {
			again = w.call(w.agent, "GET", tt.read, "")
		}
		if again.at("preview") != first || again.at("digest") != read.at("digest") {
			t.Errorf("%s: a repeat has preview %q, digest %v: %s", name, again.at("preview"), again.at("digest"), again.body)
		}
		long := w.call(w.agent, "POST", tt.path, fmt.Sprintf(tt.body, strings.Repeat("x", 16<<10+1)))
		if long.status != http.StatusUnprocessableEntity || !strings.Contains(long.body, `"preview"`) {
			t.Errorf("%s: one that is too long: %d %s", name, long.status, long.body)
		}
	}
	reply := w.call(w.agent, "POST", "/conversations/"+conv+"/responses", `{"kind":"reply","content":"Done.","preview":"x"}`)
	if reply.status != http.StatusUnprocessableEntity || !strings.Contains(reply.body, `"preview"`) {
		t.Errorf("with a reply: %d %s", reply.status, reply.body)
	}
}

func TestSurfacesCarryAllMembersOfAnExplanation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy(`{"required_approval_tools":["rm"]}`)
	for _, m := range new(models.Explanation).Members() {
		queue := w.call(w.agent, "POST", "/v1/approvals", fmt.Sprintf(`{"toolUseId":"q-%s","toolName":"rm",%q:"said"}`, m.Name, m.Name))
		if queue.at(m.Name) != "said" {
			t.Errorf("queue, %s: %d %s", m.Name, queue.status, queue.body)
		}
		tool := w.call(w.agent, "POST", "/api/approval/request", fmt.Sprintf(`{"tool_use_id":"t-%s","session_id":"s","tool_name":"rm",%q:"said"}`, m.Name, m.Name))
		if told := w.call(w.agent, "GET", "/api/approval/invocation/t-"+m.Name, ""); told.at(m.Name) != "said" {
			t.Errorf("tool, %s: %d %s, then %s", m.Name, tool.status, tool.body, told.body)
		}
	}
}
