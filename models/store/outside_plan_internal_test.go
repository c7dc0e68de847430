package store

import (
	"strings"
	"testing"

	"countersign/models/requests"
)

// TestOutsideQueriesAreServedByAnIndex reads the plans of what each poll and each
// verdict to tell asks for: their cost follows what is pending, not what is kept.
func TestOutsideQueriesAreServedByAnIndex(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	for _, q := range []struct {
		name, text string
		args       []any
		sorts      bool // a few rows are sorted, by intent
	}{
		{"call that is linked", linkedPlace, []any{"u", "c", "r"}, false},
		{"any that waits", anyWanted, nil, false},
		{"approval of a call", wantedCalls, []any{"d"}, false},
		{"approval of a call, in a run", wantedInRun, []any{"o", "d", "u", 1, "r"}, false},
		{"approval of a call, below a run", wantedBelow, []any{"o", "d", "u", 1, "r"}, true},
		{"rejected in a batch", rejectedIn, []any{"c", "b"}, false},
		{"held verdict", requests.StandingVote, []any{"r"}, true},
		{"withdrawn verdicts", withdrawnVotes, []any{1, "r"}, false},
	} {
		plan := explain(t, s, q.text, q.args)
		for line := range strings.SplitSeq(plan, "\n") {
			// Indexes of what is not done yet, the upstreams of one installation, and the ids that were given.
			few := strings.HasSuffix(line, "USING INDEX deliveries_due") || strings.HasSuffix(line, "USING INDEX upstreams_due") ||
				strings.HasSuffix(line, "INDEX outside_approvals_wanted") || strings.HasPrefix(line, "SCAN j VIRTUAL TABLE")
			if strings.HasPrefix(line, "SCAN ") && !few && !scannable.MatchString(line) || strings.Contains(line, "USE TEMP B-TREE") && !q.sorts {
				t.Errorf("%s: %s\n%s\n%s", q.name, line, q.text, plan)
			}
		}
	}
}
