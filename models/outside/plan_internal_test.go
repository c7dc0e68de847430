package outside

import (
	"strings"
	"testing"

	"countersign/models/db/dbtest"
)

// TestOutsideQueriesAreServedByAnIndex reads the plans of what each poll and each
// verdict to tell asks for: their cost follows what is pending, not what is kept.
func TestOutsideQueriesAreServedByAnIndex(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	for _, q := range []struct {
		name, text string
		args       []any
		sorts      bool // a few rows are sorted, by intent
	}{
		{"open call by tool use", openByUse, []any{"c", "u"}, false},
		{"open call by input", openByInput, []any{"c", "d"}, false},
		{"open call by name", openByName, []any{"c", "n"}, false},
		{"calls for what waits", linkable, []any{"u", "o", 1, 2}, false},
		{"run above", runAbove, []any{"o", "r"}, false},
		{"call that was rejected with its batch", cascadedCall, []any{"o", "r", "d", "n", "u"}, false},
		{"run", runByID, []any{"o", "r"}, false},
		{"runs of a parent", runsByParent, []any{"o", "r"}, true},
		{"known item", knownQuery, []any{"u", "c", "function_call"}, false},
		{"pending of an upstream", pendingOfUpstream, []any{"u", "function_call"}, false},
		{"verdicts to tell", deliveriesOfUpstream, []any{"u", 9}, false},
		{"what is told about", outsideCallOf, []any{"r"}, false},
		{"what waits of an upstream", waitingOfUpstream, []any{"u", 9}, false},
		{"how many verdicts to tell", countUntold, []any{"u", 9}, false},
		{"oldest verdict to tell", oldestUntold, []any{"u"}, false},
	} {
		plan := dbtest.Plan(t, d, q.text, q.args...)
		for line := range strings.SplitSeq(plan, "\n") {
			// Indexes of what is not done yet, the upstreams of one installation, and the ids that were given.
			few := strings.HasSuffix(line, "USING INDEX deliveries_due") || strings.HasSuffix(line, "USING INDEX upstreams_due") ||
				strings.HasSuffix(line, "INDEX outside_approvals_wanted") || strings.HasPrefix(line, "SCAN j VIRTUAL TABLE") || line == "SCAN (subquery-1)"
			if strings.HasPrefix(line, "SCAN ") && !few || strings.Contains(line, "USE TEMP B-TREE") && !q.sorts {
				t.Errorf("%s: %s\n%s\n%s", q.name, line, q.text, plan)
			}
		}
	}
}

func TestOpenCallsAreServedByTheirIndex(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	for query, index := range map[string]string{
		openByInput: "responses_open_input (conversation_id=? AND digest=?)",
		openByName:  "responses_open (conversation_id=? AND tool_name=?)",
	} {
		if plan := dbtest.Plan(t, d, query, "c", "d"); !strings.Contains(plan, index) {
			t.Errorf("%s\nis not served by %s:\n%s", query, index, plan)
		}
	}
}
