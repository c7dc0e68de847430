package store

import (
	"strings"
	"testing"
)

// However many calls there were, tools are found by their place in the index.
func TestToolsAreFoundByIndex(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	for query, want := range map[string]string{
		nextToolOf: "responses_tool (agent_id=? AND tool_name>?)", lastOfTool: "responses_tool (agent_id=? AND tool_name=?)",
	} {
		if plan := explain(t, s, query, blanks(query)); !strings.Contains(plan, want) || strings.Contains(plan, "B-TREE") {
			t.Errorf("%s\n%s", query, plan)
		}
	}
}
