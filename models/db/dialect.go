package db

import (
	"context"
	"fmt"
	"regexp"
	"strings"
)

// What SQLite says in its own way. Queries elsewhere are put together of these, so that
// a second dialect has one place to change. hints.go has the indexes.

// InsertNew begins an INSERT that skips existing rows.
const InsertNew = `INSERT OR IGNORE INTO `

// OrReplace ends an INSERT: where a row of the same key exists, these columns of it take the new values. After a
// SELECT, that has to end with a WHERE.
func OrReplace(columns ...string) string { return orUpdate(`excluded.`, columns) }

// OrAdd ends an INSERT: where a row of the same key exists, the new number is added to that of this column.
func OrAdd(column string) string { return orUpdate(column+` + excluded.`, []string{column}) }

func orUpdate(value string, columns []string) string {
	sets := make([]string, len(columns))
	for i, column := range columns {
		sets[i] = column + ` = ` + value + column
	}
	return ` ON CONFLICT DO UPDATE SET ` + strings.Join(sets, `, `)
}

// Each is a table j of the values of a list, an argument that is a JSON array: their
// column is j.value.
func Each(list string) string { return `json_each(` + list + `) j` }

// Within is a condition on the expression before it: one of the values of a list, an argument that is a JSON array.
func Within(list string) string { return ` IN (SELECT value FROM json_each(` + list + `))` }

// JSONObject is the text of an object with these members: names in quotes and values,
// in turn.
func JSONObject(members ...string) string { return `json_object(` + strings.Join(members, `, `) + `)` }

// JSONArray is the text of an array.
func JSONArray(values ...string) string { return `json_array(` + strings.Join(values, `, `) + `)` }

// JSONMember is a member of the object that a column holds as text; NULL: it has none.
func JSONMember(column, name string) string { return `json_extract(` + column + `, '$.` + name + `')` }

// Joined are the values of a group, with spaces between them.
func Joined(column string) string { return `group_concat(` + column + `, ' ')` }

// Contains is whether a text has another in it, letter by letter.
func Contains(text, part string) string { return `(instr(` + text + `, ` + part + `) > 0)` }

// HasPrefix is whether a text begins so, letter by letter. prefix is one of our own words.
func HasPrefix(text, prefix string) string { return text + ` GLOB '` + prefix + `*'` }

// HasSuffix is whether a text ends with another that is not empty, letter by letter.
func HasSuffix(text, part string) string {
	return `(substr(` + text + `, -length(` + part + `)) = ` + part + `)`
}

// NotBy is a column by whose index the query does not walk. It is also one without a
// type: the driver gives its value as it is stored.
func NotBy(column string) string { return `+` + column }

// DayAfter is a stored time, a day later.
func DayAfter(at string) string { return `datetime(` + at + `, '+1 day')` }

// Lesser is the smaller of two values.
func Lesser(a, b string) string { return `min(` + a + `, ` + b + `)` }

// Version is which SQLite it is.
func Version(ctx context.Context, from RowQuerier) (string, error) {
	var out string
	if err := from.QueryRowContext(ctx, `SELECT sqlite_version()`).Scan(&out); err != nil {
		return "", fmt.Errorf("read the version of the database: %w", err)
	}
	return out, nil
}

// Schema is what a database consists of: of each table, index, view and trigger, the
// statement that makes it. Tables that begin with sqlite_ are the library's own, and
// goose's its own.
func Schema(ctx context.Context, from Querier) (map[string]Statement, error) {
	rows, err := from.QueryContext(ctx,
		`SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_master WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\' AND name <> 'goose_db_version'`)
	if err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	defer rows.Close()
	out := map[string]Statement{}
	for rows.Next() {
		var what string
		var text Statement
		if err := rows.Scan(&what, &text); err != nil {
			return nil, fmt.Errorf("read schema: %w", err)
		}
		out[what] = text
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read schema: %w", err)
	}
	return out, nil
}

var (
	comment  = regexp.MustCompile(`('[^']*')|--[^\n]*`)
	needless = regexp.MustCompile(`('[^']*')|"(\w+)"| ?([(),]) ?`)
)

// Statement is the text of a statement.
type Statement string

// Same reports whether two statements differ in nothing but comments, white space and quotes around names.
func (s Statement) Same(other Statement) bool {
	return s == other || bare(string(s)) == bare(string(other))
}

// bare is a statement without comments, without the white space that only helps readers, and without quotes around
// names.
func bare(text string) string {
	text = strings.Join(strings.Fields(comment.ReplaceAllString(text, "$1")), " ")
	return needless.ReplaceAllString(text, "$1$2$3")
}

// Column is a column of a table.
type Column struct {
	Name    string
	Default string // what it is where an INSERT does not say: SQL; empty: NULL
}

// Columns are those of all tables, by the table, in their order.
func Columns(ctx context.Context, from Querier) (map[string][]Column, error) {
	rows, err := from.QueryContext(ctx,
		`SELECT m.name, c.name, coalesce(c.dflt_value, '') FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY m.name, c.cid`)
	if err != nil {
		return nil, fmt.Errorf("read columns: %w", err)
	}
	defer rows.Close()
	out := map[string][]Column{}
	for rows.Next() {
		var table string
		var c Column
		if err := rows.Scan(&table, &c.Name, &c.Default); err != nil {
			return nil, fmt.Errorf("read columns: %w", err)
		}
		out[table] = append(out[table], c)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read columns: %w", err)
	}
	return out, nil
}
