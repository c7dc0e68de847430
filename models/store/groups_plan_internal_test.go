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
	plan := explain(t, s, waitForGroups, blanks(waitForGroups))
	for _, want := range []string{"responses_pending_groups", "votes_waiting", "SEARCH r USING INDEX sqlite_autoindex_responses_1 (id=?)"} {
		if !strings.Contains(plan, want) {
			t.Errorf("no %s in\n%s", want, plan)
		}
	}
	if strings.Contains(plan, "SCAN r ") {
		t.Errorf("it reads all requests:\n%s", plan)
	}
}
