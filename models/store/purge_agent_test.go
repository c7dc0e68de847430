package store_test

import (
	"testing"
	"time"

	"countersign/models"
	"countersign/models/storetest"
)

// TestTheBuiltInAgentIsNotDisturbed: while it is at work, or about to be, nothing
// of its conversation is removed; afterwards its memory says what was.
func TestTheBuiltInAgentIsNotDisturbed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	said, err := b.Say(t.Context(), b.Owner, models.MessageInput{Content: "A secret.", EnergyBudget: new(int64(100))})
	storetest.Must(t, err)
	conv := said.Conversation.ID
	db := storetest.Beside(t, b.Store)
	_, err = db.ExecContext(t.Context(), `INSERT INTO turns (conversation_id, sequence, at, model, said) VALUES (?, 50, ?, 'm', ?)`,
		conv, b.Clock.Now(), `{"content":"A secret.","calls":[{"id":"c","name":"respond","arguments":"A secret."}],"read":1}`)
	storetest.Must(t, err)
	b.Clock.Step(time.Minute)
	q := models.PurgeQuery{Before: b.Clock.Now()}
	if got := storetest.Purge(t, b.Store, q); got.Removed["messages"]+got.Removed["turns"]+got.Removed["conversations"] != 0 {
		t.Errorf("while there is something to do: %+v", got.Removed)
	}
	_, err = db.ExecContext(t.Context(), `UPDATE agent_inbox SET ready_at = NULL`)
	storetest.Must(t, err)
	if got := storetest.Purge(t, b.Store, q); got.Removed["messages"] != 1 || got.Removed["turns"] != 1 {
		t.Errorf("at rest: %+v", got.Removed)
	}
	if got := storetest.Scalar[string](t, b.Store, `SELECT said FROM turns`); got != `{"content":"removed on 2026-03-02, by tester","read":1}` {
		t.Errorf("its memory is %s", got)
	}
	if got := storetest.Purge(t, b.Store, q); got.Rows() != 0 {
		t.Errorf("a second time: %+v", got.Removed)
	}
	storetest.CheckRows(t, b.Store)
}
