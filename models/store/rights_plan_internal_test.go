package store

import (
	"strings"
	"testing"
)

// What people may do with a list of requests is read by keys and by the index of what is had for
// others, and never by looking through a table.
func TestRightsAreReadByIndex(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	for text, index := range map[string]string{
		handedOverEach: "SEARCH h USING INDEX handovers_response (response_id=?)",
		relationsOf:    "SEARCH u USING PRIMARY KEY (id=?)",
		forOthersEach:  "SEARCH v USING INDEX reviewers_for_others (response_id=?)",
	} {
		plan := explain(t, s, text, blanks(text))
		if !strings.Contains(plan, index) {
			t.Errorf("no %s in\n%s", index, plan)
		}
		for line := range strings.SplitSeq(plan, "\n") {
			if strings.HasPrefix(line, "SCAN ") && !strings.HasPrefix(line, "SCAN j ") {
				t.Errorf("%s\n%s", line, plan)
			}
		}
	}
}
