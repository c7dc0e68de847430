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

// OrReplace ends an INSERT: where a row of the same key, these columns, exists, others of it take the new values. After
// a SELECT, that has to end with a WHERE.
func OrReplace(key string, columns ...string) string {
	sets := make([]string, len(columns))
	for i, column := range columns {
		sets[i] = column + ` = excluded.` + column
	}
	return ` ON CONFLICT (` + key + `) DO UPDATE SET ` + strings.Join(sets, `, `)
}

// OrAdd ends an INSERT into a table: where a row of the same key exists, the new number is added to that of a column.
func OrAdd(table, key, column string) string {
	return ` ON CONFLICT (` + key + `) DO UPDATE SET ` + column + ` = ` + table + `.` + column + ` + excluded.` + column
}

// OrAdvance ends an INSERT into a table of a number that is at least now plus a step: where a row of the same key exists,
// its number goes a step on from where it is, if that is later, and not beyond the most; else nothing changes.
func OrAdvance(table, key, column, step, most string) string {
	next := table + `.` + column + ` + ` + step
	return ` ON CONFLICT (` + key + `) DO UPDATE SET ` + column + ` = CASE WHEN ` + next + ` > excluded.` + column + ` THEN ` + next +
		` ELSE excluded.` + column + ` END WHERE ` + next + ` <= ` + most
}

// Each is a table j of the values of a list, an argument that is a JSON array: their
// column is j.value.
func Each(list string) string { return `json_each(` + list + `) j` }

// EachNumber is Each of numbers, as a table jn.
func EachNumber(list string) string { return `json_each(` + list + `) jn` }

// InListOrder ends a query over EachNumber whose rows come in the order of the list. SQLite gives them so without being asked.
const InListOrder = ` /* in the order of the list */`

// tellNumber ends an INSERT of one row whose number is wanted. SQLite knows it without RETURNING, which costs it a table in
// memory.
const tellNumber = ` /* numbered */`

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

// AmongKeys is whether a key is one of those that a query finds for each row before it.
func AmongKeys(query string) string { return ` IN ( /* keys */ ` + query + ` /* of keys */ )` }

// DayAfter is a stored time, a day later.
func DayAfter(at string) string { return `datetime(` + at + `, '+1 day')` }

// Lesser is the smaller of two values.
func Lesser(a, b string) string { return `min(` + a + `, ` + b + `)` }

// Questions to the catalog, and how PostgreSQL is asked.
const (
	schemaQuery = `SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_master WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\' AND name <> 'goose_db_version'`
	// hasLastOfBefore is whether a database has the last of the 46 migrations of before: PostgreSQL's begin later.
	hasLastOfBefore = `SELECT EXISTS (SELECT 1 FROM pragma_table_info('responses') WHERE name = 'outside_run')`

	versionQuery = `SELECT 'SQLite ' || sqlite_version()`
	freeQuery    = `SELECT (SELECT * FROM pragma_freelist_count), (SELECT * FROM pragma_page_size)`
	columnsQuery = `SELECT m.name, c.name, coalesce(c.dflt_value, '') FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY m.name, c.cid`
	keysQuery    = `SELECT m.name, c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND c.pk > 0 ORDER BY m.name, c.pk`
	// looseQuery are the statements that take away what rows are better stored without: indexes, and references.
	looseQuery = `SELECT 'DROP INDEX "' || name || '"' FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL`
	// numberQuery are those that number later rows after the last that there is. SQLite does so.
	numberQuery = `SELECT sql FROM sqlite_master WHERE FALSE`
)

// notOfExtension leaves out what extensions bring, such as pg_stat_statements' view: they are the operator's.
func notOfExtension(catalog, oid string) string {
	return ` AND NOT EXISTS (SELECT 1 FROM pg_depend e WHERE e.classid = '` + catalog + `'::regclass AND e.objid = ` + oid + ` AND e.deptype = 'e')`
}

var ofCatalog = map[string]string{
	schemaQuery: `WITH ours AS (SELECT oid, relname FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace AND relname <> 'goose_db_version'` + notOfExtension("pg_class", "pg_class.oid") + `)
 SELECT 'table ' || o.relname, string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
  || coalesce(' DEFAULT ' || replace(pg_get_expr(d.adbin, d.adrelid), current_schema() || '.', ''), '') || a.attidentity::text || a.attgenerated::text, ', ' ORDER BY a.attnum)
  FROM ours o JOIN pg_attribute a ON a.attrelid = o.oid AND a.attnum > 0 AND NOT a.attisdropped LEFT JOIN pg_attrdef d ON d.adrelid = o.oid AND d.adnum = a.attnum GROUP BY o.relname
 UNION ALL SELECT 'constraint ' || o.relname || '.' || c.conname, replace(pg_get_constraintdef(c.oid), current_schema() || '.', '') FROM pg_constraint c JOIN ours o ON o.oid = c.conrelid
 UNION ALL SELECT 'index ' || i.indexname, replace(i.indexdef, current_schema() || '.', '') FROM pg_indexes i JOIN ours o ON o.relname = i.tablename WHERE i.schemaname = current_schema()
 UNION ALL SELECT 'trigger ' || t.tgname, replace(pg_get_triggerdef(t.oid), current_schema() || '.', '') FROM pg_trigger t JOIN ours o ON o.oid = t.tgrelid WHERE NOT t.tgisinternal
 UNION ALL SELECT 'function ' || p.proname, p.prosrc FROM pg_proc p WHERE p.pronamespace = current_schema()::regnamespace` + notOfExtension("pg_proc", "p.oid") + `
 UNION ALL SELECT 'view ' || v.relname, pg_get_viewdef(v.oid) FROM pg_class v WHERE v.relkind IN ('v', 'm') AND v.relnamespace = current_schema()::regnamespace` + notOfExtension("pg_class", "v.oid"),
	hasLastOfBefore: `SELECT TRUE`,

	versionQuery: `SELECT 'PostgreSQL ' || split_part(version(), ' ', 2)`,
	freeQuery:    `SELECT 0, 0`, // autovacuum gives them back
	columnsQuery: `SELECT t.relname, c.column_name, CASE c.is_identity WHEN 'YES' THEN '' ELSE coalesce(c.column_default, '') END
 FROM pg_class t JOIN information_schema.columns c ON c.table_schema = current_schema() AND c.table_name = t.relname
 WHERE t.relkind = 'r' AND t.relnamespace = current_schema()::regnamespace AND t.relname <> 'batches'` + notOfExtension("pg_class", "t.oid") + ` ORDER BY t.relname, c.ordinal_position`,
	keysQuery: `SELECT t.relname, a.attname FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid AND t.relnamespace = current_schema()::regnamespace
 CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k (number, place) JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number WHERE i.indisprimary ORDER BY t.relname, k.place`,
	looseQuery: `SELECT format('ALTER TABLE %I DROP CONSTRAINT %I', t.relname, c.conname) FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid
 WHERE c.contype = 'f' AND c.connamespace = current_schema()::regnamespace
 UNION ALL SELECT format('DROP INDEX %I', c.relname) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid AND c.relnamespace = current_schema()::regnamespace
 WHERE NOT EXISTS (SELECT 1 FROM pg_constraint o WHERE o.conindid = i.indexrelid AND o.contype IN ('p', 'u'))`,
	numberQuery: `SELECT format('SELECT setval(pg_get_serial_sequence(%L, %L), coalesce(max(%I), 1), max(%I) IS NOT NULL) FROM %I', table_name, column_name, column_name, column_name, table_name)
 FROM information_schema.columns WHERE table_schema = current_schema() AND is_identity = 'YES' UNION ALL SELECT 'ANALYZE'`, // so that it plans well
}

// SizeQuery is how many bytes a PostgreSQL database takes.
const SizeQuery = `SELECT pg_database_size(current_database())`

// Version is which SQLite, or PostgreSQL, it is.
func Version(ctx context.Context, from RowQuerier) (string, error) {
	var out string
	if err := from.QueryRowContext(ctx, versionQuery).Scan(&out); err != nil {
		return "", fmt.Errorf("read the version of the database: %w", err)
	}
	return out, nil
}

// Schema is what a database consists of: of each table, index, view and trigger, the
// statement that makes it. Tables that begin with sqlite_ are the library's own, and
// goose's its own.
func Schema(ctx context.Context, from Querier) (map[string]Statement, error) {
	return schemaBy(ctx, from, schemaQuery)
}

func schemaBy(ctx context.Context, from Querier, query string) (map[string]Statement, error) {
	rows, err := from.QueryContext(ctx, query)
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

// Keys are the columns that tell the rows of each table apart, in the order of its key.
func Keys(ctx context.Context, from Querier) (map[string][]string, error) {
	out := map[string][]string{}
	err := EachRow(ctx, from, keysQuery, nil, func(row Scanner) error {
		var table, column string
		err := row.Scan(&table, &column)
		out[table] = append(out[table], column)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	return out, nil
}

// Columns are those of all tables, by the table, in their order.
func Columns(ctx context.Context, from Querier) (map[string][]Column, error) {
	rows, err := from.QueryContext(ctx, columnsQuery)
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
