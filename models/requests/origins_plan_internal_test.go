package requests

import (
	"strings"
	"testing"
)

func TestOriginsAreReadByKeys(t *testing.T) {
	t.Parallel()
	rs := open(t)
	plan := explain(t, rs, originsQuery, []any{`["r"]`, "u", false, 9})
	for line := range strings.SplitSeq(plan, "\n") {
		if strings.Contains(line, "SCAN") && !strings.Contains(line, "SCAN j ") || strings.Contains(line, "AUTOMATIC") {
			t.Errorf("not served by an index: %s\n%s", line, plan)
		}
	}
	for _, index := range []string{"conversations_run (owner_id=? AND run_id=?)", "(conversation_id=? AND tool_use_id=?)"} {
		if !strings.Contains(plan, index) {
			t.Errorf("not served by %s:\n%s", index, plan)
		}
	}
}

func TestLinkedRowsAreReadByKeys(t *testing.T) {
	t.Parallel()
	plan := explain(t, open(t), linksQuery, []any{"[]", "u", true})
	for line := range strings.SplitSeq(plan, "\n") {
		if strings.HasPrefix(line, "SCAN ") && !strings.HasPrefix(line, "SCAN j VIRTUAL TABLE") || strings.Contains(line, "USE TEMP B-TREE") {
			t.Errorf("not served by a key: %s\n%s", line, plan)
		}
	}
}
