package webhooks

import (
	"context"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
)

const (
	inUse = `SELECT * FROM webhooks` + db.ByWebhooksInUse + ` WHERE removed_at IS NULL ORDER BY name`

	lastAnswers = `SELECT * FROM webhook_answers WHERE webhook_id = ? ORDER BY number DESC LIMIT ?`
	blocksOf    = `SELECT count(*) AS n, min(next_seq) AS first FROM webhook_blocks WHERE webhook_id = ? AND type <> ''`
	headNow     = `SELECT seq FROM ledger_head WHERE id = 1`
	waiting     = `SELECT * FROM webhook_blocks WHERE webhook_id = ? AND type <> '' ORDER BY since, next_seq`
	dead        = `SELECT * FROM webhook_skipped` + db.ByWebhookSkippedWebhook +
		` WHERE webhook_id = ?1 AND (?2 = '' OR id < ?2) ORDER BY id DESC LIMIT ?3`
	nameOfUser = `SELECT name FROM users WHERE id = ?`
)

// skippedPage is how many dead letters a page has at most.
const skippedPage = 50

// List are all endpoints with where they are, by name. For admins and the operator, else
// CodeForbidden.
func (w *Webhooks) List(ctx context.Context, actor models.Actor) (out []models.WebhookState, err error) {
	if err := actor.NeedOversight(); err != nil {
		return nil, err
	}
	return w.States(ctx)
}

// States are all endpoints with where they are, for figures.
func (w *Webhooks) States(ctx context.Context) (out []models.WebhookState, err error) {
	err = w.db.Snapshot(ctx, func(ctx context.Context) error {
		out = nil
		all, err := inUseIn(w.db.Gorm(ctx))
		if err != nil {
			return err
		}
		for i := range all {
			s, err := w.state(ctx, &all[i])
			if err != nil {
				return err
			}
			out = append(out, *s)
		}
		return nil
	})
	return out, err
}

// Get is one endpoint with where it is. For admins and the operator, else CodeForbidden;
// CodeNotFound.
func (w *Webhooks) Get(
	ctx context.Context, actor models.Actor, id models.WebhookID,
) (out *models.WebhookState, err error) {
	err = w.read(ctx, actor, id, func(ctx context.Context, h *models.Webhook) error {
		out, err = w.state(ctx, h)
		return err
	})
	return out, err
}

func (w *Webhooks) state(ctx context.Context, h *models.Webhook) (*models.WebhookState, error) {
	pool, g := w.db.Reader(ctx), w.db.Gorm(ctx)
	if h.OldKeyUntil != nil && !w.db.Now().Before(*h.OldKeyUntil) {
		h.OldKeyUntil = nil
	}
	out := &models.WebhookState{Webhook: *h}
	var head int64
	if err := pool.QueryRowContext(ctx, headNow).Scan(&head); err != nil {
		return nil, fmt.Errorf("read head: %w", err)
	}
	out.Behind = max(head-h.Cursor, 0)
	var blocks *int64
	if err := pool.QueryRowContext(ctx, blocksOf, h.ID).Scan(&out.BlockCount, &blocks); err != nil {
		return nil, fmt.Errorf("count blocked streams: %w", err)
	}
	var err error
	if out.OldestAt, err = w.oldest(ctx, pool, h, blocks); err != nil {
		return nil, err
	}
	if h.OwnerID != "" {
		var names []string
		if err := g.Raw(nameOfUser, h.OwnerID).Scan(&names).Error; err != nil {
			return nil, fmt.Errorf("read owner: %w", err)
		}
		if len(names) > 0 {
			out.Owner = names[0]
		}
	}
	last, err := w.answers(ctx, h.ID, 1)
	if err != nil {
		return nil, err
	}
	if len(last) > 0 {
		out.Last = &last[0]
	}
	return out, nil
}

// Page is all that there is to show of an endpoint, as it was at one moment: with its dead
// letters after the one with an id (empty: from the newest). For admins and the operator, else
// CodeForbidden; CodeNotFound.
func (w *Webhooks) Page(
	ctx context.Context, actor models.Actor, id models.WebhookID, skipsAfter string,
) (out *models.WebhookPage, err error) {
	err = w.read(ctx, actor, id, func(ctx context.Context, h *models.Webhook) error {
		state, err := w.state(ctx, h)
		if err != nil {
			return err
		}
		out = &models.WebhookPage{WebhookState: *state}
		if out.Answers, err = w.answers(ctx, id, models.WebhookAnswers); err != nil {
			return err
		}
		if out.Blocks, err = w.blocks(ctx, id); err != nil {
			return err
		}
		out.Skips, out.NextSkip, err = w.skipped(ctx, id, skipsAfter)
		return err
	})
	return out, err
}

// Answers are the last that an endpoint gave, newest first, at most models.WebhookAnswers. For
// admins and the operator, else CodeForbidden; CodeNotFound.
func (w *Webhooks) Answers(
	ctx context.Context, actor models.Actor, id models.WebhookID,
) (out []models.WebhookAnswer, err error) {
	err = w.read(ctx, actor, id, func(ctx context.Context, _ *models.Webhook) error {
		out, err = w.answers(ctx, id, models.WebhookAnswers)
		return err
	})
	return out, err
}

// Blocks are the streams of an endpoint that wait for a refused event, oldest first. They are
// not many more than models.MaxWebhookBlocks. For admins and the operator, else CodeForbidden;
// CodeNotFound.
func (w *Webhooks) Blocks(
	ctx context.Context, actor models.Actor, id models.WebhookID,
) (out []models.WebhookBlock, err error) {
	err = w.read(ctx, actor, id, func(ctx context.Context, _ *models.Webhook) error {
		out, err = w.blocks(ctx, id)
		return err
	})
	return out, err
}

// Skipped are the dead letters of an endpoint, newest first, a page of them after the one with
// an id (empty: from the newest); next is the id to go on from, empty at the end. For admins
// and the operator, else CodeForbidden; CodeNotFound.
func (w *Webhooks) Skipped(
	ctx context.Context, actor models.Actor, id models.WebhookID, after string,
) (out []models.WebhookSkip, next string, err error) {
	err = w.read(ctx, actor, id, func(ctx context.Context, _ *models.Webhook) error {
		out, next, err = w.skipped(ctx, id, after)
		return err
	})
	return out, next, err
}

// read reads what belongs to an endpoint, for an admin, as it is at one moment.
func (w *Webhooks) read(
	ctx context.Context, actor models.Actor, id models.WebhookID, fn func(context.Context, *models.Webhook) error,
) error {
	if err := actor.NeedOversight(); err != nil {
		return err
	}
	return w.db.Snapshot(ctx, func(ctx context.Context) error {
		h, err := webhook(w.db.Gorm(ctx), id)
		if err != nil {
			return err
		}
		return fn(ctx, h)
	})
}

func (w *Webhooks) answers(ctx context.Context, id models.WebhookID, most int) ([]models.WebhookAnswer, error) {
	var rows []models.WebhookAnswerRow
	if err := w.db.Gorm(ctx).Raw(lastAnswers, id, most).Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("read answers: %w", err)
	}
	out := make([]models.WebhookAnswer, 0, len(rows))
	for _, r := range rows {
		out = append(out, models.WebhookAnswer{
			At: r.At, Seq: r.Seq, Type: r.Type, Attempt: r.Attempt, Took: time.Duration(r.MS) * time.Millisecond, Class: r.Class,
			Status: r.Status, Body: r.Body,
		})
	}
	return out, nil
}

func (w *Webhooks) blocks(ctx context.Context, id models.WebhookID) ([]models.WebhookBlock, error) {
	var rows []models.WebhookBlockRow
	if err := w.db.Gorm(ctx).Raw(waiting, id).Scan(&rows).Error; err != nil {
		return nil, fmt.Errorf("read blocked streams: %w", err)
	}
	out := make([]models.WebhookBlock, 0, len(rows))
	for _, r := range rows {
		out = append(out, models.WebhookBlock{
			Stream: r.Stream, ConversationID: r.ConversationID, ResponseID: r.ResponseID, Seq: r.NextSeq, Type: r.Type,
			Since: r.Since, DueAt: r.DueAt, Attempts: r.Attempts, Class: r.Class, Status: r.Status,
		})
	}
	return out, nil
}

func (w *Webhooks) skipped(
	ctx context.Context, id models.WebhookID, after string,
) (out []models.WebhookSkip, next string, err error) {
	var rows []models.WebhookSkipRow
	if err := w.db.Gorm(ctx).Raw(dead, id, after, skippedPage+1).Scan(&rows).Error; err != nil {
		return nil, "", fmt.Errorf("read dead letters: %w", err)
	}
	if len(rows) > skippedPage {
		rows = rows[:skippedPage]
		next = rows[skippedPage-1].ID
	}
	out = make([]models.WebhookSkip, 0, len(rows))
	for _, r := range rows {
		out = append(out,
			models.WebhookSkip{
				ID: r.ID, Seq: r.Seq, Type: r.Type, At: r.At, By: r.ByName, Reason: r.Reason, Class: r.Class, Status: r.Status,
			})
	}
	return out, next, nil
}
