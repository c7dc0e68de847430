package requests

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"countersign/models"
)

// TestDeskListsAreServedByAnIndex reads the plans of the inbox and of the history
// in all their shapes: keys come from the index that is named, in its order, and
// no table is read whole.
func TestDeskListsAreServedByAnIndex(t *testing.T) {
	t.Parallel()
	rs := open(t)
	admin := models.Actor{Kind: models.ActorUser, ID: "u", Admin: true}
	person := models.Actor{Kind: models.ActorUser, ID: "u"}
	now := time.Unix(0, 0)
	shapes := map[string]string{ // by the order that their keys are read in: in full, or a page's worth is sorted
		pendingKeys: "responses_pending_risk (<expr>=? AND (approval_timeout_at,id)>(?,?))", conversationKeys: "responses_pending_conversation", deciderKeys: "PRIMARY KEY",
		agentByAge: "responses_pending_agent", togetherKeys: "responses_together",
	}
	sorted := map[string]string{
		agentKeys: "responses_pending_agent", conversationByAge: "responses_pending_conversation", allByAge: "responses_pending_agent",
		togetherByAge: "responses_together", togetherByRisk: "responses_together",
		readsByDeadline: "reviewers_settled", readsByRisk: "reviewers_settled",
		mineByAge: "responses_pending_agent", routedByAge: "reviewers_settled", bothByAge: "reviewers_settled",
		allByRisk: "responses_pending_risk (<expr>=? AND (approval_timeout_at,id)>(?,?))", agentByRisk: "responses_pending_agent", conversationByRisk: "responses_pending_conversation", deciderByRisk: "USING PRIMARY KEY (user_id=?)",
	}
	for _, actor := range []models.Actor{admin, person} {
		for _, whose := range []Whose{WhoseAll, WhoseMine, WhoseRouted} {
			for _, cause := range []models.Cause{"", models.CauseReviewer, models.CauseGrant} {
				text := allSettled(actor, SettledQuery{Whose: whose, Cause: cause})
				index := "_settled"
				if cause == models.CauseGrant && whose != WhoseRouted {
					index = "responses_let_through"
				}
				if strings.Contains(text, "UNION") || strings.Contains(text, "reviewers") { // of rows at the very same time
					sorted[text] = index
				} else {
					shapes[text] = index
				}
			}
		}
	}
	for index, where := range smallSets {
		sorted[keysOfSettled(index, where+` AND (`+wasSettled+` OR `+wasLetThrough+`)`, settledAt)] = index
	}
	args := map[string]any{"at": now, "from": now, "id": "", "number": 1, "rank": -1, "n": 51}
	for _, of := range []map[string]string{shapes, sorted} {
		for keys, index := range of {
			plan := explain(t, rs, keys, arguments(keys, args))
			if !strings.Contains(plan, index) {
				t.Errorf("%s\nis not read by %s:\n%s", keys, index, plan)
			}
			if _, ok := shapes[keys]; ok && strings.Contains(plan, "TEMP B-TREE") {
				t.Errorf("%s\nis not in the order of an index:\n%s", keys, plan)
			}
			noScan(t, keys, plan)
			for _, l := range []search{{}, {text: true}} {
				l.keys, l.join, l.sort, l.pick = keys, `r.number = k.number`, `1`, settledPicks+asideOut
				if !strings.Contains(keys, "number") {
					l.join = `r.id = k.id`
				}
				noScan(t, keys, explain(t, rs, l.sql(), arguments(l.sql(), args)))
			}
		}
	}
	queries := []string{togetherOf, strings.Replace(floodOf, ":agent", "'a'", 1), earlierQuery, latestQuery(rejectedKeys), latestQuery(reaskedKeys), smallAgent, waitingFor, readsSome, decides, keysQuery(briefColumns), keysQuery(approvalColumns), reasksQuery}
	for index := range smallSets {
		queries = append(queries, smallSet(index))
	}
	for _, actor := range []models.Actor{admin, person} {
		for _, conv := range []models.ConversationID{"", "c"} {
			text, _ := countQuery(actor, conv, now)
			queries = append(queries, text)
		}
	}
	for _, text := range queries {
		args := blanks(text)
		if strings.Contains(text, "?1") {
			args = args[:3]
		}
		if strings.Contains(text, ":n") { // named
			args = arguments(text, map[string]any{"n": 9})
		}
		plan := explain(t, rs, text, args)
		noScan(t, text, plan)
		if strings.Contains(plan, "TEMP B-TREE") {
			t.Errorf("%s\n%s", text, plan)
		}
	}
	if n := len(shapes) + len(sorted) + len(queries); n < 30 {
		t.Errorf("only %d queries were read", n)
	}
}

// handful are scans of what is small by construction: a page of keys, the agents of
// one installation; of the index of what waits, as far as is counted; and of what waits together.
var handful = regexp.MustCompile(`^SCAN (k|g|p USING INDEX responses_together|r USING COVERING INDEX responses_pending_risk|jn? VIRTUAL TABLE INDEX.*|\(?(subquery-)?\d+\)?|\(join-\d+\)|CONSTANT ROW)$`)

func noScan(t *testing.T, text, plan string) {
	t.Helper()
	for line := range strings.SplitSeq(plan, "\n") {
		if strings.HasPrefix(line, "SCAN ") && !handful.MatchString(line) {
			t.Error(fmt.Sprintln(line, "\n", text, "\n", plan))
		}
	}
}
