package walbuffer_test

import (
	"database/sql"
	"encoding/binary"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"countersign/models/db/walbuffer"
)

// file is a database in WAL mode that syncs at each commit, as the program's does.
func file(t *testing.T) string {
	t.Helper()
	if err := walbuffer.Register(); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(t.TempDir(), "a.db")
}

// connect is one connection to a database, with more parameters.
func connect(t *testing.T, path string, extra url.Values) *sql.Conn {
	t.Helper()
	q := url.Values{"_journal_mode": {"WAL"}, "_synchronous": {"FULL"}, "_txlock": {"immediate"}}
	maps.Copy(q, extra)
	pool, err := sql.Open("sqlite3", "file:"+path+"?"+q.Encode())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(); pool.Close() })
	return conn
}

var buffered = url.Values{"vfs": {walbuffer.Name}}

func run(t *testing.T, conn *sql.Conn, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := conn.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func number(t *testing.T, conn *sql.Conn, query string) (n int64) {
	t.Helper()
	if err := conn.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

func sound(t *testing.T, conn *sql.Conn) {
	t.Helper()
	var found string
	if err := conn.QueryRowContext(t.Context(), `PRAGMA integrity_check`).Scan(&found); err != nil || found != "ok" {
		t.Errorf("the database is not sound: %s, %v", found, err)
	}
}

// rows inserts n rows of 2 kB, two to a page.
func rows(n int) string {
	return fmt.Sprintf(`INSERT INTO t (x) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < %d) SELECT randomblob(2000) FROM n`, n)
}

const table = `CREATE TABLE t (id INTEGER PRIMARY KEY, x BLOB)`

// A commit is in the file when it returns, for every other connection, and took few writes.
func TestACommitIsInTheLogAndTakesFewWrites(t *testing.T) { //nolint:paralleltest // it counts the writes of the process
	path := file(t)
	writes, reads := connect(t, path, buffered), connect(t, path, nil)
	run(t, writes, table)
	for n := int64(1); n <= 20; n++ {
		before, size := walbuffer.Written(), logSize(t, path)
		run(t, writes, rows(40))
		took, grown := walbuffer.Written()-before, (logSize(t, path)-size)/frame
		if grown < 20 {
			t.Fatalf("commit %d: %d pages are in the file, want those of 40 rows", n, grown)
		}
		if took < 1 || took > 1+grown*frame/(120<<10) {
			t.Errorf("commit %d: %d writes for %d pages", n, took, grown)
		}
		if seen := number(t, reads, `SELECT count(*) FROM t`); seen != 40*n {
			t.Fatalf("commit %d: another connection sees %d rows, want %d", n, seen, 40*n)
		}
	}
	sound(t, reads)
}

const frame = 24 + 4096

func logSize(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// A transaction that is larger than the cache writes pages before it ends, reads them
// again and writes over them.
func TestATransactionReadsWhatItHasSpilled(t *testing.T) {
	t.Parallel()
	path := file(t)
	writes, reads := connect(t, path, buffered), connect(t, path, nil)
	run(t, writes, `PRAGMA cache_size = 5`, table, rows(10))
	for _, end := range []string{"ROLLBACK", "COMMIT", "ROLLBACK", "COMMIT"} {
		had := number(t, writes, `SELECT count(*) FROM t`)
		run(t, writes, `BEGIN IMMEDIATE`, rows(300), `UPDATE t SET x = zeroblob(2000) WHERE id % 3 = 0`, rows(100), `UPDATE t SET x = zeroblob(1999) WHERE id % 5 = 0`)
		if n := number(t, writes, `SELECT count(*) FROM t WHERE length(x) = CASE WHEN id % 5 = 0 THEN 1999 ELSE 2000 END`); n != had+400 {
			t.Errorf("the transaction reads %d rows of its own, want %d", n, had+400)
		}
		if n := number(t, reads, `SELECT count(*) FROM t`); n != had {
			t.Errorf("another connection sees %d rows before the end, want %d", n, had)
		}
		run(t, writes, end)
		if end == "COMMIT" {
			had += 400
		}
		if n := number(t, reads, `SELECT count(*) FROM t`); n != had {
			t.Errorf("another connection sees %d rows after %s, want %d", n, end, had)
		}
	}
	sound(t, reads)
	run(t, writes, `PRAGMA wal_checkpoint(TRUNCATE)`, rows(3))
	sound(t, reads)
}

// What a transaction has spilled and taken back is never written when others may have
// written in its place.
func TestI2WhatIsTakenBackDoesNotOverwriteOthers(t *testing.T) {
	t.Parallel()
	path := file(t)
	a, b := connect(t, path, buffered), connect(t, path, nil)
	run(t, a, `PRAGMA cache_size = 5`, table, rows(10))
	for n := range 20 {
		run(t, a, `BEGIN IMMEDIATE`, rows(300+n), `INSERT INTO t (x) VALUES (randomblob(20000))`, `UPDATE t SET x = randomblob(2000) WHERE id < 9`, `ROLLBACK`)
		had := number(t, b, `SELECT count(*) FROM t`)
		run(t, b, rows(400))
		for _, conn := range []*sql.Conn{a, b} {
			if got := number(t, conn, `SELECT count(*) FROM t WHERE length(x) = 2000`); got != had+400 {
				t.Fatalf("%d rows, want %d", got, had+400)
			}
		}
	}
	sound(t, a)
	sound(t, b)
}

// Where the end of a process or a lost write cuts the log, all commits before the cut are
// there, and nothing of the one that is cut (I2).
func TestI2ALogThatIsTornHoldsWholeCommits(t *testing.T) {
	t.Parallel()
	path := file(t)
	writes := connect(t, path, buffered)
	run(t, writes, `PRAGMA wal_autocheckpoint = 0`, table, `CREATE TABLE u (id INTEGER PRIMARY KEY, x BLOB)`, `PRAGMA wal_checkpoint(TRUNCATE)`)
	for range 12 {
		run(t, writes, `BEGIN IMMEDIATE`, rows(9), `INSERT INTO u SELECT id, x FROM t WHERE id NOT IN (SELECT id FROM u)`, `COMMIT`)
	}
	log, err := os.ReadFile(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	main, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(log) < 100*frame {
		t.Fatalf("the log has %d bytes: the commits are not in it", len(log))
	}
	for cut := 0; cut <= len(log); cut += 977 {
		whole := int64(0)
		for at := 32; at+frame <= cut; at += frame {
			if binary.BigEndian.Uint32(log[at+4:]) != 0 {
				whole++
			}
		}
		torn := filepath.Join(t.TempDir(), "torn.db")
		for name, content := range map[string][]byte{torn: main, torn + "-wal": log[:cut]} {
			if err := os.WriteFile(name, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		conn := connect(t, torn, nil)
		in, and := number(t, conn, `SELECT count(*) FROM t`), number(t, conn, `SELECT count(*) FROM t JOIN u USING (id, x)`)
		if in != 9*whole || and != in {
			t.Fatalf("cut at %d: %d rows, %d in both tables, want the 9 of each of %d commits", cut, in, and, whole)
		}
		conn.Close()
	}
}

// A connection that is closed, one that does not sync, and one on a disk where a write harms
// its neighbours, for which SQLite fills up sectors, leave what others can read.
func TestOtherEndsAndDisks(t *testing.T) {
	t.Parallel()
	for name, extra := range map[string]url.Values{
		"closed": buffered, "neighbours harmed": {"vfs": {walbuffer.Name}, "psow": {"0"}}, "not synced": {"vfs": {walbuffer.Name}, "_synchronous": {"OFF"}},
	} {
		path := file(t)
		writes := connect(t, path, extra)
		run(t, writes, table, rows(50), `BEGIN IMMEDIATE`, rows(50), `ROLLBACK`, rows(50))
		reads := connect(t, path, nil)
		if n := number(t, reads, `SELECT count(*) FROM t`); n != 100 {
			t.Errorf("%s: another connection sees %d rows, want 100", name, n)
		}
		if err := writes.Raw(func(c any) error { return c.(interface{ Close() error }).Close() }); err != nil { //nolint:forcetypeassert // a driver's connection
			t.Error(err)
		}
		if n := number(t, reads, `SELECT count(*) FROM t`); n != 100 {
			t.Errorf("%s: %d rows after it was closed, want 100", name, n)
		}
		sound(t, reads)
	}
}
