package ledger

import (
	"context"
	"fmt"
	"strings"

	"countersign/models"
	"countersign/models/db"
)

// Senders of the ledger's events read it here, for no person: their caller has checked rights.

var (
	entriesAfter   = `SELECT ` + entryColumns + ` FROM ledger WHERE seq > ? ORDER BY seq LIMIT ?`
	ofConversation = strings.Join(After(EntryRow, ByConversation, `?1`, `?2`), ` AND k.seq <= ?3 UNION ALL `) +
		` AND l.seq <= ?3 ORDER BY 1 LIMIT ?4`
	ofNoConversation = `SELECT ` + entryColumns +
		` FROM ledger WHERE conversation_id = '' AND response_id = ?1 AND seq > ?2 AND seq <= ?3 ORDER BY seq LIMIT ?4`
	firstOfAction = `SELECT min(seq) FROM (` + strings.Join([]string{
		fmt.Sprintf(`SELECT * FROM (SELECT seq FROM ledger_keys WHERE kind = %d AND key = ?1 AND seq > ?2 ORDER BY seq LIMIT 1)`, ByAction),
		`SELECT * FROM (SELECT seq FROM ledger WHERE seq >= max(?2 + 1, ` + firstOfTail +
			`) AND action = ?1 ORDER BY seq LIMIT 1)`,
	}, ` UNION ALL `) + `)`
	lastOfAction = `SELECT max(seq) FROM (` + strings.Join([]string{
		fmt.Sprintf(`SELECT * FROM (SELECT seq FROM ledger_keys WHERE kind = %d AND key = ?1 ORDER BY seq DESC LIMIT 1)`,
			ByAction),
		`SELECT * FROM (SELECT seq FROM ledger WHERE seq >= ` + firstOfTail + ` AND action = ?1 ORDER BY seq DESC LIMIT 1)`,
	}, ` UNION ALL `) + `)`
)

// EntriesAfter are the first entries after a number, at most limit.
func (l *Ledger) EntriesAfter(ctx context.Context, after int64, limit int) ([]models.Entry, error) {
	return EntriesIn(ctx, l.db.Reads(), entriesAfter, after, limit)
}

// Stream is what an entry belongs to among those that are told in order: its conversation,
// else its request; the rest is one stream.
type Stream struct {
	Conversation models.ConversationID
	Response     models.ResponseID // empty if there is a conversation
}

// StreamOf is the stream of an entry.
func StreamOf(e *models.Entry) Stream {
	if e.ConversationID != "" {
		return Stream{Conversation: e.ConversationID}
	}
	return Stream{Response: e.ResponseID}
}

// Name is the id of the stream; empty: that of the rest.
func (s Stream) Name() string { return string(s.Conversation) + string(s.Response) }

// InStream are the first entries of a stream after a number and not after another, at most
// limit.
func (l *Ledger) InStream(
	ctx context.Context, pool db.Querier, s Stream, after, upTo int64, limit int,
) ([]models.Entry, error) {
	if s.Conversation != "" {
		return EntriesIn(ctx, pool, ofConversation, s.Conversation, after, upTo, limit)
	}
	return EntriesIn(ctx, pool, ofNoConversation, s.Response, after, upTo, limit)
}

// FirstOfAction is the number of the first entry of an action after a number; 0: there is none.
func (l *Ledger) FirstOfAction(ctx context.Context, pool db.RowQuerier, action string, after int64) (int64, error) {
	return numberIn(ctx, pool, firstOfAction, action, after)
}

// LastOfAction is the number of the last entry of an action; 0: there is none.
func (l *Ledger) LastOfAction(ctx context.Context, pool db.RowQuerier, action string) (int64, error) {
	return numberIn(ctx, pool, lastOfAction, action)
}

func numberIn(ctx context.Context, pool db.RowQuerier, query string, args ...any) (int64, error) {
	var found *int64
	if err := pool.QueryRowContext(ctx, query, args...).Scan(&found); err != nil {
		return 0, fmt.Errorf("look for entry: %w", err)
	}
	if found == nil {
		return 0, nil
	}
	return *found, nil
}
