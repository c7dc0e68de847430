package requests

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/db/dbtest"
	"countersign/models/ledger"
)

// open is the requests of a fresh database.
func open(t *testing.T) *Requests {
	t.Helper()
	d := dbtest.Open(t)
	l, err := ledger.New(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	rs, err := New(t.Context(), d, l)
	if err != nil {
		t.Fatal(err)
	}
	return rs
}

func explain(t *testing.T, rs *Requests, text string, args []any) string {
	t.Helper()
	return dbtest.Plan(t, rs.db, text, args...)
}

func blanks(text string) []any {
	args := make([]any, strings.Count(text, "?"))
	for i := range args {
		args[i] = ""
	}
	return args
}

// TestListsAreServedByAnIndex reads the plan of every query that runs often or over tables that
// grow: no scan of a whole table, no sorting in passing.
func TestListsAreServedByAnIndex(t *testing.T) {
	t.Parallel()
	rs := open(t)
	type query struct {
		name, text string
		args       []any
		sorts      bool // a page's worth of rows is sorted, by intent
	}
	queries := []query{
		{"one request", ApprovalByID, []any{"r"}, false},
		{"a reviewer", IsReviewer, []any{"u", "r"}, false},
		{"one conversation", SelectView + ` WHERE c.id = ?`, []any{"c"}, false},
		{"the decision that holds", StandingVote, []any{"r"}, true},
		{"what was opened", OpenedPartsQuery, []any{"u", "r"}, false},
		{"newest of an agent", newestOfAgent, []any{"a", 10}, false},
		{"waiting of an agent", waitingOfAgent, []any{"a", 0, 10}, false},
		{"calls of an agent by rule", groupedOfAgent, []any{"a", 201}, false},
		{"owner of an agent", ownerOfAgent, []any{"a", "u", false}, false},
	}
	admin := models.Actor{Kind: models.ActorUser, ID: "u", Admin: true}
	person := models.Actor{Kind: models.ActorUser, ID: "u"}
	agent := models.Actor{Kind: models.ActorAgent, ID: "a"}
	now := time.Unix(0, 0)
	for who, actor := range map[string]models.Actor{"admin": admin, "reviewer": person, "agent": agent} {
		for _, status := range []models.Status{"", models.StatusPending, models.StatusExpired, models.StatusApproved, models.StatusRejected} {
			for _, conv := range []models.ConversationID{"", "c"} {
				q := ListQuery{Status: status, Conversation: conv, Cursor: "x"}
				l := rs.requests(actor, q, chunk{}, now)
				keys := l.Keys()
				sorts := who != "agent" && conv == "" || conv != "" && status == models.StatusPending // of one conversation, what waits
				queries = append(queries, query{"list of " + who + " " + string(status), keys.Text, keys.Args, sorts})
				if who == "reviewer" && conv == "" {
					routed := routedTo(l, actor, q, q.filter(now)).Keys
					queries = append(queries, query{"routed, " + string(status), routed.Text, routed.Args, status == models.StatusPending})
				}
				if q.filtersRows() {
					filtered := q.candidates(l, now)
					queries = append(queries, query{"filtered for " + who + " " + string(status), filtered.Text, filtered.Args, true})
				}
			}
		}
	}
	for _, status := range []models.ConversationStatus{"", models.ConversationRunning} {
		for _, owner := range []models.UserID{"", "u"} {
			for _, agent := range []models.AgentID{"", "a"} {
				for _, archived := range []bool{false, true} {
					list := rs.conversations(ConversationQuery{Status: status, Owner: owner, Agent: agent, Archived: archived}, db.Cursor{At: now, ID: db.MaxID}).SQL()
					queries = append(queries, query{"conversations", list.Text, list.Args, true})
				}
			}
		}
	}
	for _, direction := range []string{forwards, backwards} {
		for name, part := range map[string]string{"messages": messagesPart + direction, "budget steps": stepsPart + direction, "responses": responsesPart(direction)} {
			queries = append(queries, query{"history: " + name, part, []any{"c", 1, 51}, false})
		}
	}
	waiting := rs.pendingOfAgent(agent, "x", 50)
	for _, q := range append(queries, query{"turns", turnsQuery, []any{"c", 1, 5}, true},
		query{"pending of an agent", waiting.SQL().Text, waiting.SQL().Args, true}, query{"its keys", waiting.Keys().Text, waiting.Keys().Args, false}) {
		plan := explain(t, rs, q.text, q.args)
		for line := range strings.SplitSeq(plan, "\n") {
			scan := strings.HasPrefix(line, "SCAN ") && !scannable.MatchString(line)
			sorting := strings.Contains(line, "USE TEMP B-TREE") && !q.sorts
			if scan || sorting {
				t.Errorf("%s: %s\n%s\n%s", q.name, line, q.text, plan)
			}
		}
	}
	if len(queries) < 60 {
		t.Errorf("only %d queries were read", len(queries))
	}
}

// scannable are scans of what is small by construction: a page of keys, an index
// walked in order under a LIMIT, the first row of a table, the agents and people of
// one installation.
var scannable = regexp.MustCompile(`^SCAN ([guk]\b|\(?(subquery-)?\d+\)?|CONSTANT ROW|known|.* USING (COVERING )?INDEX (responses_pending|users_enabled_admins|users_disabled|grants_live)|policies|early_results$)`)

func TestOriginsAreReadByKeys(t *testing.T) {
	t.Parallel()
	rs := open(t)
	plan := explain(t, rs, originsQuery, []any{`["r"]`, "u", false, 9})
	for line := range strings.SplitSeq(plan, "\n") {
		if strings.Contains(line, "SCAN") && !strings.Contains(line, "SCAN j ") || strings.Contains(line, "AUTOMATIC") {
			t.Errorf("not served by an index: %s\n%s", line, plan)
		}
	}
	for _, index := range []string{"conversations_run (owner_id=? AND run_id=?)", "(conversation_id=? AND tool_use_id=?)"} {
		if !strings.Contains(plan, index) {
			t.Errorf("not served by %s:\n%s", index, plan)
		}
	}
}

func TestLinkedRowsAreReadByKeys(t *testing.T) {
	t.Parallel()
	plan := explain(t, open(t), linksQuery, []any{"[]", "u", true})
	for line := range strings.SplitSeq(plan, "\n") {
		if strings.HasPrefix(line, "SCAN ") && !strings.HasPrefix(line, "SCAN j VIRTUAL TABLE") || strings.Contains(line, "USE TEMP B-TREE") {
			t.Errorf("not served by a key: %s\n%s", line, plan)
		}
	}
}

func TestRunsAreReadByAnIndex(t *testing.T) {
	t.Parallel()
	rs := open(t)
	for _, q := range []struct {
		name, text, index string
		args              []any
	}{
		{"details", runDetailsQuery, "responses_history (conversation_id=? AND sequence>? AND sequence<?)", []any{"c", 1, 50, 9}},
		{"place in a batch", batchPlaceQuery, "COVERING INDEX responses_batch (conversation_id=? AND batch_id=? AND sequence<?)", []any{"c", "b", 1}},
		{"parent", parentQuery, "conversations_run (owner_id=? AND run_id=?)", []any{"u", "r"}},
		{"children", childrenQuery, "conversations_parent_run (owner_id=? AND parent_run_id=?)", []any{"u", "r", 9}},
	} {
		plan := explain(t, rs, q.text, q.args)
		if !strings.Contains(plan, q.index) {
			t.Errorf("%s is not served by %s:\n%s\n%s", q.name, q.index, q.text, plan)
		}
		for line := range strings.SplitSeq(plan, "\n") {
			if strings.HasPrefix(line, "SCAN ") || strings.Contains(line, "USE TEMP B-TREE") && q.name != "children" { // which are few
				t.Errorf("%s: %s\n%s\n%s", q.name, line, q.text, plan)
			}
		}
	}
}

// What every stream runs at every wake costs what there is to tell, and not what
// is stored: each query walks an index in order and sorts nothing.
func TestFeedsAreServedByAnIndex(t *testing.T) {
	t.Parallel()
	rs := open(t)
	for name, actor := range map[string]models.Actor{
		"agent":    {Kind: models.ActorAgent, ID: "a"},
		"reviewer": {Kind: models.ActorUser, ID: "u"},
		"admin":    {Kind: models.ActorUser, ID: "u", Admin: true},
	} {
		query, args, err := feedQuery(actor, 1, feedPage)
		if err != nil {
			t.Fatal(err)
		}
		plan := explain(t, rs, query, args)
		if !strings.Contains(plan, "SEARCH") || strings.Contains(plan, "SCAN") || strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s: %s\n%s", name, query, plan)
		}
	}
	if _, _, err := feedQuery(models.Actor{Kind: models.ActorSystem}, 1, 1); models.ErrorCode(err) != models.CodeForbidden {
		t.Errorf("a feed for nobody: %v", err)
	}
}
