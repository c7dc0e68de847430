package webhooks

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
)

// Endpoint is an endpoint as its worker needs it. It holds the keys.
type Endpoint struct {
	models.Webhook

	Position int64
	Head     int64 // number of the ledger's last entry
	Target   models.WebhookTarget
	Fault    error // the target can't be opened; nothing is sent
	Blocks   []models.WebhookBlockRow

	seal []byte // Target, as it is stored
}

// SigningKeys are the keys that sign at a time, the current one first.
func (e *Endpoint) SigningKeys(now time.Time) []string {
	if len(e.Target.Keys) > 1 && (e.OldKeyUntil == nil || !now.Before(*e.OldKeyUntil)) {
		return e.Target.Keys[:1]
	}
	return e.Target.Keys
}

const allBlocks = `SELECT * FROM webhook_blocks WHERE webhook_id = ? ORDER BY since, next_seq`

const anyInUse = `SELECT 1 FROM webhooks` + db.ByWebhooksInUse +
	` WHERE removed_at IS NULL AND paused_at IS NULL LIMIT 1`

// Any reports whether there is an endpoint that events are sent to.
func (w *Webhooks) Any(ctx context.Context) (bool, error) {
	return db.Exists(w.db.Reads().QueryRowContext(ctx, anyInUse))
}

// AnyWants reports whether one that is not paused gets events of a type.
func (w *Webhooks) AnyWants(ctx context.Context, action string) (bool, error) {
	all, err := inUseIn(w.db.Gorm(ctx))
	return slices.ContainsFunc(all, func(h models.Webhook) bool { return h.PausedAt == nil && h.Wants(action) }), err
}

// Endpoints are all that events are sent to, with their targets. They are for the worker.
func (w *Webhooks) Endpoints(ctx context.Context) (out []*Endpoint, err error) {
	err = w.db.Snapshot(ctx, func(ctx context.Context) error {
		out = nil
		g := w.db.Gorm(ctx)
		all, err := inUseIn(g)
		if err != nil {
			return err
		}
		var head int64
		if err := w.db.Reader(ctx).QueryRowContext(ctx, headNow).Scan(&head); err != nil {
			return fmt.Errorf("read head: %w", err)
		}
		for _, h := range all {
			if h.PausedAt != nil {
				continue
			}
			e, err := w.endpoint(ctx, h)
			if err != nil {
				return err
			}
			// A cursor beyond the ledger would keep back all that comes until it is reached.
			e.Head, e.Cursor = head, min(h.Cursor, head)
			if err := g.Raw(allBlocks, h.ID).Scan(&e.Blocks).Error; err != nil {
				return fmt.Errorf("read blocked streams: %w", err)
			}
			out = append(out, e)
		}
		return nil
	})
	return out, err
}

func (w *Webhooks) endpoint(ctx context.Context, h models.Webhook) (*Endpoint, error) {
	var secret models.WebhookSecret
	if err := w.db.Gorm(ctx).Where("id = ?", h.ID).Take(&secret).Error; err != nil {
		return nil, fmt.Errorf("read webhook: %w", err)
	}
	e := &Endpoint{Webhook: h, Position: secret.Position, seal: secret.TargetSealed}
	e.Target, e.Fault = w.open(h.ID, secret.TargetSealed)
	return e, nil
}

const atSending = `SELECT inputs, old_key_until, target_sealed FROM webhooks WHERE id = ? AND position = ? AND removed_at IS NULL AND paused_at IS NULL`

// AtSending is an endpoint as it is at the moment of sending, so that nothing goes to where it
// was before, nor an input once the right to it is gone; nil: it was paused, removed or moved
// meanwhile, and is sent nothing. It is given as it was read last.
func (w *Webhooks) AtSending(ctx context.Context, was *Endpoint) (*Endpoint, error) {
	e := *was
	err := w.db.Reads().QueryRowContext(ctx, atSending, e.ID, e.Position).Scan(&e.Inputs, &e.OldKeyUntil, &e.seal)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read webhook: %w", err)
	}
	if bytes.Equal(e.seal, was.seal) {
		return &e, nil
	}
	if e.Target, err = w.open(e.ID, e.seal); err != nil {
		return nil, err
	}
	return &e, nil
}

// ForTest is an endpoint that an admin tries. For admins and the operator, else CodeForbidden;
// CodeNotFound.
func (w *Webhooks) ForTest(ctx context.Context, actor models.Actor, id models.WebhookID) (out *Endpoint, err error) {
	if err := actor.NeedAdmin(); err != nil {
		return nil, err
	}
	err = w.db.Snapshot(ctx, func(ctx context.Context) error {
		h, err := webhook(w.db.Gorm(ctx), id)
		if err != nil {
			return err
		}
		out, err = w.endpoint(ctx, *h)
		return err
	})
	return out, err
}

// KeepTest keeps the answer to a test.
func (w *Webhooks) KeepTest(ctx context.Context, id models.WebhookID, a models.WebhookAnswer) error {
	return w.write(ctx, func(t *tx) error { return t.keepAnswers(id, []models.WebhookAnswer{a}) })
}

// Progress is what sending to one endpoint has come to.
type Progress struct {
	ID       models.WebhookID
	Position int64 // of the row that it began with: see Endpoint

	Cursor         int64
	LastAcceptedAt time.Time // zero: nothing was accepted
	Blocks         []models.WebhookBlockRow
	Free           []string               // streams that are not blocked any more
	Done           []Passed               // such streams that are done beyond the cursor
	Answers        []models.WebhookAnswer // newest last

	Pause  models.WebhookPause  // empty: it goes on
	Refuse models.WebhookAnswer // the answer that pauses it
}

// Passed says how far a stream is done that is not blocked.
type Passed struct {
	Stream  string
	Through int64
}

const (
	keepCursor = `UPDATE webhooks SET cursor = ?, last_accepted_at = coalesce(?, last_accepted_at) WHERE id = ? AND position = ? AND removed_at IS NULL`
	freeStream = `DELETE FROM webhook_blocks WHERE webhook_id = ? AND stream = ?`
	keepBlock  = `INSERT INTO webhook_blocks (webhook_id, stream, conversation_id, response_id, next_seq, type, since, due_at, attempts, class, status) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	keepAnswer = `INSERT INTO webhook_answers (webhook_id, slot, number, at, seq, type, attempt, ms, class, status, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
)

var (
	orMoveBlock = db.OrReplace(`webhook_id, stream`, `conversation_id`, `response_id`, `next_seq`, `type`, `since`, `due_at`, `attempts`,
		`class`, `status`)
	orDropOldest  = db.OrReplace(`webhook_id, slot`, `number`, `at`, `seq`, `type`, `attempt`, `ms`, `class`, `status`, `body`)
	pauseWebhook  = `UPDATE webhooks SET paused_at = ?, paused_why = ?, paused_by = '', paused_class = ? WHERE id = ? AND paused_at IS NULL`
	answersSoFar  = `SELECT answers FROM webhooks WHERE id = ?`
	countedAnswer = `UPDATE webhooks SET answers = ? WHERE id = ?`
)

// Keep stores what sending to some endpoints has come to, in one transaction. stale are those
// that somebody has moved meanwhile: nothing of them is stored, and they are to be read again.
// Codes: conflict (the lease is lost).
func (w *Webhooks) Keep(ctx context.Context, l *models.Lease, all []Progress) (stale []models.WebhookID, err error) {
	err = w.writeAnyway(ctx, func(t *tx) error {
		stale = nil
		if err := w.opts.Holds(t.Tx, l); err != nil {
			return err
		}
		for i := range all {
			kept, err := t.keep(&all[i])
			if err != nil {
				return err
			}
			if !kept {
				stale = append(stale, all[i].ID)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return stale, nil
}

func (t *tx) keep(p *Progress) (bool, error) {
	var lastAccept *time.Time
	if !p.LastAcceptedAt.IsZero() {
		lastAccept = &p.LastAcceptedAt
	}
	done := t.Gorm().Exec(keepCursor, p.Cursor, lastAccept, p.ID, p.Position)
	if done.Error != nil {
		return false, fmt.Errorf("keep cursor: %w", done.Error)
	}
	if !db.ExactlyOne(done.RowsAffected) {
		return false, nil
	}
	for _, stream := range p.Free {
		if err := t.Gorm().Exec(freeStream, p.ID, stream).Error; err != nil {
			return false, fmt.Errorf("free stream: %w", err)
		}
	}
	blocks := p.Blocks
	for _, s := range p.Done {
		blocks = append(blocks, models.WebhookBlockRow{Stream: s.Stream, NextSeq: s.Through + 1, Since: t.Now, DueAt: t.Now})
	}
	for _, b := range blocks {
		if err := t.Gorm().Exec(keepBlock+orMoveBlock, p.ID, b.Stream, b.ConversationID, b.ResponseID, b.NextSeq, b.Type,
			b.Since, b.DueAt, b.Attempts, b.Class, b.Status).Error; err != nil {
			return false, fmt.Errorf("block stream: %w", err)
		}
	}
	if err := t.keepAnswers(p.ID, p.Answers); err != nil {
		return false, err
	}
	if p.Pause == "" {
		return true, nil
	}
	return true, t.pause(p)
}

func (t *tx) keepAnswers(id models.WebhookID, all []models.WebhookAnswer) error {
	if len(all) == 0 {
		return nil
	}
	var sofar []int64
	if err := t.Gorm().Raw(answersSoFar, id).Scan(&sofar).Error; err != nil || len(sofar) == 0 {
		return err
	}
	number := sofar[0] + int64(len(all))
	all = all[max(0, len(all)-models.WebhookAnswers):]
	for i, a := range all {
		body, err := t.bodyToKeep(&a)
		if err != nil {
			return err
		}
		n := number - int64(len(all)-i)
		if err := t.Gorm().Exec(keepAnswer+orDropOldest, id, n%models.WebhookAnswers, n, a.At, a.Seq, a.Type, a.Attempt,
			a.Took.Milliseconds(), a.Class, a.Status, body).Error; err != nil {
			return fmt.Errorf("keep answer: %w", err)
		}
	}
	if err := t.Gorm().Exec(countedAnswer, number, id).Error; err != nil {
		return fmt.Errorf("count answers: %w", err)
	}
	return nil
}

const removedSince = `SELECT 1 FROM ledger l JOIN responses r ON r.id = l.response_id WHERE l.seq = ? AND r.removed IS NOT NULL`

// bodyToKeep is the body of an answer; nothing if contents of the event were removed since, which an endpoint may have
// repeated in it.
func (t *tx) bodyToKeep(a *models.WebhookAnswer) ([]byte, error) {
	if len(a.Body) == 0 {
		return []byte{}, nil
	}
	gone, err := db.Exists(t.QueryRowContext(context.Background(), removedSince, a.Seq))
	if gone || err != nil {
		return []byte{}, err
	}
	return a.Body, nil
}

// pause has an endpoint sent nothing more, and people told.
func (t *tx) pause(p *Progress) error {
	if err := t.w.ledger.Changes(t.Tx, "webhooks", p.ID); err != nil {
		return err
	}
	paused := t.Gorm().Exec(pauseWebhook, t.Now, p.Pause, p.Refuse.Class, p.ID)
	if paused.Error != nil {
		return fmt.Errorf("pause webhook: %w", paused.Error)
	}
	if !db.ExactlyOne(paused.RowsAffected) {
		return nil // somebody has paused it meanwhile
	}
	h, err := webhook(t.Gorm(), p.ID)
	if err != nil {
		return err
	}
	if t.w.opts.Tell != nil {
		if err := t.w.opts.Tell(t.Tx, h); err != nil {
			return err
		}
	}
	t.Publish(events.Webhooks)
	return t.record(worker, "webhook.paused", h,
		entry{Why: p.Pause, Class: p.Refuse.Class, Status: p.Refuse.Status, Seq: p.Refuse.Seq, Type: p.Refuse.Type})
}
