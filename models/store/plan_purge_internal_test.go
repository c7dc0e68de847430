package store

import (
	"strings"
	"testing"
	"time"

	"countersign/models"
)

// TestAPurgeWalksByKeys: no step sorts, or reads a table from its beginning.
func TestAPurgeWalksByKeys(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	p := &Purge{q: models.PurgeQuery{Before: time.Unix(0, 0), Conversation: "c"}}
	for i := range purgeWalks {
		w := &purgeWalks[i]
		for _, conversation := range []models.ConversationID{"", "c"} {
			text := w.text(conversation)
			if strings.Contains(text, "AND FALSE") {
				continue // of one conversation there is none
			}
			after := w.first(conversation)
			wantWalk(t, w.table, explain(t, s, text, p.args(text, after[0], after[1])))
		}
		wantWalk(t, w.table+", one", explain(t, s, w.due(), p.args(w.due(), "k", "k")))
	}
}

func wantWalk(t *testing.T, name, plan string) {
	t.Helper()
	if strings.Contains(plan, "SCAN ") || strings.Contains(plan, "TEMP B-TREE") {
		t.Errorf("%s:\n%s", name, plan)
	}
}
