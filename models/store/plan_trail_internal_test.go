package store

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
	s := openTemp(t, Options{})
	both := []string{"ledger_owner (owner_id=? AND seq>? AND seq<?)", "ledger_actor (actor_id=? AND seq>? AND seq<?)"}
	acted, conversation := both[1:], []string{"ledger_conversation (conversation_id=? AND seq>? AND seq<?)"}
	for _, c := range []struct {
		name    string
		q       TrailQuery
		indexes []string
	}{
		{"all", TrailQuery{}, both},
		{"what they decided", TrailQuery{Part: TrailDecisions}, acted},
		{"what they rejected", TrailQuery{Part: TrailDecisions, Outcome: TrailOutcome(models.StatusRejected)}, acted},
		{"of an agent", TrailQuery{Agent: "a"}, both},
		{"requests", TrailQuery{Part: TrailRequests}, both},
		{"outcome", TrailQuery{Outcome: TrailOutcome(models.StatusExpired)}, both},
		{"conversation", TrailQuery{Conversation: "c"}, conversation},
		{"everything together", TrailQuery{Conversation: "c", Part: TrailDecisions, Outcome: TrailOutcome(models.StatusApproved), Agent: "a"}, conversation},
	} {
		c.q.Person = "u"
		page := c.q.list(nil, 1, 9, 50).SQL()
		plan := explain(t, s, page.Text, page.Args)
		for _, index := range c.indexes {
			if !strings.Contains(plan, index) {
				t.Errorf("%s: not by %s\n%s", c.name, index, plan)
			}
		}
		noScans(t, c.name, plan)
	}
	for name, text := range map[string]string{"routed": trailRouted, "reasons": trailVotes} {
		noScans(t, name, explain(t, s, text, jsonArgs(text)))
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
