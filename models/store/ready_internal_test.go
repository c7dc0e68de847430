package store

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/db/dbtest"
)

// refusesWrites has the writing connection change nothing more.
func refusesWrites() string {
	if dbtest.OnPostgres() {
		return `SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY`
	}
	return `PRAGMA query_only = 1`
}

func TestReadyNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	exec := func(t *testing.T, s *Store, text string) {
		t.Helper()
		if err := s.write(t.Context(), func(tx *Tx) error { _, err := tx.ExecContext(t.Context(), text); return err }); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct{ name, plant, want string }{
		{"nothing", `SELECT 1`, ""},
		{"the database refuses writes", refusesWrites(), "cannot be written"},
		{"the ledger has no head", `CREATE TABLE kept AS SELECT * FROM ledger_head; DELETE FROM ledger_head`, "head of the ledger"},
		{"a newer program has migrated", `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, TRUE); UPDATE schema_use SET writable_by = 9999`, "schema"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			now := time.Unix(1_800_000_000, 0)
			s := openTemp(t, Options{Now: func() time.Time { return now }})
			if err := s.Ready(t.Context()); err != nil {
				t.Fatal(err)
			}
			exec(t, s, tt.plant)
			if err := s.Ready(t.Context()); err != nil {
				t.Errorf("asked again at once: %v", err)
			}
			now = now.Add(readyFor)
			err := s.Ready(t.Context())
			switch {
			case tt.want == "" && err != nil:
				t.Error(err)
			case tt.want != "" && (models.ErrorCode(err) != models.CodeUnavailable || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("%v, want one that says %q", err, tt.want)
			}
			// A failure is not remembered as a success; the refusing connection
			// was given up for another.
			if again := s.Ready(t.Context()); (again == nil) != (tt.want == "" || strings.Contains(tt.plant, "query_only")) {
				t.Errorf("asked again: %v", again)
			}
			if strings.Contains(tt.plant, "ledger_head") { // which is read at the end, too
				exec(t, s, `INSERT INTO ledger_head SELECT * FROM kept`)
			}
		})
	}
}

// TestReadyHasTheDiskWritten: SQLite writes nothing where a row gets the values that it has, and
// then the disk would not be asked.
func TestReadyHasTheDiskWritten(t *testing.T) {
	t.Parallel()
	dbtest.OnlySQLite(t, "its log is measured")
	now := time.Unix(1_800_000_000, 0)
	s := openTemp(t, Options{Now: func() time.Time { return now }})
	size := func() int64 {
		t.Helper()
		info, err := os.Stat(s.Path() + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	if err := s.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := size()
	now = now.Add(readyFor)
	if err := s.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if after := size(); after <= before {
		t.Errorf("the log had %d bytes and has %d: nothing was written", before, after)
	}
	head, err := s.Ledger.Head(t.Context())
	if err != nil || head.Seq == 0 {
		t.Errorf("the head of the ledger is %s, %v", head, err)
	}
}

// TestReadyCountsTheLastCommit: a success of a moment ago says nothing once a commit failed.
func TestReadyCountsTheLastCommit(t *testing.T) {
	t.Parallel()
	dbtest.OnlySQLite(t, "its file is moved")
	now := time.Unix(1_800_000_000, 0)
	s := openTemp(t, Options{Now: func() time.Time { return now }})
	if err := s.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	aside := filepath.Join(t.TempDir(), "aside")
	if err := os.Rename(s.Path(), aside); err != nil {
		t.Fatal(err)
	}
	if err := s.write(t.Context(), func(*Tx) error { return nil }); models.ErrorCode(err) != models.CodeUnavailable {
		t.Errorf("a write into a file that was moved: %v", err)
	}
	if err := s.Ready(t.Context()); models.ErrorCode(err) != models.CodeUnavailable || !strings.Contains(err.Error(), "moved") {
		t.Errorf("ready: %v", err)
	}
	if err := os.Rename(aside, s.Path()); err != nil {
		t.Fatal(err)
	}
	if err := s.Ready(t.Context()); err != nil {
		t.Errorf("with the file in its place: %v", err)
	}
}
