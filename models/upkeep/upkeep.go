package upkeep

import (
	"context"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
	"countersign/models/store"
)

// ErrOlder says that a folder's schema is older than the one from which this program goes on.
var ErrOlder = db.ErrOlder

// Upkeep is what an installation needs beside its work: figures, comparing rows with the
// ledger, removing contents, giving space back.
type Upkeep struct {
	store *store.Store
	db    *db.DB
}

// New is the upkeep of an open store.
func New(s *store.Store) *Upkeep { return &Upkeep{store: s, db: s.DB()} }

// tx is one caller's share of a transaction.
type tx struct {
	*db.Tx
	u *Upkeep
}

// write is the only way to change anything: see db.DB.Write.
func (u *Upkeep) write(ctx context.Context, fn func(*tx) error) error {
	return u.db.Write(ctx, func(t *db.Tx) error { return fn(&tx{Tx: t, u: u}) })
}

// record appends an entry to the ledger: see ledger.Ledger.Append.
func (t *tx) record(actor models.Actor, action string, about ledger.Subject, data any) error {
	return t.u.store.Ledger.Append(t.Tx, actor, action, about, data)
}
