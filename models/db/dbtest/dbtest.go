// Package dbtest opens fresh databases and reads the plans of queries, for tests of the
// rooms above the kernel.
package dbtest

import (
	"database/sql"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"countersign/models/db"
)

// Open opens a fresh database and closes it with the test.
func Open(tb testing.TB) *db.DB {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "data")
	url := Migrate(tb, dir)
	d, err := db.Open(tb.Context(), db.Options{Dir: dir, URL: url})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := d.Close(); err != nil {
			tb.Error(err)
		}
	})
	return d
}

// Beside opens a store's database a second time, past the store. file is its Path.
func Beside(tb testing.TB, file string) *sql.DB {
	tb.Helper()
	var pool *sql.DB
	var err error
	if OnPostgres() {
		if pool, err = db.OpenPostgres(tb.Context(), address(tb, filepath.Dir(file)), false); err == nil {
			pool.SetMaxIdleConns(0) // a test may open hundreds
		}
	} else {
		pool, err = sql.Open("sqlite3", "file:"+file+"?mode=rw&_busy_timeout=60000&_txlock=immediate")
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = pool.Close() })
	return pool
}

// looking are pools that Look has opened, by their data folders.
var looking sync.Map

// Look is Beside for a test that looks often and changes nothing: on PostgreSQL, where connecting costs more than the
// question, each time the same pool.
func Look(tb testing.TB, file string) *sql.DB {
	tb.Helper()
	if !OnPostgres() {
		return Beside(tb, file)
	}
	dir := filepath.Dir(file)
	if known, ok := looking.Load(dir); ok {
		return known.(*sql.DB) //nolint:forcetypeassert // nothing else is stored
	}
	pool, err := db.OpenPostgres(tb.Context(), address(tb, dir), true)
	must(tb, err)
	pool.SetMaxIdleConns(1)
	looking.Store(dir, pool)
	tb.Cleanup(func() {
		looking.Delete(dir)
		_ = pool.Close()
	})
	return pool
}

// Again opens the database of d once more, as another process would.
func Again(tb testing.TB, d *db.DB) *db.DB {
	tb.Helper()
	again, err := db.Open(tb.Context(), db.Options{Dir: Dir(d), URL: URL(tb, Dir(d))})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = again.Close() })
	return again
}

// OnlySQLite leaves a test out on PostgreSQL, and says why.
func OnlySQLite(tb testing.TB, why string) {
	tb.Helper()
	if OnPostgres() {
		tb.Skip("only on SQLite: " + why)
	}
}

// Forge changes rows with all triggers off, as someone with access to the database could, and returns how many. The
// triggers are on again afterwards.
func Forge(tb testing.TB, pool *sql.DB, query string, args ...any) (rows int64) {
	tb.Helper()
	tx, err := pool.BeginTx(tb.Context(), nil)
	must(tb, err)
	defer tx.Rollback()
	exec := func(query string, args ...any) int64 {
		res, err := tx.ExecContext(tb.Context(), query, args...)
		if err != nil {
			tb.Fatalf("%s: %v", query, err)
		}
		n, err := res.RowsAffected()
		must(tb, err)
		return n
	}
	if OnPostgres() {
		exec(`SET LOCAL session_replication_role = replica`)
		rows = exec(query, args...)
	} else {
		rules := Triggers(tb, tx)
		for name := range rules {
			exec(`DROP TRIGGER ` + name)
		}
		rows = exec(query, args...)
		for _, text := range rules {
			exec(text)
		}
	}
	must(tb, tx.Commit())
	return rows
}

// Triggers are SQLite's rules of tables, by their names.
func Triggers(tb testing.TB, from db.Querier) map[string]string {
	tb.Helper()
	rows, err := from.QueryContext(tb.Context(), `SELECT name, sql FROM sqlite_master WHERE type = 'trigger'`)
	must(tb, err)
	defer rows.Close()
	out := map[string]string{}
	for rows.Next() {
		var name, text string
		must(tb, rows.Scan(&name, &text))
		out[name] = text
	}
	must(tb, rows.Err())
	return out
}

// NoRules takes the rules of all tables away, their CHECKs too, and on PostgreSQL unique indexes: on SQLite for the pool's one connection.
func NoRules(tb testing.TB, pool *sql.DB) {
	tb.Helper()
	exec := func(query string) {
		_, err := pool.ExecContext(tb.Context(), query)
		must(tb, err)
	}
	if !OnPostgres() {
		for name := range Triggers(tb, pool) {
			exec(`DROP TRIGGER ` + name)
		}
		exec(`PRAGMA ignore_check_constraints = ON`)
		return
	}
	exec(`DO 'DECLARE rule text; BEGIN
 FOR rule IN SELECT ''DROP INDEX '' || CAST(CAST(i.indexrelid AS regclass) AS text) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
   WHERE i.indisunique AND c.relnamespace = CAST(''public'' AS regnamespace) AND NOT EXISTS (SELECT 1 FROM pg_constraint o WHERE o.conindid = i.indexrelid)
 LOOP EXECUTE rule; END LOOP;
 FOR rule IN SELECT ''ALTER TABLE '' || CAST(CAST(conrelid AS regclass) AS text) || '' DROP CONSTRAINT '' || conname FROM pg_constraint
   WHERE contype IN (''c'', ''f'') AND connamespace = CAST(''public'' AS regnamespace)
  UNION ALL SELECT ''DROP TRIGGER '' || tgname || '' ON '' || CAST(CAST(tgrelid AS regclass) AS text) FROM pg_trigger WHERE NOT tgisinternal
 LOOP EXECUTE rule; END LOOP; END'`)
}

// Break has the database refuse a change of rows with a message, until mend is called. event is such as UPDATE OF
// column, when a condition on NEW.
func Break(tb testing.TB, pool *sql.DB, event, table, when, message string) (mend func()) {
	tb.Helper()
	exec := func(query string) {
		_, err := pool.ExecContext(tb.Context(), query)
		must(tb, err)
	}
	made := `CREATE TRIGGER broken BEFORE ` + event + ` ON ` + table
	if !OnPostgres() {
		exec(made + ` WHEN ` + when + ` BEGIN SELECT RAISE(ABORT, '` + message + `'); END`)
		return func() { exec(`DROP TRIGGER broken`) }
	}
	exec(`CREATE FUNCTION broken() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''` + message + `''; END'`)
	exec(made + ` FOR EACH ROW WHEN (` + when + `) EXECUTE FUNCTION broken()`)
	return func() { exec(`DROP FUNCTION broken() CASCADE`) }
}

func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// Tables are the names of all tables that hold rows of ours.
func Tables(tb testing.TB, pool db.Querier) []string {
	tb.Helper()
	columns, err := db.Columns(tb.Context(), pool)
	if err != nil {
		tb.Fatal(err)
	}
	return slices.Sorted(maps.Keys(columns))
}

// ColumnsOf are the names of a table's columns.
func ColumnsOf(tb testing.TB, pool db.Querier, table string) (names []string) {
	tb.Helper()
	for _, column := range Columns(tb, pool, table) {
		names = append(names, column.Name)
	}
	return names
}

// Column is a column of a table.
type Column struct {
	Name, Type string
	Default    string // SQL; empty: NULL
	NotNull    bool
	Key        bool // it is one of those that tell rows apart
}

// Columns are those of a table.
func Columns(tb testing.TB, pool db.Querier, table string) (columns []Column) {
	tb.Helper()
	query := `SELECT name, lower(type), coalesce(dflt_value, ''), "notnull", pk > 0 FROM pragma_table_info(?)`
	if OnPostgres() {
		query = `SELECT a.attname, format_type(a.atttypid, -1), coalesce(pg_get_expr(d.adbin, d.adrelid), ''), a.attnotnull, coalesce(a.attnum = ANY (i.indkey), FALSE)
 FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum LEFT JOIN pg_index i ON i.indrelid = a.attrelid AND i.indisprimary
 WHERE a.attrelid = CAST(? AS regclass) AND a.attnum > 0 ORDER BY a.attnum`
	}
	rows, err := pool.QueryContext(tb.Context(), query, table)
	must(tb, err)
	defer rows.Close()
	for rows.Next() {
		var c Column
		must(tb, rows.Scan(&c.Name, &c.Type, &c.Default, &c.NotNull, &c.Key))
		columns = append(columns, c)
	}
	must(tb, rows.Err())
	return columns
}

// Dir is the data folder of an open database.
func Dir(d *db.DB) string { return filepath.Dir(d.Path()) }

// Plan is how SQLite would answer a query, a step a line.
func Plan(tb testing.TB, d *db.DB, query string, args ...any) string {
	tb.Helper()
	OnlySQLite(tb, "its plans are read; PostgreSQL's are another test's")
	rows, err := d.Reads().QueryContext(tb.Context(), `EXPLAIN QUERY PLAN `+query, args...)
	if err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var lines []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			tb.Fatal(err)
		}
		lines = append(lines, detail)
	}
	if err := rows.Err(); err != nil {
		tb.Fatal(err)
	}
	return strings.Join(lines, "\n")
}
