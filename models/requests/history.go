package requests

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"countersign/models"
	"countersign/models/db"
)

// HistoryQuery chooses a page of a conversation's history.
type HistoryQuery struct {
	// After reads the entries after a sequence number; FromStart reads from the beginning; 0 reads backwards.
	After  int64
	Before int64 // reads the entries before a sequence number; 0: the end
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
	messagesPart = `SELECT ` + MessageRow.Columns("", nil) + ` FROM messages` + db.ByMessagesHistory +
		` WHERE conversation_id = ? AND sequence `
	stepsPart = `SELECT ` + StepRow.Columns("", nil) + ` FROM budget_steps WHERE conversation_id = ? AND sequence `
)

func responsesPart(direction string) string {
	return selectApproval + ` WHERE r.conversation_id = ? AND r.sequence ` + map[string]string{
		forwards: `> ? ORDER BY r.sequence LIMIT ?`, backwards: `< ? ORDER BY r.sequence DESC LIMIT ?`,
	}[direction]
}

// History is one page of a conversation's messages, responses and changes of its
// budget, oldest first, as they hold now. CodeNotFound unless the actor is its
// agent, its owner or an admin.
func (rs *Requests) History(
	ctx context.Context, actor models.Actor, id models.ConversationID, q HistoryQuery,
) (*models.History, error) {
	limit := db.PageSize(q.Limit)
	direction, key := backwards, q.Before
	switch {
	case q.After != 0:
		direction, key = forwards, q.After
	case key <= 0:
		key = 1 << 62
	}
	ctx = context.WithoutCancel(ctx)
	dbtx, err := db.BeginRead(ctx, rs.db.Reads())
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	defer dbtx.Rollback()
	view := &models.ConversationView{}
	if err := ScanView(dbtx.QueryRowContext(ctx, SelectView+` WHERE c.id = ?`, id), view); err != nil {
		return nil, sqlNotFoundAs(err, models.NotFound("conversation"))
	}
	if !SeesConversation(actor, &view.Conversation) {
		return nil, models.NotFound("conversation")
	}
	entries, err := rs.historyParts(ctx, dbtx, id, direction, key, limit+1, q.MaxBytes)
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
func (rs *Requests) historyParts(
	ctx context.Context, dbtx *sql.Tx, id models.ConversationID, direction string, key int64, limit, most int,
) ([]models.HistoryEntry, error) {
	var out []models.HistoryEntry
	now, read := rs.db.Now(), atMost{most: most}
	keep := func(e models.HistoryEntry) error {
		out = append(out, e)
		if read.full() {
			return db.ErrEnough
		}
		if most > 0 {
			read.sum += entryWeight(&e)
		}
		return nil
	}
	err := db.EachRow(ctx, dbtx, responsesPart(direction), []any{id, key, limit}, func(row db.Scanner) error {
		a, err := ScanApproval(row)
		if err != nil {
			return err
		}
		return keep(models.HistoryEntry{Sequence: a.Sequence, At: a.CreatedAt, Response: At(a, now)})
	})
	if err != nil {
		return nil, err
	}
	read.sum = 0 // of each table: which of them come first shows when all are read
	messages := db.ReaderOf[models.Message](MessageRow)
	err = db.EachRow(ctx, dbtx, messagesPart+direction, []any{id, key, limit}, func(row db.Scanner) error {
		m, err := messages.Read(row)
		if err != nil {
			return err
		}
		return keep(models.HistoryEntry{Sequence: m.Sequence, At: m.CreatedAt, Message: &m})
	})
	if err != nil {
		return nil, err
	}
	steps := db.ReaderOf[models.BudgetStep](StepRow)
	err = db.EachRow(ctx, dbtx, stepsPart+direction, []any{id, key, limit}, func(row db.Scanner) error {
		b, err := steps.Read(row)
		out = append(out, models.HistoryEntry{Sequence: b.Sequence, At: b.At, Budget: &b})
		return err
	})
	return out, err
}

// BudgetSteps are the changes of a conversation's budget before a sequence (0:
// the latest), newest first. CodeNotFound as for Conversation.
func (rs *Requests) BudgetSteps(
	ctx context.Context, actor models.Actor, id models.ConversationID, before int64, limit int,
) ([]models.BudgetStep, error) {
	if _, err := rs.Conversation(ctx, actor, id); err != nil {
		return nil, err
	}
	if before <= 0 {
		before = 1 << 62
	}
	rows, err := rs.db.Reads().QueryContext(context.WithoutCancel(ctx), stepsPart+backwards, id, before,
		db.PageSize(limit))
	if err != nil {
		return nil, fmt.Errorf("list changes of a budget: %w", err)
	}
	defer rows.Close()
	steps := db.ReaderOf[models.BudgetStep](StepRow)
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

// entryWeight is about how many bytes an entry of a history takes in JSON.
func entryWeight(e *models.HistoryEntry) int {
	switch {
	case e.Response != nil:
		return weight(e.Response)
	case e.Message != nil:
		return rowWeight + quoted(e.Message.Content)
	}
	return rowWeight
}
