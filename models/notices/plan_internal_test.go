package notices

import (
	"strings"
	"testing"

	"countersign/models/db/dbtest"
)

// What is told costs what is due, however much waits or was ever told.
func TestWhatIsToldIsServedByAnIndex(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	plan := func(query string) string {
		args := make([]any, strings.Count(query, "?"))
		for i := range args {
			args[i] = ""
		}
		return dbtest.Plan(t, d, query, args...)
	}
	for _, q := range []struct{ query, want string }{
		{dueRecipients, "SEARCH n USING COVERING INDEX notices_due (recipient=?)"},
		{dueNotices, "SEARCH n USING COVERING INDEX notices_due (recipient=? AND due_at<?)"},
		{dueDigest, "SEARCH notices USING PRIMARY KEY (response_id=? AND recipient=? AND moment=?)"},
		{dropDue, "SEARCH notices USING"},
		{burstSent, "SEARCH n USING"},
		{burstSent, "SEARCH notified USING PRIMARY KEY (response_id=?"},
		{countNotified, "SEARCH notified USING PRIMARY KEY (response_id=? AND channel_id=?)"},
		{markAlone, "SEARCH notified USING PRIMARY KEY (response_id=? AND channel_id=?)"},
		{deferDue, "SEARCH notices USING"},
		{beginSend, "SEARCH notice_sends USING PRIMARY KEY (id=?)"},
		{dropSendsOf, "SEARCH notice_sends USING INDEX notice_sends_channel (channel_id=?)"},
		{usableChannels, "SEARCH c USING INDEX channels_in_use"},
		{noteTold, "SEARCH channels USING INDEX channels_in_use"},
		{inboxNow, "SEARCH deciders USING PRIMARY KEY (user_id=? AND deadline>?)"},
		{burstWaits, "SEARCH n USING"},
		{settledDue, "SEARCH notice_sends USING INDEX notice_sends_channel (channel_id=? AND due_at<?)"},
		{dropSettled, "SEARCH notice_sends USING INDEX notice_sends_channel (channel_id=?)"},
		{inboxWaits, "SEARCH d USING PRIMARY KEY (user_id=? AND deadline>?)"},
		{activeAtDesk, "SEARCH desk_active USING PRIMARY KEY (user_id=?)"},
		{dropSeen, "SEARCH notices USING"},
		{bringForward, "SEARCH notices USING"},
		{deferAll, "SEARCH notices USING"},
		{toldWaiting, "SEARCH n USING"},
		{toldAt, "SEARCH channels USING"},
		{isReviewer, "SEARCH reviewers USING"},
		{unansweredPeople, "SEARCH n USING PRIMARY KEY (response_id=?)"},
		{unansweredPeople, "SEARCH s USING PRIMARY KEY (response_id=?"},
		{unansweredTold, "SEARCH n USING PRIMARY KEY (response_id=?)"},
	} {
		if got := plan(q.query) + "\n"; !strings.Contains(got, q.want) || strings.Contains(got, "SCAN n") || strings.Contains(got, "SCAN r\n") || strings.Contains(got, "SCAN v\n") {
			t.Errorf("%s\nis not served by %s:\n%s", q.query, q.want, got)
		}
	}
	if got := plan(dueSends); !strings.Contains(got, "SEARCH f USING COVERING INDEX notice_sends_channel (channel_id=?)") || !strings.Contains(got, "SEARCH s USING PRIMARY KEY (id=?)") {
		t.Errorf("messages are not read by the channel:\n%s", got)
	}
}
