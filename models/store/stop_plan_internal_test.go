package store

import (
	"strings"
	"testing"
)

// What a stop withdraws is found by index, however many requests were settled.
func TestWhatAStopWithdrawsIsFoundByIndex(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	for query, want := range map[string]string{stoppedOfAgent: "responses_pending_agent (agent_id=?)", stoppedOfAll: "responses_pending", standingStops: "stops_standing", heldOutside: "deliveries_due"} {
		if plan := explain(t, s, query, blanks(query)); !strings.Contains(plan, want) {
			t.Errorf("%s\n%s", query, plan)
		}
	}
}
