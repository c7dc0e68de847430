package webhooks

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"gorm.io/gorm"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
)

// Options are what Webhooks are opened with.
type Options struct {
	// Seal and Unseal encrypt what must be used again and never shown, tied to what it is about.
	Seal   func(secret, about string) ([]byte, error)
	Unseal func(ciphertext []byte, about string) (string, error)
	// Check refuses, naming the field, an address that nothing would be sent to. nil: it is
	// judged at each sending only.
	Check func(ctx context.Context, field, url string) error
	// Holds refuses, within the transaction, a process that has lost a lease.
	Holds func(*db.Tx, *models.Lease) error
	// Tell has people told, within the transaction, that an endpoint was paused.
	Tell func(*db.Tx, *models.Webhook) error
}

// Webhooks are the endpoints that get the ledger's events. All methods are safe for
// concurrent use.
type Webhooks struct {
	db     *db.DB
	ledger *ledger.Ledger
	opts   Options
}

// New is the webhooks of a database.
func New(d *db.DB, l *ledger.Ledger, opts Options) *Webhooks {
	return &Webhooks{db: d, ledger: l, opts: opts}
}

// worker is the actor of changes without a person.
var worker = models.System("webhooks")

// tx is one caller's share of a transaction.
type tx struct {
	*db.Tx
	w *Webhooks
}

func (w *Webhooks) write(ctx context.Context, fn func(*tx) error) error {
	return w.db.Write(ctx, func(t *db.Tx) error { return fn(&tx{t, w}) })
}

// writeAnyway is write for what must go on when the disk is full.
func (w *Webhooks) writeAnyway(ctx context.Context, fn func(*tx) error) error {
	return w.db.WriteAnyway(ctx, func(t *db.Tx) error { return fn(&tx{t, w}) })
}

// entry is what the ledger keeps of a change to an endpoint: of its address digests.
type entry struct {
	Webhook models.WebhookID    `json:"webhook"`
	Name    string              `json:"name"`
	Label   string              `json:"label_digest,omitzero"`
	Types   []string            `json:"types,omitempty"` // with Label; none: all
	Inputs  bool                `json:"inputs,omitzero"` // with Label
	Why     models.WebhookPause `json:"why,omitzero"`
	Class   models.SendClass    `json:"class,omitzero"`
	Status  int                 `json:"http_status,omitzero"` // "status" is what a request has
	Seq     int64               `json:"seq,omitzero"`
	Type    string              `json:"type,omitzero"`
	Reason  string              `json:"reason_digest,omitzero"`
	Skip    string              `json:"skip,omitzero"` // id of the dead letter
}

// described is an entry that proves what an endpoint is.
func described(h *models.Webhook) entry {
	return entry{Webhook: h.ID, Name: h.Name, Label: models.DigestOfText(h.Label), Types: h.Types, Inputs: h.Inputs}
}

func (t *tx) record(actor models.Actor, action string, h *models.Webhook, e entry) error {
	e.Webhook, e.Name = h.ID, h.Name
	t.Publish(events.Webhooks)
	return t.w.ledger.Append(t.Tx, actor, action, ledger.Subject{Owner: h.OwnerID}, e)
}

// webhook is one in use; CodeNotFound.
func webhook(pool *gorm.DB, id models.WebhookID) (*models.Webhook, error) {
	var h models.Webhook
	err := pool.Where("id = ? AND removed_at IS NULL", id).Take(&h).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, models.NotFound("webhook")
	}
	if err != nil {
		return nil, fmt.Errorf("read webhook: %w", err)
	}
	return &h, readTypes(&h)
}

// inUseIn are all endpoints, by name.
func inUseIn(pool *gorm.DB) (all []models.Webhook, err error) {
	if err := pool.Raw(inUse).Scan(&all).Error; err != nil {
		return nil, fmt.Errorf("list webhooks: %w", err)
	}
	for i := range all {
		if err := readTypes(&all[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func readTypes(h *models.Webhook) error {
	if err := json.Unmarshal([]byte(h.TypesJSON), &h.Types); err != nil {
		return fmt.Errorf("read types of webhook %s: %w", h.ID, err)
	}
	return nil
}

// change runs a change of one endpoint for an admin.
func (w *Webhooks) change(
	ctx context.Context, actor models.Actor, id models.WebhookID, fn func(*tx, *models.Webhook) error,
) error {
	if err := actor.NeedAdmin(); err != nil {
		return err
	}
	return w.write(ctx, changing(id, fn))
}

func changing(id models.WebhookID, fn func(*tx, *models.Webhook) error) func(*tx) error {
	return func(t *tx) error {
		h, err := webhook(t.Gorm(), id)
		if err != nil {
			return err
		}
		return fn(t, h)
	}
}

// set changes columns of an endpoint in use.
func (t *tx) set(h *models.Webhook, columns map[string]any) error {
	if err := t.w.ledger.Changes(t.Tx, "webhooks", h.ID); err != nil {
		return err
	}
	if err := t.Gorm().Table("webhooks").Where("id = ? AND removed_at IS NULL",
		h.ID).UpdateColumns(columns).Error; err != nil {
		return fmt.Errorf("change webhook: %w", err)
	}
	return nil
}

// moved is the column that tells the worker to read cursor and blocks again.
func moved(columns map[string]any) map[string]any {
	columns["position"] = gorm.Expr("position + 1")
	return columns
}
