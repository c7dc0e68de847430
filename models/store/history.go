package store

import (
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

// HistoryQuery chooses a page of a conversation's history.
type HistoryQuery struct {
	// After reads what comes after a sequence; FromStart reads from the beginning;
	// 0 reads backwards.
	After  int64
	Before int64 // reads what comes before a sequence; 0: the end
	Limit  int   // 0: models.DefaultPage
	// MaxBytes is where the page ends though more would fit; 0: nowhere.
	MaxBytes int
}

// FromStart as HistoryQuery.After is before the first entry.
const FromStart = -1

// The three tables of a history have one sequence, and each an index on it.
const (
	forwards, backwards = `> ? ORDER BY sequence LIMIT ?`, `< ? ORDER BY sequence DESC LIMIT ?`
)

var (
	messagesPart = `SELECT ` + messageRow.Columns("", nil) + ` FROM messages` + db.ByMessagesHistory + ` WHERE conversation_id = ? AND sequence `
	stepsPart    = `SELECT ` + stepRow.Columns("", nil) + ` FROM budget_steps WHERE conversation_id = ? AND sequence `
)

func responsesPart(direction string) string {
	return selectApproval + ` WHERE r.conversation_id = ? AND r.sequence ` + map[string]string{
		forwards: `> ? ORDER BY r.sequence LIMIT ?`, backwards: `< ? ORDER BY r.sequence DESC LIMIT ?`,
	}[direction]
}

// History is one page of a conversation's messages, responses and changes of its
// budget, oldest first, as they hold now. CodeNotFound unless the actor is its
// agent, its owner or an admin.
func (s *Store) History(ctx context.Context, actor models.Actor, id models.ConversationID, q HistoryQuery) (*models.History, error) {
	limit := db.PageSize(q.Limit)
	direction, key := backwards, q.Before
	switch {
	case q.After != 0:
		direction, key = forwards, q.After
	case key <= 0:
		key = 1 << 62
	}
	ctx = context.WithoutCancel(ctx)
	dbtx, err := s.db.Reads().BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	defer dbtx.Rollback()
	view := &models.ConversationView{}
	if err := scanView(dbtx.QueryRowContext(ctx, selectView+` WHERE c.id = ?`, id), view); err != nil {
		return nil, sqlNotFoundAs(err, models.NotFound("conversation"))
	}
	if !seesConversation(actor, &view.Conversation) {
		return nil, models.NotFound("conversation")
	}
	entries, err := s.historyParts(ctx, dbtx, id, direction, key, limit+1, q.MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	h := pageOf(entries, direction, q, limit)
	view.Reader = actor.Voter()
	h.Conversation = view
	return h, nil
}

// pageOf sorts what the three tables gave and cuts it to a page.
func pageOf(entries []models.HistoryEntry, direction string, q HistoryQuery, limit int) *models.History {
	slices.SortFunc(entries, func(a, b models.HistoryEntry) int { return int(a.Sequence - b.Sequence) })
	h := &models.History{After: max(q.After, 0)}
	if direction == backwards {
		slices.Reverse(entries)
	}
	fit := db.Fitting(entries, limit, q.MaxBytes, entryWeight)
	more := len(entries) > fit
	entries = entries[:fit]
	if direction == backwards {
		slices.Reverse(entries)
		if more {
			h.Before = entries[0].Sequence
		}
	}
	if direction == forwards && len(entries) > 0 && q.After > 0 {
		h.Before = entries[0].Sequence
	}
	if len(entries) > 0 {
		h.After = entries[len(entries)-1].Sequence
	}
	h.Entries = entries
	return h
}

// historyParts reads of each table as many as a page can have, and one more.
func (s *Store) historyParts(ctx context.Context, dbtx *sql.Tx, id models.ConversationID, direction string, key int64, limit, most int) ([]models.HistoryEntry, error) {
	var out []models.HistoryEntry
	now, read := s.db.Now(), atMost{most: most}
	keep := func(e models.HistoryEntry) error {
		out = append(out, e)
		if read.full() {
			return errEnough
		}
		if most > 0 {
			read.sum += entryWeight(&e)
		}
		return nil
	}
	err := eachRow(ctx, dbtx, responsesPart(direction), []any{id, key, limit}, func(row db.Scanner) error {
		a, err := scanApproval(row)
		if err != nil {
			return err
		}
		return keep(models.HistoryEntry{Sequence: a.Sequence, At: a.CreatedAt, Response: at(a, now)})
	})
	if err != nil {
		return nil, err
	}
	read.sum = 0 // of each table: which of them come first shows when all are read
	messages := db.ReaderOf[models.Message](messageRow)
	err = eachRow(ctx, dbtx, messagesPart+direction, []any{id, key, limit}, func(row db.Scanner) error {
		m, err := messages.Read(row)
		if err != nil {
			return err
		}
		return keep(models.HistoryEntry{Sequence: m.Sequence, At: m.CreatedAt, Message: &m})
	})
	if err != nil {
		return nil, err
	}
	steps := db.ReaderOf[models.BudgetStep](stepRow)
	err = eachRow(ctx, dbtx, stepsPart+direction, []any{id, key, limit}, func(row db.Scanner) error {
		b, err := steps.Read(row)
		out = append(out, models.HistoryEntry{Sequence: b.Sequence, At: b.At, Budget: &b})
		return err
	})
	return out, err
}

// errEnough ends eachRow early.
var errEnough = errors.New("enough was read")

// eachRow runs a query of a snapshot and hands each row on.
func eachRow(ctx context.Context, pool db.Querier, query string, args []any, each func(db.Scanner) error) error {
	rows, err := pool.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows); errors.Is(err, errEnough) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return rows.Err()
}

// AwaitHistory is what comes after a sequence as soon as there is something, or
// nothing after wait. A credential that is revoked meanwhile ends it with
// CodeUnauthenticated, a stopping server with what stands. After 0 is everything.
func (s *Store) AwaitHistory(ctx context.Context, actor models.Actor, id models.ConversationID, after int64, limit int, wait time.Duration) (*models.History, error) {
	if after <= 0 {
		after = FromStart
	}
	sub := s.db.Bus().Subscribe(1, events.Conversation(string(id)), events.Access, events.Outside)
	defer sub.Close()
	end := time.NewTimer(wait)
	defer end.Stop()
	reread := time.NewTicker(rereadEvery)
	defer reread.Stop()
	for {
		h, err := s.History(ctx, actor, id, HistoryQuery{After: after, Limit: limit})
		if err != nil || len(h.Entries) > 0 || wait <= 0 {
			return h, err
		}
		select {
		case <-sub.C:
		case <-sub.Lagged:
		case <-reread.C:
		case <-end.C:
			return h, nil
		case <-s.ending:
			return h, nil
		case <-ctx.Done():
			return nil, ctx.Err() //nolint:wrapcheck // the caller's own
		}
		if err := s.People.CheckCredential(ctx, actor); err != nil {
			return nil, err
		}
	}
}

// BudgetSteps are the changes of a conversation's budget before a sequence (0:
// the latest), newest first. CodeNotFound as for Conversation.
func (s *Store) BudgetSteps(ctx context.Context, actor models.Actor, id models.ConversationID, before int64, limit int) ([]models.BudgetStep, error) {
	if _, err := s.Conversation(ctx, actor, id); err != nil {
		return nil, err
	}
	if before <= 0 {
		before = 1 << 62
	}
	rows, err := s.db.Reads().QueryContext(context.WithoutCancel(ctx), stepsPart+backwards, id, before, db.PageSize(limit))
	if err != nil {
		return nil, fmt.Errorf("list changes of a budget: %w", err)
	}
	defer rows.Close()
	steps := db.ReaderOf[models.BudgetStep](stepRow)
	var out []models.BudgetStep
	for rows.Next() {
		b, err := steps.Read(rows)
		if err != nil {
			return nil, fmt.Errorf("list changes of a budget: %w", err)
		}
		out = append(out, b)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list changes of a budget: %w", err)
	}
	return out, nil
}
