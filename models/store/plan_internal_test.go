package store

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/db/dbtest"
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
		query{"pending in a conversation", pendingInConversation, []any{"c"}, false},
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
