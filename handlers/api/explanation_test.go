package api_test

import (
	"fmt"
	"testing"

	"countersign/models"
)

// Every surface on which an agent asks about a call takes and tells all that it says beside it.
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
