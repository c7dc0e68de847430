package upkeep

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
)

// purgedRow is a row of which contents are removed, or may be.
type purgedRow struct {
	table, where string
	key          []any
	columns      []string
	mark         string // that stands in the row, or is to
	first        bool   // nothing was removed from it before
	at           time.Time
}

// removedRow is what the ledger says of one row. Digest is over what stays of it.
type removedRow struct {
	Table   string   `json:"table"`
	ID      string   `json:"id"`
	Columns []string `json:"columns"`
	Mark    string   `json:"mark,omitempty"` // of an earlier removal, which stays
	Digest  string   `json:"row_digest,omitempty"`
}

// removedEntry is what the ledger says of a step of a purge: never what was there.
type removedEntry struct {
	Removed string       `json:"removed"` // the mark
	Before  string       `json:"before"`
	Rows    []removedRow `json:"rows"`
}

// plan says which contents of a batch there are to remove, from rows that are due
// as q sees them.
func (p *Purge) plan(ctx context.Context, q rowQuerier, batch []walkedRow) (*purgeStep, error) {
	w, done := &p.walks[0], &purgeStep{rows: map[models.ConversationID][]purgedRow{}}
	for _, row := range batch {
		key := append(append([]any{}, row.key...), "")[:2]
		text := w.due()
		var due bool
		if err := q.QueryRowContext(ctx, text, p.args(text, key[0], key[1])...).Scan(&due); errors.Is(err, sql.ErrNoRows) || err == nil && !due {
			continue // something happened to it meanwhile
		} else if err != nil {
			return nil, err
		}
		main := purgedRow{table: w.table, where: keyOf(w.where), key: row.key, at: row.at, mark: models.RemovedMark(p.at, p.actor), first: true}
		rows := []purgedRow{main}
		if w.table == "responses" {
			var err error
			if rows, err = planResponse(ctx, q, main); err != nil {
				return nil, err
			}
			if rows == nil {
				done.kept++
				continue
			}
		}
		for _, r := range rows {
			if err := r.contents(ctx, q); err != nil {
				return nil, err
			}
			if len(r.columns) > 0 || r.first && r.alwaysMarked() {
				done.add(row.conversation, r)
			}
		}
	}
	return done, nil
}

// keyOf is a walk's key as the tables are named elsewhere, from ?2 on.
func keyOf(where string) string {
	return strings.NewReplacer("x.", "", "?1", "?2", "?2", "?3").Replace(where)
}

// planResponse is a request with what hangs on it. Nil: it is not what its digest
// says, which is no reason to remove the evidence.
func planResponse(ctx context.Context, q rowQuerier, main purgedRow) ([]purgedRow, error) {
	id := main.key[0]
	r, err := readValues(ctx, q, "responses", "id = ?", id)
	if err != nil || !r.found {
		return nil, err
	}
	if mark, ok := r.get("removed"); ok {
		main.mark, main.first = mark, false
	} else if !r.fitsDigest() {
		return nil, nil
	}
	rows := []purgedRow{main}
	if upstream, ok := r.get("upstream_id"); ok {
		rows = append(rows, purgedRow{table: "outside_approvals", where: "upstream_id = ?2 AND call_id = ?3 AND response_id = ?4", key: []any{upstream, r.text("call_id"), id}, mark: main.mark, at: main.at})
	}
	for _, of := range [...]struct{ table, ids, where string }{
		{"votes", `SELECT id FROM votes WHERE response_id = ? ORDER BY id`, "id = ?2"},
		{"notes", `SELECT id FROM notes WHERE response_id = ? ORDER BY id`, "id = ?2"},
		{"handovers", `SELECT id FROM handovers WHERE response_id = ? ORDER BY id`, "id = ?2"},
		{"withdrawals", `SELECT vote_id FROM withdrawals WHERE response_id = ? ORDER BY vote_id`, "vote_id = ?2"},
		{"deliveries", `SELECT response_id FROM deliveries WHERE response_id = ?`, "response_id = ?2"},
	} {
		ids, err := idsOf(ctx, q, of.ids, id)
		if err != nil {
			return nil, err
		}
		for _, each := range ids {
			rows = append(rows, purgedRow{table: of.table, where: of.where, key: []any{each}, mark: main.mark, at: main.at})
		}
	}
	return rows, nil
}

func idsOf(ctx context.Context, q rowQuerier, query string, id any) (out []string, err error) {
	rows, err := q.QueryContext(ctx, query, id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var each string
		if err := rows.Scan(&each); err != nil {
			return nil, err
		}
		out = append(out, each)
	}
	return out, rows.Err()
}

// alwaysMarked reports whether a row is marked as removed even where it had no
// contents, so that it is not read again.
func (r *purgedRow) alwaysMarked() bool { return r.table == "responses" || r.table == "messages" }

// contents looks which columns hold something to remove.
func (r *purgedRow) contents(ctx context.Context, q rowQuerier) error {
	columns := contentColumns[r.table]
	holds, into := make([]string, len(columns)), make([]any, len(columns))
	found := make([]bool, len(columns))
	for i, c := range columns {
		holds[i], into[i] = c.holds(), &found[i]
	}
	query := `SELECT ` + strings.Join(holds, ", ") + ` FROM ` + r.table + ` WHERE ` + r.where
	err := q.QueryRowContext(ctx, query, append([]any{r.mark}, r.key...)...).Scan(into...)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	for i, c := range columns {
		if found[i] {
			r.columns = append(r.columns, c.Name)
		}
	}
	return nil
}

// A call that is under way is closed with the removal: nobody is asked about an
// input that is not there any more.
const closeRemoved = `UPDATE responses SET is_completed = TRUE, completed_at = ?, closed = 'run'
 WHERE id = ? AND kind = 'tool_call' AND is_completed = FALSE AND approval_status IS NULL AND cause = ''`

// An endpoint may have answered with what it was sent.
const forgetAnswers = `UPDATE webhook_answers SET body = x'' WHERE length(body) > 0
 AND EXISTS (SELECT 1 FROM ledger l WHERE l.seq = webhook_answers.seq AND l.conversation_id = ?)`

// apply removes contents of a conversation's rows, with one entry of the ledger.
func (p *Purge) apply(t *tx, conversation models.ConversationID, rows []purgedRow) error {
	mark := models.RemovedMark(p.at, p.actor)
	entry := removedEntry{Removed: mark, Before: p.q.Before.Format(db.TimeFormat)}
	ctx := context.Background()
	for i := range rows {
		r := &rows[i]
		if _, err := t.ExecContext(ctx, r.statement(), append([]any{r.mark}, r.key...)...); err != nil {
			return fmt.Errorf("remove contents: %w", err)
		}
		if r.table == "responses" && r.first {
			if _, err := t.ExecContext(ctx, closeRemoved, t.Now, r.key[0]); err != nil {
				return fmt.Errorf("close a call: %w", err)
			}
			for _, table := range [...]string{"told_headlines", "notified", "seen"} {
				if _, err := t.ExecContext(ctx, `DELETE FROM `+table+` WHERE response_id = ?`, r.key[0]); err != nil {
					return fmt.Errorf("forget who was told: %w", err)
				}
			}
		}
		said := removedRow{Table: r.table, ID: shownID(r.key...), Columns: append([]string{}, r.columns...)}
		if r.mark != mark {
			said.Mark = r.mark
		}
		var err error
		if said.Digest, err = r.proof(ctx, t); err != nil {
			return err
		}
		entry.Rows = append(entry.Rows, said)
	}
	if _, err := t.ExecContext(ctx, forgetAnswers, conversation); err != nil {
		return fmt.Errorf("forget answers of webhooks: %w", err)
	}
	about := ledger.Subject{Conversation: conversation}
	if conversation != "" {
		if err := t.Gorm().Raw(`SELECT owner_id FROM conversations WHERE id = ?`, conversation).Scan(&about.Owner).Error; err != nil {
			return fmt.Errorf("read owner: %w", err)
		}
		t.Publish(events.Conversation(string(conversation)))
	}
	return t.record(p.actor, "contents.removed", about, entry)
}

// statement puts the mark in the place of what is removed.
func (r *purgedRow) statement() string {
	var set []string
	for _, c := range contentColumns[r.table] {
		for _, name := range r.columns {
			if name == c.Name {
				set = append(set, c.Name+" = "+c.mark)
			}
		}
	}
	if _, ok := columns[r.table]["removed"]; ok && (r.first || r.table != "responses") {
		set = append(set, "removed = ?1")
	}
	return `UPDATE ` + r.table + ` SET ` + strings.Join(set, ", ") + ` WHERE ` + r.where
}

// proof is the digest over what stays of a row. The first entry has only one digest
// over this and over what was removed.
func (r *purgedRow) proof(ctx context.Context, q rowQuerier) (string, error) {
	if r.table != "responses" && r.table != "votes" {
		return "", nil
	}
	row, err := readValues(ctx, q, r.table, "id = ?", r.key[0])
	if err != nil || !row.found {
		return "", err
	}
	return remainderProof(r.table, row), nil
}

func remainderProof(table string, row *rowValues) string {
	if table == "votes" {
		return heldProof(row)
	}
	return askProof(row)
}

// readValues reads the proven columns of one row.
func readValues(ctx context.Context, q rowQuerier, table, where string, args ...any) (*rowValues, error) {
	row := newRowValues(table)
	query := `SELECT ` + selected("t", table) + ` FROM ` + table + ` t WHERE ` + where + ` LIMIT 1`
	err := q.QueryRowContext(ctx, query, args...).Scan(row.into...)
	if errors.Is(err, sql.ErrNoRows) {
		return row, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", table, err)
	}
	row.found = true
	return row, nil
}
