package store

import (
	"strings"
	"testing"
	"time"
)

// TestRunQueriesAreServedByAnIndex reads the plans of what the built-in agent
// asks at each turn: its cost follows what is ready, and what a context holds.
func TestRunQueriesAreServedByAnIndex(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	now := time.Unix(0, 0)
	for _, q := range []struct {
		name, text string
		args       []any
		sorts      bool // a page's worth of rows is sorted, by intent
	}{
		{"claim", claimQuery, []any{now, now}, false},
		{"next run", nextRunQuery, nil, true},
		{"lease", leaseQuery, []any{"c", 1, "h"}, false},
		{"heard", heardQuery, []any{"c", 1}, false},
		{"messages", runMessagesQuery, []any{"c", 101}, false},
		{"turns", runTurnsQuery, []any{"c", 101}, false},
		{"steps", runStepsQuery, []any{"c", 100}, false},
	} {
		plan := explain(t, s, q.text, q.args)
		for line := range strings.SplitSeq(plan, "\n") {
			ready := strings.Contains(line, "USING INDEX agent_inbox_ready")
			if strings.HasPrefix(line, "SCAN ") && !ready && !scannable.MatchString(line) || strings.Contains(line, "USE TEMP B-TREE") && !q.sorts {
				t.Errorf("%s: %s\n%s\n%s", q.name, line, q.text, plan)
			}
		}
	}
}
