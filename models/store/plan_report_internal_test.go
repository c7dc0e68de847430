package store

import (
	"strings"
	"testing"
	"time"
)

// TestReportQueriesAreServedByAnIndex is the same for what runs are reported by,
// closed by and shown by. Those of the writing connection stand with the others.
func TestReportQueriesAreServedByAnIndex(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	for _, q := range []struct {
		name, text, index string
		args              []any
	}{
		{"under way", unfinished, "responses_unfinished (conversation_id=?)", []any{"c"}},
		{"under way, of another batch", unfinishedBefore, "responses_unfinished (conversation_id=? AND parent_tool_use_id=? AND batch_id<?)", []any{"c", "p", "b"}},
		{"under way, of another batch, after", unfinishedBefore, "responses_unfinished (conversation_id=? AND parent_tool_use_id=? AND batch_id>?)", []any{"c", "p", "b"}},
		{"pending of a run", pendingOfRun, "responses_pending_conversation (conversation_id=?)", []any{"c"}},
		{"to adopt", standingAsk, "responses_agent_tool_use (agent_id=? AND tool_use_id=?)", []any{"a", "t", "d"}},
		{"the same call by another way", byPendingDigest, "responses_pending_agent (agent_id=?)", []any{"a", "d", time.Unix(0, 0)}},
		{"the same call with a key", keyedPendingDigest, "responses_pending_digest (agent_id=? AND digest=?)", []any{"a", "d"}},
		{"the rest of a batch", openAfter, "responses_batch (conversation_id=? AND batch_id=? AND sequence>?)", []any{"c", "b", 1}},
	} {
		plan := explain(t, s, q.text, q.args)
		if !strings.Contains(plan, q.index) {
			t.Errorf("%s is not served by %s:\n%s\n%s", q.name, q.index, q.text, plan)
		}
		for line := range strings.SplitSeq(plan, "\n") {
			if strings.HasPrefix(line, "SCAN ") || strings.Contains(line, "USE TEMP B-TREE") && q.name != "children" { // which are few
				t.Errorf("%s: %s\n%s\n%s", q.name, line, q.text, plan)
			}
		}
	}
}
