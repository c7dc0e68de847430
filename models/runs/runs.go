package runs

import (
	"context"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/requests"
	"countersign/models/store"
)

// Runs are conversations as they go on: what agents report and people say in them, and the turns of
// the built-in agent. All methods are safe for concurrent use.
type Runs struct {
	store *store.Store
	db    *db.DB
}

// New is the runs of an open store.
func New(s *store.Store) *Runs { return &Runs{store: s, db: s.DB()} }

// tx is one caller's share of a transaction.
type tx struct {
	*store.Tx

	runs *Runs
}

// write is the only way to change anything: see store.Store.Write.
func (r *Runs) write(ctx context.Context, fn func(*tx) error) error {
	return r.store.Write(ctx, func(t *store.Tx) error { return fn(&tx{t, r}) })
}

// writeAnyway is write for what must go on when the disk is full.
func (r *Runs) writeAnyway(ctx context.Context, fn func(*tx) error) error {
	return r.store.WriteAnyway(ctx, func(t *store.Tx) error { return fn(&tx{t, r}) })
}

// changed tells those who look at a conversation.
func (t *tx) changed(id models.ConversationID) { t.Publish(events.Conversation(string(id))) }

// owned reads a conversation for a person who may write into it: its owner, or
// an admin. CodeNotFound for all others.
func (t *tx) owned(actor models.Actor, id models.ConversationID) (*models.Conversation, error) {
	c, err := t.Conversation(id)
	if err != nil {
		return nil, err
	}
	if c == nil || !requests.Owns(actor, c) {
		return nil, models.NotFound("conversation")
	}
	return c, nil
}
