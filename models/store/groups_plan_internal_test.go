package store

import (
	"strings"
	"testing"
)

// What waits for a group is found by index, however much was settled and whatever waits for
// nobody in particular.
func TestWhatWaitsForAGroupIsFoundByIndex(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	plan := explain(t, s, waitForGroup, blanks(waitForGroup))
	for _, want := range []string{"SCAN responses USING COVERING INDEX responses_pending_groups", "SCAN r USING COVERING INDEX responses_pending", "SEARCH v USING INDEX votes_waiting (response_id=?)"} {
		if !strings.Contains(plan, want) {
			t.Errorf("no %s in\n%s", want, plan)
		}
	}
}
