package requests

import (
	"database/sql"
	"strings"
	"testing"
	"time"
)

// Duplicates are looked for among so many of an agent's pending requests, by their index.
func TestDuplicatesAreServedByAnIndex(t *testing.T) {
	t.Parallel()
	rs := open(t)
	plan := explain(t, rs, duplicatesOf, []any{
		sql.Named("me", "u"), sql.Named("admin", false), sql.Named("id", "r"), sql.Named("agent", "a"), sql.Named("digest", "d"),
		sql.Named("n", 9), sql.Named("now", time.Unix(0, 0)), sql.Named("most", 5),
	})
	if !strings.Contains(plan, "responses_pending_agent (agent_id=?)") || strings.Contains(plan, "B-TREE") {
		t.Error(plan)
	}
}

// A twin is found by an index, and nothing that grows is read whole or sorted: only
// what one page asks about is.
func TestTwinsAreServedByAnIndex(t *testing.T) {
	t.Parallel()
	rs := open(t)
	for text, index := range map[string]string{
		harmTwins: "responses_approved_harm (agent_id=? AND digest=?)", editedTwins: "votes_edited (input_digest=?)",
		calledTwins: "responses_tool (agent_id=? AND tool_name=?)", recentTwins: "responses_settled_owner (owner_id=? AND approval_timestamp>?)",
	} {
		args := []any{`["r"]`, "u", false, 9}
		if text == recentTwins {
			args = append(args, time.Unix(0, 0))
		}
		plan := explain(t, rs, text, args)
		if !strings.Contains(plan, index) {
			t.Errorf("not served by %s:\n%s", index, plan)
		}
		for line := range strings.SplitSeq(plan, "\n") {
			small := strings.HasPrefix(line, "SCAN j ") || strings.HasPrefix(line, "SCAN o") || strings.HasPrefix(line, "SCAN p") && text == recentTwins || strings.HasPrefix(line, "SCAN r") && text == recentTwins || strings.HasPrefix(line, "SCAN wanted")
			sorts := strings.Contains(line, "B-TREE") && !strings.Contains(line, "DISTINCT")
			if strings.HasPrefix(line, "SCAN ") && !small || sorts {
				t.Errorf("%s\n%s", line, plan)
			}
		}
	}
}
