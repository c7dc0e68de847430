package store

import (
	"strings"
	"testing"
)

func TestNamesOfReviewersAreReadByKeys(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	for _, query := range []string{namesQuery, upstreamNamesQuery} {
		plan := explain(t, s, query, []any{`["u"]`})
		if strings.Contains(plan, "SCAN u") || !strings.Contains(plan, "(id=?)") {
			t.Errorf("not served by a key: %s\n%s", query, plan)
		}
	}
}

func TestOriginsAreReadByKeys(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	plan := explain(t, s, originsQuery, []any{`["r"]`, "u", false, 9})
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
