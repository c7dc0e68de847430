package proof

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"countersign/models/db"
)

// Row names a row that an act changed.
type Row struct {
	table string
	key   []any
}

// Of is a row by the values of its key.
func Of(table string, key ...any) Row { return Row{table, key} }

// Name is how entries name it.
func (r Row) Name() string { return r.table + "/" + r.ID() }

// Key are the values of its key.
func (r Row) Key() []any { return r.key }

// ID is the key as entries write it.
func (r Row) ID() string { return strings.TrimSuffix(fmt.Sprintln(r.key...), "\n") }

// Rows reads rows of the proved tables, and makes their digests.
type Rows struct{ readers map[string]*reader }

// reader reads the rows of one table.
type reader struct {
	columns []string // the proved ones, in the order of their names
	one     string   // selects them of one row
	all     string   // selects the key and them, of all rows
	next    string   // selects the first ?2 keys after ?1
	parts   int      // columns of the key
	stmt    *db.Stmt // one, on the writing connection
	values  []any
	into    []any
	buf     []byte
}

// Open reads which columns the tables of a database have.
func Open(ctx context.Context, from db.Querier) (*Rows, error) {
	columns, err := db.Columns(ctx, from)
	if err != nil {
		return nil, err
	}
	out := &Rows{readers: map[string]*reader{}}
	for name, of := range columns {
		t := tables[name]
		if t == nil {
			t = &table{} // a table without an entry: all of it is proved
		}
		if !t.provesAny(of) {
			continue
		}
		out.readers[name] = newReader(name, t, of)
	}
	return out, nil
}

// provesAny reports whether some column of the table is proved.
func (t *table) provesAny(columns []db.Column) bool {
	return slices.ContainsFunc(columns, func(c db.Column) bool { return t.proves(c.Name) })
}

func (t *table) proves(column string) bool {
	for _, of := range [...]reasons{t.not, t.follows} {
		for _, columns := range of {
			if columns == "*" || has(columns, column) {
				return false
			}
		}
	}
	return true
}

func newReader(name string, t *table, columns []db.Column) *reader {
	value := maps.Clone(t.more)
	if value == nil {
		value = map[string]string{}
	}
	for _, c := range columns {
		switch {
		case !t.proves(c.Name):
		case c.Default == "":
			value[c.Name] = db.NotBy(`r.` + c.Name)
		default:
			value[c.Name] = `nullif(r.` + c.Name + `, ` + c.Default + `)`
		}
	}
	r := &reader{columns: slices.Sorted(maps.Keys(value))}
	selects := make([]string, len(r.columns))
	for i, c := range r.columns {
		selects[i] = value[c]
	}
	keys := t.keys()
	key := `r.` + strings.Join(keys, ` || ' ' || r.`)
	only := t.only
	if only == "" {
		only = `TRUE`
	}
	texts, from := strings.Join(selects, `, `), ` FROM `+name+` r WHERE `+only
	r.one = `SELECT ` + texts + from + ` AND r.` + strings.Join(keys, ` = ? AND r.`) + ` = ?`
	r.all = `SELECT ` + key + `, ` + texts + from
	r.next, r.parts = `SELECT `+key+from+` AND `+key+` > ?1 ORDER BY `+key+` LIMIT ?2`, len(keys)
	r.values, r.into = make([]any, len(r.columns)), make([]any, len(r.columns))
	for i := range r.values {
		r.into[i] = &r.values[i]
	}
	return r
}

// Statements are those that Digest runs, for the writing connection.
func (rs *Rows) Statements() map[**db.Stmt]string {
	out := map[**db.Stmt]string{}
	for _, r := range rs.readers {
		out[&r.stmt] = r.one
	}
	return out
}

// Digest is that of a row as it is now, in the transaction. Empty: the row is not there, or nothing
// of its table is proved.
func (rs *Rows) Digest(t *db.Tx, row Row) (string, error) {
	return rs.read(row, func(r *reader) *sql.Row { return t.Row(r.stmt, row.key...) })
}

// DigestIn is Digest of a database that is open by other means.
func (rs *Rows) DigestIn(ctx context.Context, from db.RowQuerier, row Row) (string, error) {
	return rs.read(row, func(r *reader) *sql.Row { return from.QueryRowContext(ctx, r.one, row.key...) })
}

func (rs *Rows) read(row Row, of func(*reader) *sql.Row) (string, error) {
	r := rs.readers[row.table]
	switch {
	case r == nil && tables[row.table] == nil:
		return "", fmt.Errorf("prove a row of %s: there is no such table", row.table)
	case r == nil:
		return "", nil
	}
	if err := of(r).Scan(r.into...); errors.Is(err, sql.ErrNoRows) {
		return "", nil
	} else if err != nil {
		return "", fmt.Errorf("prove %s: %w", row.Name(), err)
	}
	return r.digest(), nil
}

// ValueText is a value as SQLite has it, so that a row has one digest in both databases.
func ValueText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case time.Time:
		return v.UTC().Format(db.FileFormat)
	case bool:
		if v {
			return "1"
		}
		return "0"
	default:
		return fmt.Sprint(v)
	}
}

// largeRow is how much of a buffer is kept for the next row.
const largeRow = 1 << 20

// digest is that of the row that was scanned last.
func (r *reader) digest() string {
	b := r.buf[:0]
	for i, v := range r.values {
		if v == nil {
			continue
		}
		text := ValueText(v)
		b = append(append(b, r.columns[i]...), 0)
		b = binary.BigEndian.AppendUint64(b, uint64(len(text)))
		b = append(b, text...)
	}
	sum := sha256.Sum256(b)
	if clear(r.values); cap(b) > largeRow {
		b = nil
	}
	r.buf = b
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// Next are the first rows of a table whose keys come after one, and the last of these keys. An
// empty key is before all.
func (rs *Rows) Next(
	ctx context.Context, from db.Querier, table, after string, most int,
) (out []Row, last string, err error) {
	var bound any = after
	if after == "" {
		bound = int64(math.MinInt64) // which is before all texts too
	}
	rows, err := from.QueryContext(ctx, rs.readers[table].next, bound, most)
	if err != nil {
		return nil, "", fmt.Errorf("read %s: %w", table, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(&last); err != nil {
			return nil, "", fmt.Errorf("read %s: %w", table, err)
		}
		row := Row{table: table}
		for _, part := range strings.SplitN(last, " ", rs.readers[table].parts) {
			row.key = append(row.key, part)
		}
		out = append(out, row)
	}
	if err := rows.Err(); err != nil {
		return nil, "", fmt.Errorf("read %s: %w", table, err)
	}
	return out, last, nil
}

// Tables are the tables of which some column is proved.
func (rs *Rows) Tables() []string { return slices.Sorted(maps.Keys(rs.readers)) }
