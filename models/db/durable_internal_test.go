package db

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/mattn/go-sqlite3"
)

func TestI2EveryWritingConnectionSyncsAlsoAfterAReconnect(t *testing.T) {
	t.Parallel()
	d, room := openTemp(t, Options{})
	for _, when := range []string{"at first", "after a reconnect"} {
		before := d.writer
		if err := d.Write(t.Context(), func(tx *Tx) error {
			var level int
			if err := tx.QueryRowContext(t.Context(), `PRAGMA synchronous`).Scan(&level); err != nil || level != 2 {
				t.Errorf("%s: synchronous = %d, %v; want 2", when, level, err)
			}
			return room.add(tx, "test")
		}); err != nil {
			t.Errorf("%s: %v", when, err)
		}
		if d.writer == nil || (when != "at first" && d.writer == before) {
			t.Error("there was no reconnect")
		}
		if err := d.dropWriter(); err != nil {
			t.Fatal(err)
		}
		if n := d.w.Stats().OpenConnections; n != 0 {
			t.Errorf("%d connections are left open", n)
		}
	}
	room.check(t)
	weak := strings.Replace(writeDSN(d.path), "_synchronous=FULL", "_synchronous=NORMAL", 1)
	if pool, err := OpenFile(weak); err == nil {
		pool.Close()
		t.Error("a connection that does not sync was accepted")
	}
}

func TestTheDataFolderIsNarrow(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	d, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Write(t.Context(), func(tx *Tx) error { return tx.Gorm().Exec(`UPDATE ledger_head SET seq = seq`).Error }); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{dir: 0o700, d.Path(): 0o600, d.Path() + "-wal": 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, %v; want %v", filepath.Base(path), info.Mode().Perm(), err, want)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	for path, wide := range map[string]os.FileMode{dir: 0o755, d.Path(): 0o644} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, wide); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "chmod") {
			t.Errorf("%s with mode %v: %v, want an error that says what to do", filepath.Base(path), wide, err)
		}
		if err := os.Chmod(path, info.Mode()); err != nil {
			t.Fatal(err)
		}
	}
}

// What a reading connection was asked before it does not read again, also of a query that
// nobody has prepared; and it keeps few.
func TestReadingConnectionsKeepStatements(t *testing.T) {
	t.Parallel()
	d, _ := openTemp(t, Options{})
	conn, err := d.r.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	read := 0 // how often SQLite has asked, as it does while it reads a statement
	err = conn.Raw(func(c any) error {
		c.(*sqlite3.SQLiteConn).RegisterAuthorizer(func(int, string, string, string) int {
			read++
			return sqlite3.SQLITE_OK
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	reads := func(query string) bool {
		t.Helper()
		before, got := read, 0
		if err := conn.QueryRowContext(t.Context(), query+` + ?`, 1).Scan(&got); err != nil || got != 4 {
			t.Fatalf("%s: %d, %v", query, got, err)
		}
		return read > before
	}
	if !reads(`SELECT 3`) || reads(`SELECT 3`) {
		t.Error("the second time it was read again, or the first time it was not seen")
	}
	for i := range keptStatements {
		reads(`SELECT ` + strconv.Itoa(i) + ` - ` + strconv.Itoa(i-3))
	}
	if !reads(`SELECT 3`) {
		t.Errorf("it is kept behind %d others", keptStatements)
	}
}
