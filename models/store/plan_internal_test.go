package store

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/db/dbtest"
	"countersign/models/requests"
)

// TestHotQueriesAreServedByAnIndex reads the plan of every query that runs often
// or over tables that grow: no scan of a whole table, no sorting in passing.
func TestHotQueriesAreServedByAnIndex(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	type query struct {
		name, text string
		args       []any
		sorts      bool // a page's worth of rows is sorted, by intent
	}
	var queries []query
	for _, texts := range []map[string]string{named(new(hotWriting).texts()), named(s.reads.texts())} {
		for name, text := range texts {
			queries = append(queries, query{name: name, text: text, args: blanks(text)})
		}
	}
	admin := models.Actor{Kind: models.ActorUser, ID: "u", Admin: true}
	person := models.Actor{Kind: models.ActorUser, ID: "u"}
	agent := models.Actor{Kind: models.ActorAgent, ID: "a"}
	now := time.Unix(0, 0)
	for who, actor := range map[string]models.Actor{"admin": admin, "reviewer": person, "agent": agent} {
		for _, session := range []string{"", "run", "0190f5a0-0000-7000-8000-000000000001"} {
			for _, q := range invocationQueries(actor, "tu", session) {
				queries = append(queries, query{"invocation of " + who + " " + session, q.Text, q.Args, false})
			}
			for _, conversations := range sessions(actor, session) {
				q := s.pendingIn(actor, conversations, db.Cursor{At: now, ID: db.MaxID}, 50).SQL()
				queries = append(queries, query{"pending in a session of " + who + " " + session, q.Text, q.Args, true})
			}
		}
	}
	queries = append(
		queries, query{"energy by responses", spentByResponses, []any{"c", 3, 1}, true}, query{"energy by turns", spentByTurns, []any{"c", 3, 1}, true},
		query{"budget by steps", budgetBySteps, []any{"c", 3, 1}, false}, query{"energy by tool", energyByTool, []any{"c", 1, 9}, true},
		query{"status", statusQuery, []any{"c"}, false},
		query{"last response", lastResponse, nil, false},
		query{"a day's first response", responseFrom, []any{1}, false}, query{"what a stop of all cancels", cancelsOfAll, []any{now, 9}, false},
	)
	for _, q := range queries {
		plan := explain(t, s, q.text, q.args)
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

func explain(t *testing.T, s *Store, text string, args []any) string {
	t.Helper()
	return dbtest.Plan(t, s.db, text, args...)
}

func named[K comparable](texts map[K]string) map[string]string {
	out := make(map[string]string, len(texts))
	for _, text := range texts {
		name, _, _ := strings.Cut(text, "\n")
		out[name] = text
	}
	return out
}

func blanks(text string) []any {
	args := make([]any, strings.Count(text, "?"))
	for i := range args {
		args[i] = ""
	}
	return args
}

// TestConversationQueriesAreServedByAnIndex is the same for what the pages of
// conversations and budgets read: no scan of a whole table. What is spent is
// grouped from one conversation's own rows.
func TestConversationQueriesAreServedByAnIndex(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	type query struct {
		name, text string
		args       []any
		groups     bool
	}
	queries := []query{
		{"spent by responses", spentByResponses, []any{"c", 5, 1}, true},
		{"spent by turns", spentByTurns, []any{"c", 5, 1}, true},
		{"budget by steps", budgetBySteps, []any{"c", 5, 1}, false},
		{"energy by tool", energyByTool, []any{"c", 1, 5}, true},
		{"spent from an entry on", spentFrom, []any{"c", 1}, false},
		{"the budget before an entry", budgetBefore, []any{"c", 1}, false},
	}
	for _, q := range queries {
		plan := explain(t, s, q.text, q.args)
		for line := range strings.SplitSeq(plan, "\n") {
			scan := strings.HasPrefix(line, "SCAN ") && !strings.HasPrefix(line, "SCAN k") && !strings.Contains(line, "USING INDEX conversations_") && !strings.Contains(line, "USING COVERING INDEX conversations_") && !strings.HasPrefix(line, "SCAN (") &&
				line != "SCAN w" && line != "SCAN CONSTANT ROW" && !strings.Contains(line, "USING COVERING INDEX responses_pending_conversation") // the first that waits, and those it leads to
			sorting := strings.Contains(line, "USE TEMP B-TREE") && !q.groups
			if scan || sorting {
				t.Errorf("%s: %s\n%s\n%s", q.name, line, q.text, plan)
			}
		}
		if !strings.Contains(plan, "INDEX") && !strings.Contains(plan, "PRIMARY KEY") {
			t.Errorf("%s: no index serves it:\n%s", q.name, plan)
		}
	}
}

// What holds a verdict, moves a deadline or keeps a note is found by its key,
// however many requests wait.
func TestWhatPeopleDoBesideDecidingIsServedByAnIndex(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	now := time.Unix(0, 0)
	for query, want := range map[string]string{
		nextRelease: "responses_held", releasable: "responses_held (held_until>? AND held_until<?)", unhold: "(id=?)", keepUndo: "(id=?)",
		hasVoted: "votes_response", standingVotes: "votes_waiting", setStranded: "(id=?)", replaceVote: "(id=?)", waitAgain: "(id=?)", ownersOf: "(id=?)", requests.StandingVote: "votes_response", withdrawnVotes: "votes_response", saidWith: "(conversation_id=? AND sequence>?)",
		setClock: "(id=?)", movesDeciders: "deciders USING PRIMARY KEY (user_id=? AND deadline=? AND response_id=?)", listDeciders: "deciders USING PRIMARY KEY (user_id=? AND deadline=? AND response_id=?)", settleReviewers: "reviewers_response",
		notesOf: "notes_response", lastNote: "notes_response", requests.OpenedPartsQuery: "(user_id=? AND response_id=?)",
	} {
		args := blanks(query)
		if query == releasable {
			args = []any{now, 9}
		}
		plan := explain(t, s, query, args)
		if !strings.Contains(plan, want) {
			t.Errorf("%s\nis not served by %s:\n%s", query, want, plan)
		}
		for line := range strings.SplitSeq(plan, "\n") {
			scan := strings.HasPrefix(line, "SCAN ") && !strings.Contains(line, "responses_held") && !strings.HasPrefix(line, "SCAN (") && line != "SCAN CONSTANT ROW"
			sorts := strings.Contains(line, "B-TREE") && query != hasVoted && query != standingVotes && query != ownersOf && query != requests.StandingVote // two or three votes
			if scan || sorts {
				t.Errorf("%s\n%s", query, plan)
			}
		}
	}
}

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

// TestQueriesOfCallsAreServedByAnIndex is the same for what looks for another call.
func TestQueriesOfCallsAreServedByAnIndex(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	for _, q := range []struct {
		name, text, index string
		args              []any
	}{
		{"the same call by another way", byPendingDigest, "responses_pending_agent (agent_id=?)", []any{"a", "d", time.Unix(0, 0)}},
		{"the same call with a key", keyedPendingDigest, "responses_pending_digest (agent_id=? AND digest=?)", []any{"a", "d"}},
		{"the rest of a batch", openAfter, "responses_batch (conversation_id=? AND batch_id=? AND sequence>?)", []any{"c", "b", 1}},
	} {
		plan := explain(t, s, q.text, q.args)
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

// TestOutsideQueriesAreServedByAnIndex reads the plans of what each poll and each
// verdict to tell asks for: their cost follows what is pending, not what is kept.
func TestOutsideQueriesAreServedByAnIndex(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	for _, q := range []struct {
		name, text string
		args       []any
		sorts      bool // a few rows are sorted, by intent
	}{
		{"call that is linked", linkedPlace, []any{"u", "c", "r"}, false},
		{"held verdict", requests.StandingVote, []any{"r"}, true},
		{"withdrawn verdicts", withdrawnVotes, []any{1, "r"}, false},
	} {
		plan := explain(t, s, q.text, q.args)
		for line := range strings.SplitSeq(plan, "\n") {
			// Indexes of what is not done yet, the upstreams of one installation, and the ids that were given.
			few := strings.HasSuffix(line, "USING INDEX deliveries_due") || strings.HasSuffix(line, "USING INDEX upstreams_due") ||
				strings.HasSuffix(line, "INDEX outside_approvals_wanted") || strings.HasPrefix(line, "SCAN j VIRTUAL TABLE")
			if strings.HasPrefix(line, "SCAN ") && !few && !scannable.MatchString(line) || strings.Contains(line, "USE TEMP B-TREE") && !q.sorts {
				t.Errorf("%s: %s\n%s\n%s", q.name, line, q.text, plan)
			}
		}
	}
}

func TestNamesOfReviewersAreReadByKeys(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	for _, query := range []string{namesQuery, upstreamNamesQuery} {
		plan := explain(t, s, query, []any{`["u"]`})
		if strings.Contains(plan, "SCAN u") || !strings.Contains(plan, "(id=?)") {
			t.Errorf("not served by a key: %s\n%s", query, plan)
		}
	}
}

// What a list says of its agents is read by indexes alone, and of the days without their rows.
func TestFiguresOfAgentsAreServedByAnIndex(t *testing.T) {
	t.Parallel()
	s := openTemp(t, Options{})
	plan := explain(t, s, agentFigures, blanks(agentFigures))
	for want, times := range map[string]int{
		"SEARCH a USING PRIMARY KEY (id=?)":                                                          1,
		"SEARCH responses USING INDEX responses_agent (agent_id=?)":                                  1,
		"SEARCH responses USING INDEX responses_pending_agent (agent_id=?)":                          2,
		"SEARCH responses USING COVERING INDEX responses_agent (agent_id=? AND rowid>? AND rowid<?)": 7,
	} {
		if n := strings.Count(plan, want); n != times {
			t.Errorf("%d times %s, want %d:\n%s", n, want, times, plan)
		}
	}
	if strings.Contains(plan, "SCAN responses") || strings.Contains(plan, "TEMP B-TREE") {
		t.Errorf("reads a whole table, or sorts:\n%s", plan)
	}
}
