package outside

import (
	"context"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
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

// keyFile seals the keys of upstreams.
func (o *Outside) keyFile() store.KeyFile { return store.KeyFileBeside(o.db.Path()) }

// tx is one caller's share of a transaction.
type tx struct {
	*db.Tx
	o *Outside
}

// write is the only way to change anything: see store.Store.Write.
func (o *Outside) write(ctx context.Context, fn func(*tx) error) error {
	return o.store.Write(ctx, func(t *db.Tx) error { return fn(&tx{Tx: t, o: o}) })
}

// writeAnyway is write for what must go on when the disk is full.
func (o *Outside) writeAnyway(ctx context.Context, fn func(*tx) error) error {
	return o.store.WriteAnyway(ctx, func(t *db.Tx) error { return fn(&tx{Tx: t, o: o}) })
}

// record appends an entry to the ledger: see ledger.Ledger.Append.
func (t *tx) record(actor models.Actor, action string, about ledger.Subject, data any) error {
	return t.o.store.Ledger.Append(t.Tx, actor, action, about, data)
}

// holds, request, settleElsewhere, moveDeadline and askOwn: see store.Store.
func (t *tx) holds(l *models.Lease) error { return t.o.store.HoldsLease(t.Tx, l) }

func (t *tx) request(id models.ResponseID) (*models.Approval, error) {
	return t.o.store.Request(t.Tx, id)
}

func (t *tx) settleElsewhere(a *models.Approval, text string) error {
	return t.o.store.SettleElsewhere(t.Tx, a, text)
}

func (t *tx) moveDeadline(a *models.Approval, until time.Time) error {
	return t.o.store.MoveDeadline(t.Tx, a, until)
}

func (t *tx) askOwn(ask store.OutsideAsk, r models.Response, in models.ConversationID) (*models.Approval, error) {
	return t.o.store.AskOwn(t.Tx, ask, r, in)
}
