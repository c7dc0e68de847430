package notices

import (
	"context"

	"countersign/models"
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
	*db.Tx
	n *Notices
}

// write is the only way to change anything: see db.DB.Write.
func (n *Notices) write(ctx context.Context, fn func(*tx) error) error {
	return n.db.Write(ctx, func(t *db.Tx) error { return fn(&tx{Tx: t, n: n}) })
}

// holds, request, settingsOf, whoMayApprove and queue: see store.Store.
func (t *tx) holds(l *models.Lease) error { return t.n.store.HoldsLease(t.Tx, l) }

func (t *tx) request(id models.ResponseID) (*models.Approval, error) {
	return t.n.store.Request(t.Tx, id)
}

func (t *tx) settingsOf(recipient models.RecipientID) (*models.NotificationSettings, error) {
	return t.n.store.NotificationSettings(t.Tx, recipient)
}

func (t *tx) whoMayApprove(a *models.Approval) ([]models.User, error) {
	return t.n.store.WhoMayApprove(t.Tx, a)
}

func (t *tx) queue(c *models.Channel, kind models.NoticeKind, request models.ResponseID, about models.ChannelID) error {
	return t.n.store.QueueNotice(t.Tx, c, kind, request, about)
}
