package requests

import (
	"strings"
	"testing"
)

func TestRunsAreReadByAnIndex(t *testing.T) {
	t.Parallel()
	rs := open(t)
	for _, q := range []struct {
		name, text, index string
		args              []any
	}{
		{"details", runDetailsQuery, "responses_history (conversation_id=? AND sequence>? AND sequence<?)", []any{"c", 1, 50, 9}},
		{"place in a batch", batchPlaceQuery, "COVERING INDEX responses_batch (conversation_id=? AND batch_id=? AND sequence<?)", []any{"c", "b", 1}},
		{"parent", parentQuery, "conversations_run (owner_id=? AND run_id=?)", []any{"u", "r"}},
		{"children", childrenQuery, "conversations_parent_run (owner_id=? AND parent_run_id=?)", []any{"u", "r", 9}},
	} {
		plan := explain(t, rs, q.text, q.args)
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
