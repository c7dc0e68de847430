package runs

import (
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/db/dbtest"
)

// TestQueriesAreServedByAnIndex reads the plans of what runs are reported by, closed by and claimed by:
// their cost follows what is under way, and what a context holds, not what is kept.
func TestQueriesAreServedByAnIndex(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	now := time.Unix(0, 0)
	for _, q := range []struct {
		name, text, index string
		args              []any
		sorts             bool // a few rows are sorted, by intent
	}{
		{"claim", claimQuery, "agent_inbox_ready", []any{now, now}, false},
		{"next run", nextRunQuery, "agent_inbox_ready", nil, true},
		{"lease", leaseQuery, "(conversation_id=?)", []any{"c", 1, "h"}, false},
		{"heard", heardQuery, "(conversation_id=? AND sequence>?)", []any{"c", 1}, false},
		{"messages", runMessagesQuery, "(conversation_id=?)", []any{"c", 101}, false},
		{"turns", runTurnsQuery, "(conversation_id=?)", []any{"c", 101}, false},
		{"steps", runStepsQuery, "(conversation_id=?)", []any{"c", 100}, false},
		{"what waits", spokenWaiting, "responses_pending_spoken (conversation_id=?", []any{"c", db.Stamp(models.NoDeadline), 9}, false},
		{"function call", callByID, "responses_function_calls (agent_id=? AND tool_use_id=?)", []any{"a", "t"}, false},

		{"event", eventByKey, "(conversation_id=? AND key=?)", []any{"c", "k"}, false},
		{"asked and not reported", notReported, "responses_tool_use (conversation_id=? AND tool_use_id=?)", []any{"c", "t"}, false},
		{"to adopt", standingAsk, "responses_agent_tool_use (agent_id=? AND tool_use_id=?)", []any{"a", "t", "d"}, false},
		{"under way", unfinished, "responses_unfinished (conversation_id=?)", []any{"c"}, false},
		{"under way, before", unfinishedBefore, "responses_unfinished (conversation_id=? AND parent_tool_use_id=? AND batch_id<?)", []any{"c", "p", "b"}, false},
		{"under way, after", unfinishedBefore, "responses_unfinished (conversation_id=? AND parent_tool_use_id=? AND batch_id>?)", []any{"c", "p", "b"}, false},
		{"pending of a run", pendingOfRun, "responses_pending_conversation (conversation_id=?)", []any{"c"}, false},
		{"pending by deadline", pendingInConversation, "responses_pending_conversation (conversation_id=?)", []any{"c"}, true},

		{"approval of a call", wantedCalls, "outside_approvals_wanted", []any{"d"}, false},
		{"approval of a call, in a run", wantedInRun, "outside_approvals_wanted", []any{"o", "d", "u", 1, "r"}, false},
		{"approval of a call, below a run", wantedBelow, "outside_approvals_wanted", []any{"o", "d", "u", 1, "r"}, true},
		{"rejected in a batch", rejectedIn, "responses_batch (conversation_id=? AND batch_id=?", []any{"c", "b"}, false},
	} {
		plan := dbtest.Plan(t, d, q.text, q.args...)
		if !strings.Contains(plan, q.index) {
			t.Errorf("%s is not served by %s:\n%s\n%s", q.name, q.index, q.text, plan)
		}
		for line := range strings.SplitSeq(plan, "\n") {
			// What is ready, and what waits for its call, is few.
			few := strings.Contains(line, "INDEX agent_inbox_ready") || strings.HasSuffix(line, "INDEX outside_approvals_wanted")
			if strings.HasPrefix(line, "SCAN ") && !few || strings.Contains(line, "USE TEMP B-TREE") && !q.sorts {
				t.Errorf("%s: %s\n%s\n%s", q.name, line, q.text, plan)
			}
		}
	}
}
