package store

import (
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/db"
)

// TestGrantQueriesAreServedByAnIndex, in its order: what grants are listed, used
// and looked back by. Those of each ask are read with the hot statements.
func TestGrantQueriesAreServedByAnIndex(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	now := time.Unix(0, 0)
	before := db.Cursor{At: now, ID: db.MaxID}
	ofAdmin := s.grants(models.Actor{Kind: models.ActorUser, ID: "u", Admin: true}, before, 50).SQL()
	ofOwner := s.grants(models.Actor{Kind: models.ActorUser, ID: "u"}, before, 50).SQL()
	for _, q := range []struct {
		name, text string
		args       []any
		index      string
		sorts      bool // a page's worth of rows
	}{
		{"grants of all", ofAdmin.Text, ofAdmin.Args, "grants_all ((created_at,id)<(?,?))", true},
		{"grants of an owner", ofOwner.Text, ofOwner.Args, "grants_owner (owner_id=? AND (created_at,id)<(?,?))", true},
		{"one grant", selectGrant, []any{"g"}, "SEARCH g USING PRIMARY KEY (id=?)", false},
		{"past calls", reachQuery, []any{"a", "t", "x", 501}, "responses_tool (agent_id=? AND tool_name=?)", false},
		{"live grants", liveGrants, []any{"{}", "[]", "a", "t", now}, "grants_live (agent_id=? AND tool_name=? AND expires_at>?)", false},
	} {
		plan := explain(t, s, q.text, q.args)
		if !strings.Contains(plan, q.index) {
			t.Errorf("%s: not by %s\n%s", q.name, q.index, plan)
		}
		for line := range strings.SplitSeq(plan, "\n") {
			if strings.HasPrefix(line, "SCAN ") && line != "SCAN k" || strings.Contains(line, "TEMP B-TREE") && !q.sorts {
				t.Errorf("%s: %s\n%s", q.name, line, plan)
			}
		}
	}
}
