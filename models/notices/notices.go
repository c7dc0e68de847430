package notices

import (
	"context"

	"countersign/models/db"
	"countersign/models/store"
)

// Notices are what people and groups are to be told. All methods are safe for concurrent use.
type Notices struct {
	store *store.Store
	db    *db.DB
}

// New is the notices of an open store.
func New(s *store.Store) *Notices { return &Notices{store: s, db: s.DB()} }

// tx is one caller's share of a transaction.
type tx struct {
	*store.Tx
	n *Notices
}

// write is the only way to change anything: see store.Store.Write.
func (n *Notices) write(ctx context.Context, fn func(*tx) error) error {
	return n.store.Write(ctx, func(t *store.Tx) error { return fn(&tx{t, n}) })
}
