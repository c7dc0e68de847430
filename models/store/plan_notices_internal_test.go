package store

import (
	"strings"
	"testing"
)

// What is written for a request costs what is written for it, however much waits.
func TestNoticesOfARequestAreServedByAnIndex(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	for _, q := range []struct{ query, want string }{
		{moveNotices, "SEARCH notices USING PRIMARY KEY (response_id=?"},
		{hurryNotices, "SEARCH notices USING PRIMARY KEY (response_id=?"},
		{dropNotices, "SEARCH notices USING PRIMARY KEY (response_id=?"},
		{forgetToTell, "SEARCH notices USING PRIMARY KEY (response_id=? AND recipient=?"},
		{leftUntold, "SEARCH notified USING PRIMARY KEY (response_id=?"},
		{waitsNoMore, "SEARCH notified USING PRIMARY KEY (response_id=?"},
		{followUps, "SEARCH n USING PRIMARY KEY (response_id=?"},
		{dropUnsent, "SEARCH notice_sends USING INDEX notice_sends_response (response_id=?"},
		{namesOfDeciders + decidersOf, "SEARCH deciders USING PRIMARY KEY (user_id=? AND deadline=? AND response_id=?)"},
	} {
		query := strings.ReplaceAll(q.query, "IN ?", "IN (?)")
		if plan := explain(t, s, query, blanks(query)); !strings.Contains(plan, q.want) || strings.Contains(plan, "SCAN n") {
			t.Errorf("%s\nis not served by %s:\n%s", query, q.want, plan)
		}
	}
}
