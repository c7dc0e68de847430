package upkeep

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/insights"
	"countersign/models/ledger"
	"countersign/models/proof"
)

// purgedRow is a row of which contents are removed, or may be.
type purgedRow struct {
	table, where string
	key          []any
	columns      []string
	mark         string // in the row, or to be put there
	first        bool   // nothing was removed from it before
	at           time.Time
}

// removedRow is what the ledger says of one row.
type removedRow struct {
	Table   string   `json:"table"`
	ID      string   `json:"id"`
	Columns []string `json:"columns"`
	Mark    string   `json:"mark,omitempty"` // of an earlier removal, which stays
}

// removedEntry is the ledger's record of a step of a purge, without the contents.
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
		if err := q.QueryRowContext(ctx, text, p.args(text, key[0], key[1])...).Scan(&due); errors.Is(err, sql.ErrNoRows) ||
			err == nil && !due {
			continue // something happened to it meanwhile
		} else if err != nil {
			return nil, err
		}
		main := purgedRow{
			table: w.table, where: keyOf(w.where), key: row.key, at: row.at, mark: models.RemovedMark(p.at, p.actor),
			first: true,
		}
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
	r, err := responseOf(ctx, q, id)
	if err != nil || r == nil {
		return nil, err
	}
	if r.Removed != nil {
		main.mark, main.first = *r.Removed, false
	} else if !fitsDigest(r) {
		return nil, nil
	}
	rows := []purgedRow{main}
	if r.UpstreamID != nil {
		rows = append(rows,
			purgedRow{
				table: "outside_approvals", where: "upstream_id = ?2 AND call_id = ?3 AND response_id = ?4",
				key: []any{*r.UpstreamID, r.CallID, id}, mark: main.mark, at: main.at,
			})
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
	columns := proof.Contents(r.table)
	held, into := make([]string, len(columns)), make([]any, len(columns))
	found := make([]bool, len(columns))
	for i, c := range columns {
		held[i], into[i] = holds(r.table, c), &found[i]
	}
	query := `SELECT ` + strings.Join(held, ", ") + ` FROM ` + r.table + ` WHERE ` + r.where
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

// A call that is under way is closed with the removal: no one is asked about an input that is gone.
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
		if err := t.u.store.Ledger.Changes(t.Tx, r.table, r.key...); err != nil {
			return err
		}
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
		said := removedRow{Table: r.table, ID: proof.Of(r.table, r.key...).ID(), Columns: append([]string{}, r.columns...)}
		if r.mark != mark {
			said.Mark = r.mark
		}
		entry.Rows = append(entry.Rows, said)
	}
	if err := outdateInsights(t, rows); err != nil {
		return err
	}
	if _, err := t.ExecContext(ctx, forgetAnswers, conversation); err != nil {
		return fmt.Errorf("forget answers of webhooks: %w", err)
	}
	about := ledger.Subject{Conversation: conversation}
	if conversation != "" {
		if err := t.Gorm().Raw(`SELECT owner_id FROM conversations WHERE id = ?`,
			conversation).Scan(&about.Owner).Error; err != nil {
			return fmt.Errorf("read owner: %w", err)
		}
		t.Publish(events.Conversation(string(conversation)))
	}
	return t.record(p.actor, "contents.removed", about, entry)
}

const (
	countedAt     = `SELECT coalesce(approval_timestamp, created_at) FROM responses WHERE id = ?`
	voteCountedAt = `SELECT coalesce(r.approval_timestamp, r.created_at) FROM votes v JOIN responses r ON r.id = v.response_id WHERE v.id = ?`
)

// outdateInsights has the days summed again on which the requests count that lose contents: reasons and edits are in the
// sums.
func outdateInsights(t *tx, rows []purgedRow) error {
	days := map[time.Time]bool{}
	for _, r := range rows {
		query, ok := map[string]string{"responses": countedAt, "votes": voteCountedAt}[r.table]
		if !ok {
			continue
		}
		var at db.StoredTime
		if err := t.QueryRowContext(context.Background(), query, r.key[0]).Scan(&at); err != nil {
			return fmt.Errorf("read when a request counts: %w", err)
		}
		days[at.Truncate(15*time.Minute)] = true // days begin on such times
	}
	for at := range days {
		if err := insights.Outdate(t.Tx, at, at); err != nil {
			return err
		}
	}
	return nil
}

// statement puts the mark in place of the removed contents.
func (r *purgedRow) statement() string {
	var set []string
	for _, c := range proof.Contents(r.table) {
		if slices.Contains(r.columns, c.Name) {
			set = append(set, c.Name+" = "+c.Mark)
		}
	}
	if proof.Text(r.table, "removed") != "" && (r.first || r.table != "responses") {
		set = append(set, "removed = ?1")
	}
	return `UPDATE ` + r.table + ` SET ` + strings.Join(set, ", ") + ` WHERE ` + r.where
}

var responseRow = db.RowOf(&models.Response{})

// responseOf reads a request; nil: there is none.
func responseOf(ctx context.Context, q rowQuerier, id any) (*models.Response, error) {
	r, err := db.ReaderOf[models.Response](responseRow).Read(q.QueryRowContext(ctx,
		`SELECT `+responseRow.Columns("", nil)+` FROM responses WHERE id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read a request: %w", err)
	}
	return &r, nil
}

// fitsDigest reports whether a request fits its digest, as far as the stored contents can show that.
func fitsDigest(r *models.Response) bool {
	if r.DigestCoversMore() {
		return true
	}
	canonical, err := r.CanonicalForm()
	return err == nil && models.Digest(canonical) == r.Digest
}

// holdsContent is the condition under which a column's text is contents; a column
// that is not here is contents unless it is empty.
var holdsContent = map[string]string{
	// The texts of the other causes are ours or the policy's.
	"responses.approval_feedback": `cause NOT IN ('timeout', 'policy', 'no_reviewer', 'gone', 'run_ended')`,
	"turns.said": `(` + db.JSONMember(`said`, `content`) + ` IS NOT NULL OR ` +
		db.JSONMember(`said`, `calls`) + ` IS NOT NULL)`,
}

// holds is SQL over the mark ?1 that says whether there is something to remove from a column.
func holds(table string, c proof.Content) string {
	text := `coalesce(` + c.Name + `, '') NOT IN ('', ` + c.Mark + `)`
	if when := holdsContent[table+"."+c.Name]; when != "" {
		text += ` AND ` + when
	}
	return text
}
