package upkeep

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"countersign/models/db"
	"countersign/models/proof"
)

// A batch of rows that are copied ends with either.
const (
	batchRows  = 5000
	batchBytes = 8 << 20
)

// columnSet is what a move knows of a table.
type columnSet struct {
	name    string
	columns []string
	key     []int // which of them are its key
}

// list is columns as a statement names them, with something between.
func list(columns []string, between string) string {
	return `"` + strings.Join(columns, `"`+between+`"`) + `"`
}

func (t *columnSet) keyColumns() []string {
	out := make([]string, len(t.key))
	for i, at := range t.key {
		out[i] = t.columns[at]
	}
	return out
}

// keyOf are the values of a row's key.
func (t *columnSet) keyOf(row []any) []any {
	out := make([]any, len(t.key))
	for i, at := range t.key {
		out[i] = row[at]
	}
	return out
}

// id names a row for people.
func (t *columnSet) id(row []any) string {
	parts := []string{t.name}
	for _, v := range t.keyOf(row) {
		if raw, ok := v.([]byte); ok {
			v = hex.EncodeToString(raw)
		}
		parts = append(parts, fmt.Sprint(v))
	}
	return strings.Join(parts, " ")
}

// read are the rows after one of a key, in its order; nil: all.
func (t *columnSet) read(ctx context.Context, held *db.Held, after []any) (*sql.Rows, error) {
	key, where := list(t.keyColumns(), ", "), ""
	if after != nil {
		where = ` WHERE (` + key + `) > (?` + strings.Repeat(", ?", len(after)-1) + `)`
	}
	return held.Pool.QueryContext(ctx, `SELECT `+list(t.columns, ", ")+` FROM "`+t.name+`"`+where+` ORDER BY `+key, after...)
}

// scan reads a row of so many columns.
func scan(rows *sql.Rows, columns int) ([]any, error) {
	row, into := make([]any, columns), make([]any, columns)
	for i := range row {
		into[i] = &row[i]
	}
	return row, rows.Scan(into...)
}

// readTables reads which tables there are.
func (m *mover) readTables(ctx context.Context) error {
	columns, err := db.Columns(ctx, m.from.Pool)
	if err != nil {
		return err
	}
	keys, err := db.Keys(ctx, m.from.Pool)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(columns)) {
		if slices.Contains(localTables, name) {
			continue
		}
		t := &columnSet{name: name}
		for _, c := range columns[name] {
			t.columns = append(t.columns, c.Name)
		}
		for _, column := range keys[name] {
			t.key = append(t.key, slices.Index(t.columns, column))
		}
		m.tables = append(m.tables, t)
	}
	return nil
}

// count counts the rows of all tables.
func (m *mover) count(ctx context.Context, held *db.Held) (all int64, err error) {
	for _, t := range m.tables {
		var n int64
		if err := held.Pool.QueryRowContext(ctx, `SELECT count(*) FROM "`+t.name+`"`).Scan(&n); err != nil {
			return 0, fmt.Errorf("count %s: %w", t.name, err)
		}
		all += n
	}
	return all, nil
}

// copyAll copies what the target lacks, table by table, in the order of keys.
func (m *mover) copyAll(ctx context.Context) (err error) {
	if m.of, err = m.count(ctx, m.from); err != nil {
		return err
	}
	if m.rows, err = m.count(ctx, m.to); err != nil {
		return err
	}
	for _, t := range m.tables {
		if err := m.copyTable(ctx, t); err != nil {
			return fmt.Errorf("copy %s: %w", t.name, err)
		}
	}
	m.Tell(MoveState{Text: "making indexes and references"})
	return m.to.Fasten(ctx)
}

// copyTable goes on behind the last row that the target has.
func (m *mover) copyTable(ctx context.Context, t *columnSet) error {
	after, err := m.last(ctx, t)
	if err != nil {
		return err
	}
	rows, err := t.read(ctx, m.from, after)
	if err != nil {
		return err
	}
	defer rows.Close()
	for more := true; more; {
		var batch [][]any
		for size := 0; len(batch) < batchRows && size < batchBytes; {
			if more = rows.Next(); !more {
				break
			}
			row, err := scan(rows, len(t.columns))
			if err != nil {
				return err
			}
			bytes, err := m.size(t, row)
			if err != nil {
				return err
			}
			batch, size = append(batch, row), size+bytes
		}
		if len(batch) > 0 {
			if err := m.to.Fill(ctx, t.name, t.columns, batch); err != nil {
				return err
			}
			m.rows += int64(len(batch))
			m.Tell(MoveState{Text: "copying " + t.name, Rows: m.rows, Of: m.of})
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return rows.Err()
}

// last is the key of the last row that the target has of a table; nil: it has none.
func (m *mover) last(ctx context.Context, t *columnSet) ([]any, error) {
	key := t.keyColumns()
	rows, err := m.to.Pool.QueryContext(ctx, `SELECT `+list(key, ", ")+` FROM "`+t.name+`" ORDER BY `+list(key, " DESC, ")+` DESC LIMIT 1`) //nolint:gosec // names of the schema
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	if !rows.Next() {
		return nil, rows.Err()
	}
	return scan(rows, len(key))
}

// size is how long the texts of a row are. One that PostgreSQL can't store is refused by name.
func (m *mover) size(t *columnSet, row []any) (size int, err error) {
	for i, value := range row {
		switch v := value.(type) {
		case []byte:
			size += len(v)
		case string:
			size += len(v)
			if m.To.URL != "" && (strings.Contains(v, "\x00") || !utf8.ValidString(v)) {
				return 0, fmt.Errorf("%s: %s has a zero byte, or is not UTF-8, which PostgreSQL can't store; `countersign purge` removes the contents of requests that have ended", t.id(row), t.columns[i])
			}
		}
	}
	return size, nil
}

// compareAll compares all rows of both sides, then the target with its ledger.
func (m *mover) compareAll(ctx context.Context) (*MoveResult, error) {
	m.Tell(MoveState{Text: "comparing both sides"})
	m.rows = 0
	result := &MoveResult{Head: m.head, From: m.fromPlace, To: m.toPlace}
	for _, t := range m.tables {
		found, err := m.compareTable(ctx, t)
		if err != nil {
			return nil, fmt.Errorf("compare both sides: %w", err)
		}
		result.Tables = append(result.Tables, found)
	}
	result.Rows = m.rows
	if m.To.URL == "" {
		if err := db.SoundPages(ctx, m.to.Pool); err != nil {
			return nil, fmt.Errorf("%s: %w", m.toPlace, err)
		}
	}
	report, err := m.verify(ctx, m.to, m.toPlace)
	if err == nil && report.Head.String() != m.head.String() {
		err = fmt.Errorf("the ledger of %s ends with %s, and that of %s with %s", m.fromPlace, m.head, m.toPlace, report.Head)
	}
	return result, err
}

// compareTable reads the rows of both sides in step.
func (m *mover) compareTable(ctx context.Context, t *columnSet) (TableDigest, error) {
	out := TableDigest{Name: t.name}
	var sides [2]*sql.Rows
	for i, held := range [...]*db.Held{m.from, m.to} {
		rows, err := t.read(ctx, held, nil) //nolint:rowserrcheck // it is, after each Next
		if err != nil {
			return out, err
		}
		defer rows.Close()
		sides[i] = rows
	}
	for sum := sha256.New(); ; out.Rows++ {
		var both [2][]any
		for i, rows := range sides {
			if !rows.Next() {
				if err := rows.Err(); err != nil {
					return out, err
				}
				continue
			}
			var err error
			if both[i], err = scan(rows, len(t.columns)); err != nil {
				return out, err
			}
		}
		if both[0] == nil && both[1] == nil {
			out.Digest = hex.EncodeToString(sum.Sum(nil))
			return out, nil
		}
		raw, err := t.same(both[0], both[1])
		if err != nil {
			return out, fmt.Errorf("%w. Nothing was marked as moved: make %s empty again, then run the move", err, m.toPlace)
		}
		sum.Write(raw)
		if m.rows++; m.rows%batchRows == 0 {
			m.Tell(MoveState{Text: "comparing " + t.name, Rows: m.rows, Of: m.of})
		}
	}
}

// same is a row of both sides in bytes, or the error that says how they differ. nil: that side has no more rows.
func (t *columnSet) same(source, target []any) (raw []byte, err error) {
	switch {
	case target == nil || source != nil && compareKeys(t.keyOf(source), t.keyOf(target)) < 0:
		return nil, fmt.Errorf("%s is missing at the new place", t.id(source))
	case source == nil || compareKeys(t.keyOf(source), t.keyOf(target)) > 0:
		return nil, fmt.Errorf("%s is at the new place only", t.id(target))
	}
	for i := range source {
		from, to := valueBytes(source[i]), valueBytes(target[i])
		if !bytes.Equal(from, to) {
			return nil, fmt.Errorf("%s differs in %s", t.id(source), t.columns[i])
		}
		raw = append(raw, to...)
	}
	return raw, nil
}

// valueBytes is a value with its length, or that there is none.
func valueBytes(v any) []byte {
	if v == nil {
		return []byte{0}
	}
	text := proof.ValueText(v)
	return append(binary.AppendUvarint([]byte{1}, uint64(len(text))), text...)
}

// compareKeys orders two keys as both databases do: numbers by size, texts and bytes byte by byte.
func compareKeys(a, b []any) int {
	for i := range a {
		n, number := a[i].(int64)
		other, both := b[i].(int64)
		order := strings.Compare(proof.ValueText(a[i]), proof.ValueText(b[i]))
		if number && both {
			order = cmp.Compare(n, other)
		}
		if order != 0 {
			return order
		}
	}
	return 0
}
