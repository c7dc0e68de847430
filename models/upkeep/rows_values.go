package upkeep

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"countersign/models/db"
	"countersign/models/ledger"
)

// null is a value that no column has.
const null = "\x00"

// rowValues are the proven columns of one row, as the file has them.
type rowValues struct {
	columns []string
	values  []any
	into    []any
	found   bool
}

func newRowValues(table string) *rowValues {
	r := &rowValues{columns: proven(table)}
	r.values, r.into = make([]any, len(r.columns)), make([]any, len(r.columns))
	for i := range r.values {
		r.into[i] = &r.values[i]
	}
	return r
}

// get is a column's value; false for NULL. Its name is one of those in columns.
func (r *rowValues) get(column string) (string, bool) {
	i, ok := slices.BinarySearch(r.columns, column)
	if !ok {
		panic("no such column is read: " + column)
	}
	switch v := r.values[i].(type) {
	case nil:
		return "", false
	case string:
		return v, true
	case []byte:
		return string(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	default:
		return fmt.Sprint(v), true
	}
}

// ptr is a column's value, nil for NULL.
func (r *rowValues) ptr(column string) *string {
	v, ok := r.get(column)
	if !ok {
		return nil
	}
	return &v
}

func (r *rowValues) text(column string) string {
	v, _ := r.get(column)
	return v
}

// number is a whole number; zero where there is none.
func (r *rowValues) number(column string) int64 {
	n, err := strconv.ParseInt(r.text(column), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// selected lists columns, times and booleans among them as they are stored: so they
// are compared.
func selected(alias, table string) string {
	var b strings.Builder
	for i, column := range proven(table) {
		if i > 0 {
			b.WriteString(", ")
		}
		if alias == "r" && slices.Contains(firstEntryColumns, column) {
			b.WriteString("CASE WHEN " + isFirstEntry + " THEN r." + column + " END")
			continue
		}
		b.WriteString(db.NotBy(alias + "." + column))
	}
	return b.String()
}

// firstEntryColumns are the large columns. They are compared only with the first
// entry, and with the one that moves the response to another agent's run.
var firstEntryColumns = []string{"description", "context", "preview", "options", "content", "tool_input_json", "policy_reason"}

// isFirstEntry is the condition for those entries.
var isFirstEntry = `(l.action IN ('approval.requested', 'approval.let_through', 'approval.ran', 'response.added') OR l.action = 'approval.rejected' AND ` + db.Contains(`l.data`, `'"kind"'`) + `
 OR l.action = 'response.adopted' AND ` + db.Contains(`l.data`, `'"row_digest"'`) + `)`

// entriesWithRows is the ledger, each entry with the rows that it is about.
//
//nolint:gosec // all of it is ours
var entriesWithRows = `SELECT ` + ledger.EntryRow.Columns("l", nil) + `, r.number, CASE WHEN ` + isFirstEntry + ` OR l.action IN ('approval.voted', 'approval.routed', 'approval.escalated_by_rule') THEN (SELECT ` + db.Joined(`user_id`) + ` FROM (SELECT user_id FROM reviewers WHERE response_id = r.id ORDER BY user_id)) END, ` +
	selected("r", "responses") + `, ` + selected("v", "votes") + `
 FROM ledger l LEFT JOIN responses r ON l.response_id <> '' AND r.id = l.response_id
 LEFT JOIN votes v ON l.action IN ('approval.approved', 'approval.rejected') AND v.id = r.vote_id
 ORDER BY l.seq`

// lookUp reads one row by what it is known by.
func (c *rowCheck) lookUp(table, where string, args ...any) (*rowValues, error) {
	key := table + " " + where
	stmt, ok := c.lookUps[key]
	if !ok {
		var err error
		stmt, err = c.dbtx.PrepareContext(c.ctx, `SELECT `+selected("t", table)+` FROM `+table+` t WHERE `+where+` LIMIT 1`) //nolint:gosec // the words are ours
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", table, err)
		}
		c.lookUps[key] = stmt
	}
	row := newRowValues(table)
	err := stmt.QueryRowContext(c.ctx, args...).Scan(row.into...)
	if errors.Is(err, sql.ErrNoRows) {
		return row, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", table, err)
	}
	row.found = true
	return row, nil
}

const maxShown = 80

// shown is a value in a report: what people and agents wrote is cut.
func shown(s string) string {
	switch {
	case s == null:
		return "nothing"
	case !utf8.ValidString(s):
		return "something that is not text"
	case len(s) > maxShown:
		return fmt.Sprintf("%q…", strings.ToValidUTF8(s[:maxShown], ""))
	}
	return fmt.Sprintf("%q", s)
}

// fileTime is how the file writes a time that the ledger tells.
func fileTime(at string) string {
	t, err := time.Parse(db.TimeFormat, at)
	if err != nil {
		return at
	}
	return t.Format(db.FileFormat)
}
