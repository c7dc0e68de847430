package runs_test

import (
	"strings"
	"sync"
	"testing"

	"countersign/models"
	"countersign/models/runs"
	"countersign/models/storetest"
)

// TestOwnConversation is opened once, whoever comes first, and is where asks go that name
// none (I7).
func TestOwnConversation(t *testing.T) {
	t.Parallel()
	s := storetest.New(t)
	owner := storetest.Reviewer(t, s, "owner@example.com")
	agent, _ := storetest.AgentToken(t, s, owner, "coder")
	other, _ := storetest.AgentToken(t, s, owner, "other")
	before := storetest.LedgerAt(t, s)
	var ids [16]models.ConversationID
	var all sync.WaitGroup
	for i := range ids {
		all.Go(func() {
			id, err := runs.New(s).OwnConversation(t.Context(), agent)
			if err != nil {
				t.Error(err)
			}
			ids[i] = id
		})
	}
	all.Wait()
	for _, id := range ids {
		if id == "" || id != ids[0] {
			t.Errorf("got %q and %q", id, ids[0])
		}
	}
	if entries := storetest.ActionsSince(t, s, before); len(entries) != 1 || !strings.HasPrefix(entries[0], "conversation.opened") {
		t.Errorf("the ledger has %v", entries)
	}
	asked, err := s.Ask(t.Context(), agent, models.AskInput{ToolName: "deploy", Explicit: true})
	if err != nil || asked.ConversationID != ids[0] {
		t.Errorf("asked in %s, %v; want %s", asked.ConversationID, err, ids[0])
	}
	if id, err := runs.New(s).OwnConversation(t.Context(), other); err != nil || id == ids[0] {
		t.Errorf("another agent has %q, %v", id, err)
	}
	for _, actor := range []models.Actor{owner, storetest.Operator(), {}} {
		storetest.Refused(t, storetest.Err(runs.New(s).OwnConversation(t.Context(), actor)), models.CodeForbidden)
	}
}
