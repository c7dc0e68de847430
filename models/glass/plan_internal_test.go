package glass

import (
	"strings"
	"testing"

	"countersign/models/db/dbtest"
)

// What waits to be acknowledged is read by its own index, which has nothing else.
func TestWhatWaitsIsServedByAnIndex(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	for _, query := range []string{CountUnacknowledged, `SELECT *` + openVotes + inOrder, `SELECT *` + openVotes + ` AND (user_id = ? OR ` + didWithout + `)` + inOrder} {
		args := make([]any, strings.Count(query, "?"))
		for i := range args {
			args[i] = ""
		}
		if plan := dbtest.Plan(t, d, query, args...); !strings.Contains(plan, "USING INDEX votes_unacknowledged") && !strings.Contains(plan, "USING COVERING INDEX votes_unacknowledged") || strings.Contains(plan, "B-TREE") {
			t.Errorf("%s\n%s", query, plan)
		}
	}
}
