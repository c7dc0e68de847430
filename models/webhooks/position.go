package webhooks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
)

const (
	// A row without a type blocks nothing: it says that a stream is done beyond the cursor.
	blockAt       = `SELECT * FROM webhook_blocks WHERE webhook_id = ? AND next_seq = ? AND type <> ''`
	dropBlocks    = `DELETE FROM webhook_blocks WHERE webhook_id = ? AND next_seq >= ?`
	headOfEntries = `SELECT coalesce(max(seq), 0) FROM ledger`
)

// streamPage is how many entries of a stream are read at a time to find the next that is wanted.
const streamPage = 64

// Following are the next entries of a stream that an endpoint gets, after a number and not
// after another: some of them, in order; none: there are none.
func (w *Webhooks) Following(
	ctx context.Context, h *models.Webhook, s ledger.Stream, after, upTo int64,
) ([]models.Entry, error) {
	return w.following(ctx, w.db.Reads(), h, s, after, upTo)
}

func (w *Webhooks) following(
	ctx context.Context, pool db.Querier, h *models.Webhook, s ledger.Stream, after, upTo int64,
) ([]models.Entry, error) {
	for {
		page, err := w.ledger.InStream(ctx, pool, s, after, upTo, streamPage)
		if err != nil || len(page) == 0 {
			return nil, err
		}
		after = page[len(page)-1].Seq
		page = slices.DeleteFunc(page, func(e models.Entry) bool { return !h.Wants(e.Action) })
		if len(page) > 0 {
			return page, nil
		}
	}
}

// streamOfBlock is the stream that a row blocks.
func streamOfBlock(b *models.WebhookBlockRow) ledger.Stream {
	if b.ConversationID != "" {
		return ledger.Stream{Conversation: b.ConversationID}
	}
	return ledger.Stream{Response: models.ResponseID(b.Stream)}
}

// Skip gives up the event that blocks a stream, for a reason: it is never sent, unless it is
// replayed, and is kept as a dead letter. The rest of the stream follows. For admins and the
// operator, else CodeForbidden. Codes: invalid (reason), not_found, conflict (the event does
// not block a stream any more).
func (w *Webhooks) Skip(ctx context.Context, actor models.Actor, id models.WebhookID, seq int64, reason string) error {
	if err := actor.NeedAdmin(); err != nil {
		return err
	}
	reason = strings.TrimSpace(reason)
	if reason == "" {
		return models.Invalid("reason", "must say why")
	}
	if err := models.CheckText("reason", reason, models.MaxSkipReason); err != nil {
		return err
	}
	return w.write(ctx, changing(id, func(t *tx, h *models.Webhook) error {
		var b models.WebhookBlockRow
		found := t.Gorm().Raw(blockAt, id, seq).Scan(&b)
		if found.Error == nil && !db.ExactlyOne(found.RowsAffected) {
			return models.Errorf(models.CodeConflict, "This event does not block anything any more.")
		}
		if found.Error != nil {
			return fmt.Errorf("read blocked event: %w", found.Error)
		}
		skip := &models.WebhookSkipRow{
			ID: models.NewID[string](), WebhookID: id, Seq: seq, Type: b.Type, At: t.Now, ByID: actor.UserID(),
			ByName: actor.Name,
			Reason: reason, Class: b.Class, Status: b.Status,
		}
		if err := t.Gorm().Create(skip).Error; err != nil {
			return fmt.Errorf("store dead letter: %w", err)
		}
		t.w.ledger.Adds(t.Tx, "webhook_skipped", skip.ID)
		if err := t.unblock(h, &b); err != nil {
			return err
		}
		if err := t.set(h, moved(map[string]any{})); err != nil {
			return err
		}
		return t.record(actor, "webhook.skipped", h, entry{
			Seq: seq, Type: b.Type, Skip: skip.ID, Reason: models.DigestOfText(reason), Class: b.Class, Status: b.Status,
		})
	}))
}

// unblock has a blocked stream go on behind its event: with the next that is before the cursor,
// as new; if there is none, the stream is not blocked any more.
func (t *tx) unblock(h *models.Webhook, b *models.WebhookBlockRow) error {
	entries, err := t.w.following(context.Background(), t.Gorm().Statement.ConnPool, h, streamOfBlock(b), b.NextSeq,
		max(h.Cursor, b.NextSeq))
	if err != nil {
		return err
	}
	of := t.Gorm().Model(&models.WebhookBlockRow{}).Where("webhook_id = ? AND stream = ?", b.WebhookID, b.Stream)
	if len(entries) > 0 {
		next := entries[0]
		err = of.UpdateColumns(map[string]any{
			"next_seq": next.Seq, "type": next.Action, "response_id": next.ResponseID, "since": t.Now, "due_at": t.Now,
			"attempts": 0, "class": "", "status": 0,
		}).Error
	} else if b.NextSeq > h.Cursor {
		// The cursor has not come by: the row says that all before it is done.
		err = of.UpdateColumns(map[string]any{
			"next_seq": b.NextSeq + 1, "type": "", "response_id": "", "since": t.Now, "due_at": t.Now, "attempts": 0,
			"class": "", "status": 0,
		}).Error
	} else {
		err = of.Delete(&models.WebhookBlockRow{}).Error
	}
	if err != nil {
		return fmt.Errorf("move blocked stream: %w", err)
	}
	return nil
}

// ReplayOf says what Replay from a point would mean. For admins and the operator, else
// CodeForbidden. Codes: invalid (seq or at), not_found.
func (w *Webhooks) ReplayOf(
	ctx context.Context, actor models.Actor, id models.WebhookID, from models.WebhookFrom,
) (out models.WebhookReplay, err error) {
	if err := actor.NeedAdmin(); err != nil {
		return out, err
	}
	err = w.db.Snapshot(ctx, func(ctx context.Context) error {
		h, err := webhook(w.db.Gorm(ctx), id)
		if err != nil {
			return err
		}
		out, err = w.replayOf(ctx, w.db.Reader(ctx), h, from)
		return err
	})
	return out, err
}

func (w *Webhooks) replayOf(
	ctx context.Context, pool db.Querier, h *models.Webhook, from models.WebhookFrom,
) (out models.WebhookReplay, err error) {
	var head int64
	if err := pool.QueryRowContext(ctx, headOfEntries).Scan(&head); err != nil {
		return out, fmt.Errorf("read head: %w", err)
	}
	field := "seq"
	out.Seq = from.Seq
	if from.Seq == 0 {
		field = "at"
		if from.At.IsZero() {
			return out, models.Invalid("at", "must be a time, or give the number of an entry")
		}
		if out.Seq, err = ledger.FirstSince(ctx, pool, from.At); err != nil {
			return out, err
		}
	}
	if out.Seq < 1 {
		return out, models.Invalid(field, "must be the number of an entry, from 1")
	}
	if out.Seq > h.Cursor {
		return out, models.Invalid(field, "must be before what is still to be sent, which begins with entry %d", h.Cursor+1)
	}
	out.Entries = head - out.Seq + 1
	return out, nil
}

// Replay sends everything from a point again, with the same ids. Events that were blocked from there on are tried as
// the rest; blocks from before stay. For admins and the operator, else CodeForbidden. Codes: invalid (seq or at),
// not_found.
func (w *Webhooks) Replay(ctx context.Context, actor models.Actor, id models.WebhookID, from models.WebhookFrom) error {
	return w.change(ctx, actor, id, func(t *tx, h *models.Webhook) error {
		replay, err := w.replayOf(context.Background(), t.Gorm().Statement.ConnPool, h, from)
		if err != nil {
			return err
		}
		if err := t.Gorm().Exec(dropBlocks, id, replay.Seq).Error; err != nil {
			return fmt.Errorf("drop blocks: %w", err)
		}
		if err := t.set(h, moved(map[string]any{"cursor": replay.Seq - 1})); err != nil {
			return err
		}
		return t.record(actor, "webhook.replayed", h, entry{Seq: replay.Seq})
	})
}

// oldest is when the oldest was recorded of what an endpoint gets and has not got; nil: it has
// got all.
func (w *Webhooks) oldest(ctx context.Context, pool db.Querier, h *models.Webhook, block *int64) (*time.Time, error) {
	var first int64
	if len(h.Types) == 0 {
		first = h.Cursor + 1
	}
	for _, action := range h.Types {
		seq, err := w.ledger.FirstOfAction(ctx, pool, action, h.Cursor)
		if err != nil {
			return nil, err
		}
		if seq != 0 && (first == 0 || seq < first) {
			first = seq
		}
	}
	if block != nil && (first == 0 || *block < first) {
		first = *block
	}
	found, err := ledger.EntriesIn(ctx, pool, `SELECT `+ledger.EntryRow.Columns("", nil)+` FROM ledger WHERE seq = ?`,
		first)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return new(ledger.TimeOf(found[0])), nil
}
