package db

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mattn/go-sqlite3"
	"golang.org/x/sys/unix"

	"countersign/migrations"
	"countersign/models"
)

// refused sees that a write is refused as something that passes, with a word of why.
func refused(t *testing.T, d *DB, room *numbered, word string) {
	t.Helper()
	err := d.Write(t.Context(), func(tx *Tx) error { return room.add(tx, "refused") })
	if models.ErrorCode(err) != models.CodeUnavailable || !strings.Contains(err.Error(), word) {
		t.Errorf("a write: %v, want %s with %q", err, models.CodeUnavailable, word)
	}
	if d.Failing() == nil {
		t.Error("nothing is said to be failing")
	}
}

// taken sees that a write succeeds, and that nothing is failing after it.
func taken(t *testing.T, d *DB, room *numbered) {
	t.Helper()
	if err := d.Write(t.Context(), func(tx *Tx) error { return room.add(tx, "taken") }); err != nil {
		t.Errorf("a write: %v", err)
	}
	if err := d.Failing(); err != nil {
		t.Errorf("after a commit this is failing: %v", err)
	}
}

// TestI2NothingIsWrittenIntoAFileThatWasMoved takes the database and its log away under the
// process that has them open, and puts another file in their place.
func TestI2NothingIsWrittenIntoAFileThatWasMoved(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"", "-wal"} {
		t.Run("countersign.db"+end, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			d, room := openTemp(t, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
			taken(t, d, room)
			file, aside := d.path+end, filepath.Join(t.TempDir(), "aside")
			rename(t, file, aside)
			refused(t, d, room, "moved")
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			refused(t, d, room, "moved")
			if err := d.CheckOutside(t.Context()); err != nil {
				t.Errorf("the look for others: %v", err)
			}
			if n := strings.Count(log.String(), "NOTHING CAN BE WRITTEN"); n != 1 {
				t.Errorf("the log says it %d times, want once in a minute:\n%s", n, &log)
			}
			rename(t, aside, file)
			taken(t, d, room)
		})
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

// TestWhatTheDiskRefusesPasses: the error of one commit counts until another succeeds.
func TestWhatTheDiskRefusesPasses(t *testing.T) {
	t.Parallel()
	d, room := openTemp(t, Options{})
	for code, word := range map[sqlite3.ErrNo]string{
		sqlite3.ErrIoErr: "cannot be written", sqlite3.ErrReadonly: "cannot be written", sqlite3.ErrCantOpen: "cannot be written",
		sqlite3.ErrCorrupt: "cannot be written", sqlite3.ErrBusy: "Another process",
	} {
		for _, wrote := range []bool{false, true} {
			taken(t, d, room)
			err := d.Write(t.Context(), func(tx *Tx) error {
				if wrote {
					if err := room.add(tx, "lost"); err != nil {
						return err
					}
				}
				return fmt.Errorf("as a caller wraps it: %w", sqlite3.Error{Code: code})
			})
			if models.ErrorCode(err) != models.CodeUnavailable || !strings.Contains(err.Error(), word) || d.Failing() == nil {
				t.Errorf("%v (wrote: %v): %v, failing: %v", code, wrote, err, d.Failing())
			}
		}
	}
	taken(t, d, room)
	if err := d.Write(t.Context(), func(*Tx) error { return sqlite3.Error{Code: sqlite3.ErrConstraint} }); err == nil || d.Failing() != nil {
		t.Errorf("what the rows refuse: %v, failing: %v", err, d.Failing())
	}
	room.check(t)
}

// TestNothingIsWrittenIntoAnotherSchema has another program migrate the database under this one.
func TestNothingIsWrittenIntoAnotherSchema(t *testing.T) {
	t.Parallel()
	d, room := openTemp(t, Options{})
	taken(t, d, room)
	beside(t, d.path, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)`)
	taken(t, d, room) // it only adds what this program need not know
	beside(t, d.path, `UPDATE schema_use SET writable_by = 9999, program = 'v9.9'`)
	refused(t, d, room, "Another version")
	if err := d.Failing(); err == nil || !strings.Contains(fmt.Sprint(errors.Unwrap(err)), "install the version v9.9") {
		t.Errorf("it does not say which to install: %v", err)
	}
	refused(t, d, room, "Another version")
	if err := d.dropWriter(); err != nil {
		t.Fatal(err)
	}
	refused(t, d, room, "Another version")
	beside(t, d.path, `DELETE FROM goose_db_version WHERE version_id = 9999; UPDATE schema_use SET writable_by = 3`)
	taken(t, d, room)
}

// TestNothingIsMigratedUnderAnotherProcess holds the lock that SQLite has in a process with the
// database open.
func TestNothingIsMigratedUnderAnotherProcess(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	d, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	path := d.Path()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	other := holdAsAnother(t, path)
	if d, err = Open(t.Context(), Options{Dir: dir}); err != nil {
		t.Fatalf("with nothing to migrate: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	beside(t, path, `PRAGMA user_version = 1`) // as migrations that did not end
	if d, err := Open(t.Context(), Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "stop that server") {
		t.Errorf("with something to migrate: %v, %v", d, err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if d, err = Open(t.Context(), Options{Dir: dir}); err != nil {
		t.Fatalf("when the other has ended: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
}

// holdAsAnother takes SQLite's shared lock by another kind of lock, which is told from those of
// this process.
func holdAsAnother(t *testing.T, path string) io.Closer {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	lock := unix.Flock_t{Type: unix.F_RDLCK, Whence: io.SeekStart, Start: sharedFirst, Len: sharedSize}
	if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &lock); err != nil {
		t.Skipf("this system has no locks of open files: %v", err)
	}
	return f
}

// beside runs a statement on the file as another process would.
func beside(t *testing.T, path, text string) {
	t.Helper()
	pool, err := sql.Open("sqlite3", fileURI(path, "mode=rw&_busy_timeout="+BusyTimeout))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if _, err := pool.ExecContext(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}

// A program that is older than the schema opens it as long as migrations only added to it, and else says which to
// install. Each migration says which of the two it is.
func TestAnOlderProgramOpensWhatWasOnlyAddedTo(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	open := func() error {
		d, err := Open(t.Context(), Options{Dir: dir, Version: "v1"})
		if err != nil {
			return err
		}
		return d.Close()
	}
	if err := open(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, models.DatabaseFile)
	beside(t, path, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)`)
	if err := open(); err != nil {
		t.Errorf("with something added: %v", err)
	}
	beside(t, path, `UPDATE schema_use SET writable_by = 9999, program = 'v9.9'`)
	if err := open(); err == nil || !strings.Contains(err.Error(), "install the version v9.9") {
		t.Errorf("with something changed: %v", err)
	}
	for folder, files := range map[string]fs.FS{"sqlite": migrations.SQLite, "postgres": migrations.Postgres} {
		names, err := fs.Glob(files, folder+"/*.sql")
		if err != nil || len(names) < 3 {
			t.Fatalf("%s: %d migrations, %v", folder, len(names), err)
		}
		for _, name := range names[3:] {
			text, err := fs.ReadFile(files, name)
			if err != nil {
				t.Fatal(err)
			}
			number, _, _ := strings.Cut(filepath.Base(name), "_")
			expands := strings.Contains(string(text), "-- Expand: ")
			if contracts := strings.Contains(string(text), "UPDATE schema_use SET writable_by = "+strings.TrimLeft(number, "0")+";"); expands == contracts {
				t.Errorf("%s says neither \"-- Expand: \" and why older programs go on, nor that they may not: UPDATE schema_use SET writable_by = N;", name)
			}
		}
	}
}
