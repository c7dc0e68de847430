package store

import (
	"strings"
	"testing"
)

// What is told costs what is due, however much waits or was ever told.
func TestWhatIsToldIsServedByAnIndex(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	for _, q := range []struct{ query, want string }{
		{dueRecipients, "SEARCH n USING COVERING INDEX notices_due (recipient=?)"},
		{dueNotices, "SEARCH n USING COVERING INDEX notices_due (recipient=? AND due_at<?)"},
		{dueDigest, "SEARCH notices USING PRIMARY KEY (response_id=? AND recipient=? AND moment=?)"},
		{dropDue, "SEARCH notices USING"},
		{moveNotices, "SEARCH notices USING PRIMARY KEY (response_id=?"},
		{hurryNotices, "SEARCH notices USING PRIMARY KEY (response_id=?"},
		{burstSent, "SEARCH n USING"},
		{burstSent, "SEARCH notified USING PRIMARY KEY (response_id=?"},
		{toldBefore, "SEARCH notified USING PRIMARY KEY (response_id=? AND channel_id=?)"},
		{toldAlone, "SEARCH notified USING PRIMARY KEY (response_id=? AND channel_id=?)"},
		{deferDue, "SEARCH notices USING"},
		{beginSend, "SEARCH notice_sends USING PRIMARY KEY (id=?)"},
		{dropSendsOf, "SEARCH notice_sends USING INDEX notice_sends_channel (channel_id=?)"},
		{dropNotices, "SEARCH notices USING PRIMARY KEY (response_id=?"},
		{forgetToTell, "SEARCH notices USING PRIMARY KEY (response_id=? AND recipient=?"},
		{leftUntold, "SEARCH notified USING PRIMARY KEY (response_id=?"},
		{waitsNoMore, "SEARCH notified USING PRIMARY KEY (response_id=?"},
		{followUps, "SEARCH n USING PRIMARY KEY (response_id=?"},
		{dropUnsent, "SEARCH notice_sends USING INDEX notice_sends_response (response_id=?"},
		{usableChannels, "SEARCH c USING INDEX channels_in_use"},
		{toldOf, "SEARCH channels USING INDEX channels_in_use"},
		{inboxNow, "SEARCH deciders USING PRIMARY KEY (user_id=? AND deadline>?)"},
		{burstWaits, "SEARCH n USING"},
		{settledDue, "SEARCH notice_sends USING INDEX notice_sends_channel (channel_id=? AND due_at<?)"},
		{dropSettled, "SEARCH notice_sends USING INDEX notice_sends_channel (channel_id=?)"},
		{inboxWaits, "SEARCH deciders USING PRIMARY KEY (user_id=? AND deadline>?)"},
		{namesOfDeciders + decidersOf, "SEARCH deciders USING PRIMARY KEY (user_id=? AND deadline=? AND response_id=?)"},
	} {
		query := strings.ReplaceAll(q.query, "IN ?", "IN (?)")
		if plan := explain(t, s, query, blanks(query)); !strings.Contains(plan, q.want) || strings.Contains(plan, "SCAN n") {
			t.Errorf("%s\nis not served by %s:\n%s", query, q.want, plan)
		}
	}
	if plan := explain(t, s, dueSends, []any{9}); !strings.Contains(plan, "SEARCH f USING COVERING INDEX notice_sends_channel (channel_id=?)") || !strings.Contains(plan, "SEARCH s USING PRIMARY KEY (id=?)") {
		t.Errorf("messages are not read by the channel:\n%s", plan)
	}
}
