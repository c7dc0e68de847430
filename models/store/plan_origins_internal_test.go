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
