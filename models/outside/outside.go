package outside

import (
	"context"

	"countersign/models/db"
	"countersign/models/store"
)

// Outside are other systems whose approvals are decided here. All methods are safe for concurrent
// use.
type Outside struct {
	store *store.Store
	db    *db.DB
}

// New is the other systems of an open store.
func New(s *store.Store) *Outside { return &Outside{store: s, db: s.DB()} }

// tx is one caller's share of a transaction.
type tx struct {
	*store.Tx
	o *Outside
}

// write is the only way to change anything: see store.Store.Write.
func (o *Outside) write(ctx context.Context, fn func(*tx) error) error {
	return o.store.Write(ctx, func(t *store.Tx) error { return fn(&tx{t, o}) })
}

// writeAnyway is write for what must go on when the disk is full.
func (o *Outside) writeAnyway(ctx context.Context, fn func(*tx) error) error {
	return o.store.WriteAnyway(ctx, func(t *store.Tx) error { return fn(&tx{t, o}) })
}
