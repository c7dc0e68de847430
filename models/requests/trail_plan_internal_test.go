package requests

import (
	"regexp"
	"strings"
	"testing"

	"countersign/models"
)

// TestATrailIsServedByAnIndex, in its order, whatever narrows it: its cost follows
// what the person did and not how long the ledger is.
func TestATrailIsServedByAnIndex(t *testing.T) {
	t.Parallel()
	rs := open(t)
	const byKey, tail = "SEARCH ledger_keys USING PRIMARY KEY (kind=? AND key=? AND seq>? AND seq<?)", "SEARCH ledger USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"
	for _, c := range []struct {
		name string
		q    TrailQuery
		keys int
	}{
		{"all", TrailQuery{}, 2},
		{"what they decided", TrailQuery{Part: TrailDecisions}, 1},
		{"what they rejected", TrailQuery{Part: TrailDecisions, Outcome: TrailOutcome(models.StatusRejected)}, 1},
		{"of an agent", TrailQuery{Agent: "a"}, 2},
		{"requests", TrailQuery{Part: TrailRequests}, 2},
		{"outcome", TrailQuery{Outcome: TrailOutcome(models.StatusExpired)}, 2},
		{"conversation", TrailQuery{Conversation: "c"}, 1},
		{"text", TrailQuery{Text: "t"}, 2},
		{"what they decided with a text", TrailQuery{Part: TrailDecisions, Text: "t"}, 1},
		{"everything together", TrailQuery{Conversation: "c", Part: TrailDecisions, Outcome: TrailOutcome(models.StatusApproved), Agent: "a"}, 1},
	} {
		c.q.Person = "u"
		page := c.q.list(nil, models.Actor{Kind: models.ActorUser, ID: "u"}, 1, 9, 50).SQL()
		plan := explain(t, rs, page.Text, page.Args)
		if n := strings.Count(plan, byKey); n != c.keys || strings.Count(plan, tail) != 1 {
			t.Errorf("%s: by %d keys, want %d, and the tail\n%s", c.name, n, c.keys, plan)
		}
		noScans(t, c.name, plan)
	}
	for name, text := range map[string]string{"routed": trailRoutes, "reasons": trailVotes} {
		noScans(t, name, explain(t, rs, text, jsonArgs(text)))
	}
}

// noScans allows to read what is a page's worth: the ids and the keys.
func noScans(t *testing.T, name, plan string) {
	t.Helper()
	for line := range strings.SplitSeq(plan, "\n") {
		if strings.HasPrefix(line, "SCAN ") && !pageful.MatchString(line) {
			t.Errorf("%s: %s\n%s", name, line, plan)
		}
	}
}

var pageful = regexp.MustCompile(`^SCAN (j|json_each|\(subquery-\d+\)|\d+|\(?subquery \d+\)?)\b.*|^SCAN \(subquery-\d+\)$`)

// jsonArgs are arguments of which each reads as a list.
func jsonArgs(text string) []any {
	args := blanks(text)
	for i := range args {
		args[i] = "[]"
	}
	return args
}
