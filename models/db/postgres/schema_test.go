//go:build postgres

package postgres_test

import (
	"database/sql"
	"errors"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pressly/goose/v3"

	"countersign/migrations"
	"countersign/models/db"
	"countersign/models/db/postgres"
)

// What a schema consists of, as one text for each table, column, index and trigger. Both databases are asked for the
// same: SQLite's types get PostgreSQL's names, and of a CHECK the texts in quotes are compared.
var (
	inSQLite = []string{
		`SELECT 'table ' || name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'goose_db_version'`,
		`SELECT 'column ' || m.name || '.' || c.name || ' ' || CASE c.type WHEN 'TEXT' THEN 'text' WHEN 'INTEGER' THEN 'bigint'
 WHEN 'DATETIME' THEN 'timestamp with time zone' WHEN 'BOOLEAN' THEN 'boolean' WHEN 'BLOB' THEN 'bytea' ELSE c.type END
 || CASE WHEN c."notnull" OR c.pk > 0 THEN ' NOT NULL' ELSE '' END || CASE WHEN c.dflt_value IS NOT NULL THEN ' with a default' ELSE '' END
 FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' AND m.name <> 'goose_db_version'`,
		`SELECT 'index ' || i.name || ' ON ' || m.name || CASE WHEN i."unique" THEN ' UNIQUE' ELSE '' END || CASE WHEN i.partial THEN ' of some rows' ELSE '' END
 || ' (' || (SELECT group_concat(coalesce(x.name, '*'), ', ') FROM (SELECT name FROM pragma_index_info(i.name) ORDER BY seqno) x) || ')'
 FROM sqlite_master m JOIN pragma_index_list(m.name) i WHERE m.type = 'table' AND i.origin = 'c'`,
		`SELECT 'trigger ' || name || ' ON ' || tbl_name || ': ' || replace(replace(substr(sql, instr(sql, 'RAISE(ABORT, ') + 14), '''); END', ''), '''', '')
 FROM sqlite_master WHERE type = 'trigger'`,
	}
	inPostgres = []string{
		`SELECT 'table ' || table_name FROM information_schema.tables WHERE table_schema = current_schema() AND table_name <> 'goose_db_version'`,
		`SELECT 'column ' || table_name || '.' || column_name || ' ' || data_type || CASE is_nullable WHEN 'NO' THEN ' NOT NULL' ELSE '' END
 || CASE WHEN column_default IS NOT NULL THEN ' with a default' ELSE '' END
 FROM information_schema.columns WHERE table_schema = current_schema() AND table_name <> 'goose_db_version'`,
		`SELECT 'index ' || c.relname || ' ON ' || t.relname || CASE WHEN i.indisunique THEN ' UNIQUE' ELSE '' END || CASE WHEN i.indpred IS NOT NULL THEN ' of some rows' ELSE '' END
 || ' (' || (SELECT string_agg(coalesce(a.attname, '*'), ', ' ORDER BY k.place) FROM unnest(i.indkey) WITH ORDINALITY AS k (number, place)
 LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.number AND k.number > 0) || ')'
 FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace n ON n.oid = t.relnamespace
 WHERE n.nspname = current_schema() AND t.relname <> 'goose_db_version'
 AND NOT EXISTS (SELECT 1 FROM pg_constraint o WHERE o.conindid = i.indexrelid AND o.contype IN ('p', 'u'))`,
		`SELECT 'trigger ' || g.tgname || ' ON ' || t.relname || ': ' || replace(encode(g.tgargs, 'escape'), '\000', '')
 FROM pg_trigger g JOIN pg_class t ON t.oid = g.tgrelid WHERE NOT g.tgisinternal`,
	}

	checksInSQLite   = `SELECT name || ' ' || sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'goose_db_version'`
	checksInPostgres = `SELECT t.relname || ' ' || pg_get_constraintdef(c.oid) FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid
 JOIN pg_namespace n ON n.oid = t.relnamespace WHERE c.contype = 'c' AND n.nspname = current_schema()`
)

// onlyPostgres is what SQLite has no use for.
var onlyPostgres = []string{
	"table batches", "column batches.writer text NOT NULL", "column batches.number bigint NOT NULL",
	"column batches.at timestamp with time zone NOT NULL with a default",
}

// Both first migrations make the same tables, columns, CHECKs, indexes and triggers.
func TestBothSchemasAreTheSame(t *testing.T) {
	t.Parallel()
	var want []string
	wantChecks, haveChecks := map[string][]string{}, map[string][]string{}
	if err := db.InMemory(t.Context(), func(pool *sql.DB) error {
		want = append(parts(t, pool, inSQLite...), onlyPostgres...)
		quotes(wantChecks, parts(t, pool, checksInSQLite))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	pool := migrated(t)
	have := parts(t, pool, inPostgres...)
	quotes(haveChecks, parts(t, pool, checksInPostgres))
	delete(haveChecks, "batches")
	for _, part := range want {
		if !slices.Contains(have, part) {
			t.Errorf("PostgreSQL lacks: %s", part)
		}
	}
	for _, part := range have {
		if !slices.Contains(want, part) {
			t.Errorf("only PostgreSQL has: %s", part)
		}
	}
	if len(want) < 500 || len(wantChecks) < 20 {
		t.Errorf("%d parts and CHECKs of %d tables are compared", len(want), len(wantChecks))
	}
	for _, table := range slices.Sorted(maps.Keys(wantChecks)) {
		if w, h := once(wantChecks[table]), once(haveChecks[table]); w != h {
			t.Errorf("the CHECKs of %s say\n%s in SQLite, and\n%s in PostgreSQL", table, w, h)
		}
		delete(haveChecks, table)
	}
	for table := range haveChecks {
		t.Errorf("only PostgreSQL checks %s", table)
	}
}

// What is append-only can't be changed there either, and says so in the same words.
func TestTriggersRefuseInWords(t *testing.T) {
	t.Parallel()
	pool := migrated(t)
	for statement, want := range map[string]string{
		`UPDATE ledger SET action = 'x'`: "the ledger is append-only",
		`DELETE FROM ledger`:             "the ledger is append-only",
		`TRUNCATE ledger`:                "the ledger is append-only",
		`DELETE FROM responses`:          "responses are kept",
	} {
		if _, err := pool.ExecContext(t.Context(), statement); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", statement, err, want)
		}
	}
}

// A connection on which a commit would not wait for the disk is refused (I2).
func TestOpenRefusesAConnectionThatDoesNotWaitForTheDiskI2(t *testing.T) {
	t.Parallel()
	address := database(t) + "&options=-c%20synchronous_commit%3Doff"
	pool, err := postgres.Open(t.Context(), address, false, nil)
	if err == nil {
		pool.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "synchronous_commit = off") {
		t.Errorf("it opens: %v", err)
	}
}

// A password is in no error.
func TestOpenTellsNoPassword(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"postgres://me:hunter2@127.0.0.1:1/x?connect_timeout=1", "postgres://me:hunter2@127.0.0.1:port/x", "postgres://me:hunter2@[/x"} {
		pool, err := postgres.Open(t.Context(), address, false, nil)
		if err == nil {
			pool.Close()
		}
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v", err)
		}
	}
}

// A reading pool changes nothing.
func TestAReadingPoolChangesNothing(t *testing.T) {
	t.Parallel()
	pool, err := postgres.Open(t.Context(), database(t), true, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if _, err := pool.ExecContext(t.Context(), `CREATE TABLE t (a text)`); err == nil || !strings.Contains(err.Error(), "read-only") {
		t.Errorf("it writes: %v", err)
	}
}

// A statement that is begun while rows are being read is refused, by query, change and prepared statement, of writers and
// readers: it would wait for these rows forever. Once they are read or closed the connection goes on.
func TestAStatementWaitsForNoOpenRows(t *testing.T) {
	t.Parallel()
	url := database(t)
	for _, reads := range []bool{false, true} {
		pool, err := postgres.Open(t.Context(), url, reads, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		conn, err := pool.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		const two = `SELECT 1 UNION ALL SELECT 2`
		stmt, err := conn.PrepareContext(t.Context(), two)
		if err != nil {
			t.Fatal(err)
		}
		defer stmt.Close()
		for range 2 {
			rows, err := stmt.QueryContext(t.Context())
			if err != nil || !rows.Next() {
				t.Fatalf("no rows: %v", err)
			}
			var n int
			_, changes := conn.ExecContext(t.Context(), `UPDATE pg_class SET relname = relname WHERE FALSE`)
			for way, err := range map[string]error{
				"query": conn.QueryRowContext(t.Context(), two).Scan(&n), "prepared": stmt.QueryRowContext(t.Context()).Scan(&n), "change": changes,
			} {
				if err == nil || !strings.Contains(err.Error(), "before all rows of the one before it were read") {
					t.Errorf("reads %v, %s: %v", reads, way, err)
				}
			}
			if err := errors.Join(rows.Err(), rows.Close()); err != nil {
				t.Fatal(err)
			}
			if err := conn.QueryRowContext(t.Context(), two).Scan(&n); err != nil || n != 1 {
				t.Errorf("after the rows: %d, %v", n, err)
			}
		}
	}
}

// Arguments go to their places by number and by name, and times come back in UTC.
func TestArgumentsAndTimes(t *testing.T) {
	t.Parallel()
	pool, err := postgres.Open(t.Context(), database(t), false, map[string]string{`SELECT sqlite_version()`: `SELECT 'another'`})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	var a, b, c string
	if err := pool.QueryRowContext(t.Context(), `SELECT CAST(?2 AS text), CAST(?1 AS text), CAST(?2 AS text)`, "one", "two").
		Scan(&a, &b, &c); err != nil || a+b+c != "twoonetwo" {
		t.Errorf("by number: %s %s %s, %v", a, b, c, err)
	}
	stmt, err := pool.PrepareContext(t.Context(), `SELECT CAST(:b AS text) || CAST(:a AS text)`)
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	if err := stmt.QueryRowContext(t.Context(), sql.Named("a", "x"), sql.Named("b", "y")).Scan(&a); err != nil || a != "yx" {
		t.Errorf("by name: %s, %v", a, err)
	}
	if err := pool.QueryRowContext(t.Context(), `SELECT sqlite_version()`).Scan(&a); err != nil || a != "another" {
		t.Errorf("in other words: %s, %v", a, err)
	}
	var at sql.NullTime
	if err := pool.QueryRowContext(t.Context(), `SELECT CAST('2026-11-27 12:00:00+02:00' AS timestamptz)`).
		Scan(&at); err != nil || at.Time.String() != "2026-11-27 10:00:00 +0000 UTC" {
		t.Errorf("a time is %s, %v", at.Time, err)
	}
	if err := pool.QueryRowContext(t.Context(), `SELECT CAST(? AS text)`).
		Scan(&a); err == nil || !strings.Contains(err.Error(), "argument is missing") {
		t.Errorf("an argument that is missing: %v", err)
	}
}

// database makes an empty database on the server of .ci/postgres, which ends with it, and gives its address.
func database(t *testing.T) string {
	t.Helper()
	server := os.Getenv("COUNTERSIGN_TEST_POSTGRES")
	if server == "" {
		t.Fatal("run these tests by make test-postgres: COUNTERSIGN_TEST_POSTGRES names no server")
	}
	pool, err := postgres.OpenPlain(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	name := strings.ToLower(t.Name())
	if _, err := pool.ExecContext(t.Context(), `CREATE DATABASE `+name); err != nil {
		t.Fatal(err)
	}
	return strings.Replace(server, "/postgres?", "/"+name+"?", 1)
}

// migrated is a database with the schema.
func migrated(t *testing.T) *sql.DB {
	t.Helper()
	pool, err := postgres.OpenPlain(t.Context(), database(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	files, err := fs.Sub(migrations.Postgres, "postgres")
	if err != nil {
		t.Fatal(err)
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, pool, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	return pool
}

// parts are the texts that queries of one column give.
func parts(t *testing.T, pool *sql.DB, queries ...string) (out []string) {
	t.Helper()
	for _, query := range queries {
		got, err := db.Strings(t.Context(), pool, query)
		if err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		out = append(out, got...)
	}
	return out
}

var (
	check = regexp.MustCompile(`CHECK (\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\))`)
	quote = regexp.MustCompile(`'[^']*'`)
)

// quotes notes what the CHECKs of tables say in quotes. Each text begins with the table's name.
func quotes(of map[string][]string, all []string) {
	for _, text := range all {
		table, rest, _ := strings.Cut(text, " ")
		for _, found := range check.FindAllString(rest, -1) {
			of[table] = append(of[table], append(quote.FindAllString(found, -1), "CHECK")...)
		}
	}
}

// once are texts in one order, each once.
func once(of []string) string {
	out := slices.Clone(of)
	slices.Sort(out)
	return strings.Join(slices.Compact(out), " ")
}
