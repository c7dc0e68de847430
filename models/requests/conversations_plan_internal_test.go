package requests

import (
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/db"
)

// TestConversationsAreServedByAnIndex: no list of conversations scans a whole table.
func TestConversationsAreServedByAnIndex(t *testing.T) {
	t.Parallel()
	rs := open(t)
	type query struct {
		name, text string
		args       []any
		groups     bool
	}
	queries := []query{
		{"steps of a budget", stepsPart + backwards, []any{"c", 9, 26}, false},
	}
	for _, status := range []models.ConversationStatus{"", models.ConversationRunning, models.ConversationWaitingInput} {
		for _, owner := range []models.UserID{"", "u"} {
			for _, agent := range []models.AgentID{"", "a"} {
				for _, archived := range []bool{false, true} {
					q := ConversationQuery{Status: status, Owner: owner, Agent: agent, Archived: archived}
					list := rs.conversations(q, db.Cursor{At: models.NoDeadline, ID: "x"}).SQL()
					queries = append(queries, query{"conversations", list.Text, list.Args, true}) // joining a page sorts it again
				}
			}
		}
	}
	for _, q := range queries {
		plan := explain(t, rs, q.text, q.args)
		for line := range strings.SplitSeq(plan, "\n") {
			scan := strings.HasPrefix(line, "SCAN ") && !strings.HasPrefix(line, "SCAN k") && !strings.Contains(line, "USING INDEX conversations_") && !strings.Contains(line, "USING COVERING INDEX conversations_") && !strings.HasPrefix(line, "SCAN (") &&
				line != "SCAN w" && line != "SCAN CONSTANT ROW" && !strings.Contains(line, "USING COVERING INDEX responses_pending_conversation") // the first that waits, and those it leads to
			sorting := strings.Contains(line, "USE TEMP B-TREE") && !q.groups
			if scan || sorting {
				t.Errorf("%s: %s\n%s\n%s", q.name, line, q.text, plan)
			}
		}
		if !strings.Contains(plan, "INDEX") && !strings.Contains(plan, "PRIMARY KEY") {
			t.Errorf("%s: no index serves it:\n%s", q.name, plan)
		}
	}
}
