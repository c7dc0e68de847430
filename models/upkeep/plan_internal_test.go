package upkeep

import (
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/db/dbtest"
)

// TestAPurgeWalksByKeys: no step sorts, or reads a table from its beginning.
func TestAPurgeWalksByKeys(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	p := &Purge{q: models.PurgeQuery{Before: time.Unix(0, 0), Conversation: "c"}}
	for i := range purgeWalks {
		w := &purgeWalks[i]
		for _, conversation := range []models.ConversationID{"", "c"} {
			text := w.text(conversation)
			if strings.Contains(text, "AND FALSE") {
				continue // of one conversation there is none
			}
			after := w.first(conversation)
			wantWalk(t, w.table, dbtest.Plan(t, d, text, p.args(text, after[0], after[1])...))
		}
		wantWalk(t, w.table+", one", dbtest.Plan(t, d, w.due(), p.args(w.due(), "k", "k")...))
	}
}

func wantWalk(t *testing.T, name, plan string) {
	t.Helper()
	if strings.Contains(plan, "SCAN ") || strings.Contains(plan, "TEMP B-TREE") {
		t.Errorf("%s:\n%s", name, plan)
	}
}

func TestFiguresAreServedByAnIndex(t *testing.T) {
	t.Parallel()
	d, now := dbtest.Open(t), time.Unix(0, 0)
	for name, q := range map[string]struct {
		text string
		args []any
		want string
	}{
		"pending":             {pendingNumbers, []any{now}, "COVERING INDEX responses_pending"}, // no row is read
		"pending by age":      {pendingByAge, []any{now, now, now, now}, "INDEX responses_pending_risk"},
		"stops":               {standingStops, nil, "INDEX stops_standing"},
		"when it was asked":   {requestedAt, []any{1}, "PRIMARY KEY"},
		"of other systems":    {outsideNumbers, nil, "INDEX deliveries_due"},
		"of notifications":    {noticeNumbers, nil, "INDEX channels_in_use"},
		"oldest":              {oldestQuery, []any{now}, "INDEX responses_pending"},
		"that nobody decides": {strandedQuery, []any{now, 21}, "INDEX users_disabled"},
		"who could decide it": {strandedQuery, []any{now, 21}, "SEARCH d USING PRIMARY KEY (user_id=? AND deadline=? AND response_id=?)"},
		"counted by doctor":   {strandedCount, []any{9}, "SEARCH d USING PRIMARY KEY (user_id=? AND deadline=? AND response_id=?)"},
	} {
		plan := dbtest.Plan(t, d, q.text, q.args...)
		if !strings.Contains(plan, q.want) || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s: not by %s\n%s", name, q.want, plan)
		}
	}
}
