package store

import (
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/upkeep"
)

// TestAPurgeWalksByKeys: no step sorts, or reads a table from its beginning.
func TestAPurgeWalksByKeys(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	p := &upkeep.Purge{Q: models.PurgeQuery{Before: time.Unix(0, 0), Conversation: "c"}}
	for i := range upkeep.PurgeWalks {
		w := &upkeep.PurgeWalks[i]
		for _, conversation := range []models.ConversationID{"", "c"} {
			text := w.Text(conversation)
			if strings.Contains(text, "AND FALSE") {
				continue // of one conversation there is none
			}
			after := w.First(conversation)
			wantWalk(t, w.Table, explain(t, s, text, p.Args(text, after[0], after[1])))
		}
		wantWalk(t, w.Table+", one", explain(t, s, w.Due(), p.Args(w.Due(), "k", "k")))
	}
}

func wantWalk(t *testing.T, name, plan string) {
	t.Helper()
	if strings.Contains(plan, "SCAN ") || strings.Contains(plan, "TEMP B-TREE") {
		t.Errorf("%s:\n%s", name, plan)
	}
}
