package requests

import (
	"regexp"
	"strings"
	"testing"

	"countersign/models"
)

// inOrderOf are walks along an index that end with a LIMIT, and that of the agents.
var inOrderOf = regexp.MustCompile(`(?m)^SCAN (k USING INDEX conversations_(all|archived)|g USING INDEX sqlite_autoindex_agents_\d)$`)

// TestLookUpIsServedByAnIndex: no query reads a table whole but that of agents, which are
// a handful, and what is looked at by text is the latest of an index.
func TestLookUpIsServedByAnIndex(t *testing.T) {
	t.Parallel()
	rs := open(t)
	served := map[string]string{
		requestsByIDQuery: "responses", conversationsByIDQuery: "conversations", agentsQuery(true): "responses_pending_agent", agentsQuery(false): "sqlite_autoindex_agents",
		conversationsQuery(true, false): "conversations_all", conversationsQuery(true, true): "conversations_archived",
		conversationsQuery(false, false): "conversations_owner", conversationsQuery(false, true): "conversations_owner_archived",
	}
	if len(served) != 8 {
		t.Fatalf("%d queries", len(served))
	}
	args := map[string]any{"from": "0", "after": "1", "most": 9, "n": 8}
	for query, index := range served {
		plan := explain(t, rs, query, arguments(query, args))
		noScan(t, query, inOrderOf.ReplaceAllString(plan, ""))
		if !strings.Contains(plan, index) || strings.Contains(query, "conversations k INDEXED") && strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s\nis not read by %s:\n%s", query, index, plan)
		}
	}
	for _, keys := range []string{pendingKeys, deciderKeys, allSettled(models.Actor{Kind: models.ActorUser, ID: "u"}, SettledQuery{})} {
		l := &search{keys: keys, join: `r.id = k.id`, sort: `1`, args: map[string]any{}}
		if strings.Contains(keys, "number") {
			l.join = `r.number = k.number`
		}
		lookUp{end: "12345678"}.narrow(l)
		if !strings.Contains(l.sql(), ":ending") || l.args["ending"] != "12345678" {
			t.Errorf("the end of an id narrows nothing: %s", l.sql())
		}
		noScan(t, keys, explain(t, rs, l.sql(), arguments(l.sql(), map[string]any{"ending": "12345678", "n": 9})))
	}
}
