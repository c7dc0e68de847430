package ledger

import (
	"strings"
	"testing"

	"countersign/models/db/dbtest"
)

// TestTheLedgerIsReadByAnIndex: no page of it reads the whole, whatever it is filtered by.
func TestTheLedgerIsReadByAnIndex(t *testing.T) {
	t.Parallel()
	d := dbtest.Open(t)
	check := func(name, text string, args ...any) {
		t.Helper()
		plan := dbtest.Plan(t, d, text, args...)
		for line := range strings.SplitSeq(plan, "\n") {
			if strings.HasPrefix(line, "SCAN ledger") || strings.HasPrefix(line, "SCAN l ") {
				t.Errorf("%s: %s\n%s\n%s", name, line, text, plan)
			}
		}
	}
	for _, q := range []Query{
		{}, {Who: "u"}, {Action: "a"}, {Conversation: "c"}, {Who: "u", Action: "a"}, {Conversation: "c", Action: "a"}, {Conversation: "c", Who: "u", Action: "a"},
	} {
		for _, rare := range []bool{false, q.Who != "" && q.Action != "" && q.Conversation == ""} {
			page := q.list(nil, 1, 9, rare).SQL()
			check("ledger", page.Text, page.Args...)
		}
	}
	check("actions", actionsQuery)
	check("what is sent", entriesAfter, 1, 9)
	check("a conversation that is sent", ofConversation, "c", 1, 9, 9)
	if plan := dbtest.Plan(t, d, ofConversation, "c", 1, 9, 9); strings.Contains(plan, "TEMP B-TREE") {
		t.Errorf("a stream is sorted for each page:\n%s", plan)
	}
	check("the rest that is sent", ofNoConversation, "", 1, 9, 9)
	check("the first of an action", firstOfAction, "a", 1)
}
