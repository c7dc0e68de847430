package store

import (
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/db"
)

// TestConversationQueriesAreServedByAnIndex is the same for what the pages of
// conversations and budgets read: no scan of a whole table. What is spent is
// grouped from one conversation's own rows.
func TestConversationQueriesAreServedByAnIndex(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	type query struct {
		name, text string
		args       []any
		groups     bool
	}
	queries := []query{
		{"spent by responses", spentByResponses, []any{"c", 5, 1}, true},
		{"spent by turns", spentByTurns, []any{"c", 5, 1}, true},
		{"budget by steps", budgetBySteps, []any{"c", 5, 1}, false},
		{"energy by tool", energyByTool, []any{"c", 1, 5}, true},
		{"spent from an entry on", spentFrom, []any{"c", 1}, false},
		{"the budget before an entry", budgetBefore, []any{"c", 1}, false},
		{"what waits", spokenWaiting, []any{"c", db.Stamp(models.NoDeadline), 9}, false},
	}
	for _, q := range queries {
		plan := explain(t, s, q.text, q.args)
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
