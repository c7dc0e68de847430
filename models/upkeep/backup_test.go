package upkeep_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/storetest"
	"countersign/models/upkeep"
)

// noBackups is why nothing is backed up here on PostgreSQL.
const noBackups = "pg_dump makes the backups of PostgreSQL"

// TestBackupIsOneMomentI8 backs up while others write: the copy is whole, its
// ledger verifies, and it holds as many requests as its ledger tells of.
func TestBackupIsOneMomentI8(t *testing.T) {
	t.Parallel()
	dbtest.OnlySQLite(t, noBackups)
	dir := storetest.Dir(t)
	s := storetest.New(t, storetest.WithDir(dir))
	agent, _ := storetest.AgentToken(t, s, storetest.Admin(t, s), "bot")
	stop := make(chan struct{})
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				in := models.AskInput{ToolName: "deploy", ToolUseID: fmt.Sprintf("%d-%d", w, i), Explicit: true}
				switch _, err := s.Ask(t.Context(), agent, in); {
				case models.ErrorCode(err) == models.CodeTooManyRequests: // it has asked as often as it may
					<-stop
					return
				case err != nil:
					t.Errorf("ask: %v", err)
					return
				}
			}
		})
	}
	for i := range 5 {
		file := filepath.Join(t.TempDir(), "copy.db")
		head, err := upkeep.Backup(t.Context(), dir, file)
		if err != nil {
			t.Fatalf("backup %d: %v", i, err)
		}
		found, err := upkeep.VerifyFile(t.Context(), file)
		if err != nil || found.Head.String() != head.String() {
			t.Errorf("backup %d: head %s, told %s, %v", i, found.Head, head, err)
		}
		var asked, recorded int
		storetest.ReadFile(t, file, `SELECT (SELECT count(*) FROM responses), (SELECT count(*) FROM ledger WHERE response_id <> '')`, &asked, &recorded)
		if asked != recorded {
			t.Errorf("backup %d has %d requests, and its ledger tells of %d", i, asked, recorded)
		}
		if entries := names(t, filepath.Dir(file)); len(entries) != 1 || mode(t, file) != 0o600 {
			t.Errorf("left %v, mode %v; want one file of mode 0600", entries, mode(t, file))
		}
	}
	close(stop)
	writers.Wait()
}

func TestBackupRefuses(t *testing.T) {
	t.Parallel()
	dbtest.OnlySQLite(t, noBackups)
	dir := storetest.Dir(t)
	s := storetest.New(t, storetest.WithDir(dir))
	storetest.Admin(t, s)
	standing := filepath.Join(t.TempDir(), "standing")
	if err := os.WriteFile(standing, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := upkeep.Backup(t.Context(), dir, standing); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("over a file that is there: %v", err)
	}
	if raw, err := os.ReadFile(standing); err != nil || string(raw) != "precious" {
		t.Errorf("the file that was there holds %q, %v", raw, err)
	}
	empty := t.TempDir()
	if _, err := upkeep.Backup(t.Context(), empty, filepath.Join(t.TempDir(), "new")); err == nil || len(names(t, empty)) != 0 {
		t.Errorf("of a folder without a database: %v, leaving %v", err, names(t, empty))
	}

	target := t.TempDir()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := upkeep.Backup(over, dir, filepath.Join(target, "new")); err == nil || len(names(t, target)) != 0 {
		t.Errorf("interrupted: %v, leaving %v", err, names(t, target))
	}
	storetest.Plant(t, dir, `DROP TRIGGER ledger_no_update`, `UPDATE ledger SET data = '{}' WHERE seq = 2`)
	if _, err := upkeep.Backup(t.Context(), dir, filepath.Join(target, "new")); err == nil || !strings.Contains(err.Error(), "ledger entry 2") {
		t.Errorf("of a changed ledger: %v", err)
	}
	if left := names(t, target); len(left) != 0 {
		t.Errorf("what was not sound is left there: %v", left)
	}
}

func TestRestoreBringsBackWhatWas(t *testing.T) {
	t.Parallel()
	dbtest.OnlySQLite(t, noBackups)
	dir := storetest.Dir(t)
	s := storetest.New(t, storetest.WithDir(dir))
	admin := storetest.Admin(t, s)
	agent, _ := storetest.AgentToken(t, s, admin, "bot")
	asked, err := s.Ask(t.Context(), agent, models.AskInput{ToolName: "deploy", ToolUseID: "call", Explicit: true})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "copy.db")
	head, err := upkeep.Backup(t.Context(), dir, file)
	if err != nil {
		t.Fatal(err)
	}
	before := storetest.Dump(t, s)

	fresh := filepath.Join(t.TempDir(), "fresh")
	done, err := upkeep.Restore(t.Context(), file, fresh, false, s.Now())
	if err != nil || done.Aside != "" || done.Head.String() != head.String() {
		t.Fatalf("into a fresh folder: %+v, %v", done, err)
	}
	if mode(t, fresh) != 0o700 || mode(t, filepath.Join(fresh, models.DatabaseFile)) != 0o600 || len(names(t, fresh)) != 2 {
		t.Errorf("the folder holds %v", names(t, fresh))
	}
	restored := storetest.New(t, storetest.WithDir(fresh))
	if after := storetest.Dump(t, restored); after != before {
		t.Errorf("restored:\n%s\nwant:\n%s", after, before)
	}
	got, err := restored.Ask(t.Context(), agent, models.AskInput{ToolName: "deploy", ToolUseID: "call", Explicit: true})
	if err != nil || got.ID != asked.ID || got.Status() != models.StatusPending {
		t.Errorf("the same request meets %+v, %v; want its own row (I8)", got, err)
	}
}

func TestRestoreMovesAsideOnlyByForce(t *testing.T) {
	t.Parallel()
	dbtest.OnlySQLite(t, noBackups)
	file := backupOf(t, "kept@example.com")
	dir := storetest.Dir(t)
	other := storetest.New(t, storetest.WithDir(dir))
	storetest.Reviewer(t, other, "lost@example.com")
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, time.May, 1, 8, 0, 0, 0, time.UTC)
	if _, err := upkeep.Restore(t.Context(), file, dir, false, now); err == nil || !strings.Contains(err.Error(), "--force") {
		t.Errorf("over a database: %v", err)
	}
	if got := email(t, filepath.Join(dir, models.DatabaseFile)); got != "lost@example.com" {
		t.Errorf("a refusal left the database of %q", got)
	}
	done, err := upkeep.Restore(t.Context(), file, dir, true, now)
	if err != nil {
		t.Fatal(err)
	}
	if got := email(t, filepath.Join(dir, models.DatabaseFile)); got != "kept@example.com" {
		t.Errorf("restored the database of %q", got)
	}
	if got := email(t, done.Aside); got != "lost@example.com" || filepath.Dir(done.Aside) != dir {
		t.Errorf("moved the database of %q to %s", got, done.Aside)
	}
	// A second time in the same instant must not bury what was moved aside.
	if _, err := upkeep.Restore(t.Context(), file, dir, true, now); err == nil {
		t.Error("what was moved aside was replaced")
	}
	if left := names(t, dir); len(left) != 4 {
		t.Errorf("the folder holds %v, want the database and the one moved aside, each with its head", left)
	}
}

func TestRestoreRefusesWhatIsNotSound(t *testing.T) {
	t.Parallel()
	dbtest.OnlySQLite(t, noBackups)
	tests := []struct {
		name string
		harm func(t *testing.T, file string)
		want string
	}{
		{"no database", func(t *testing.T, file string) { t.Helper(); overwrite(t, file, 0, "no database at all") }, "database"},
		{"empty", func(t *testing.T, file string) { t.Helper(); truncate(t, file, 0) }, "not a database file"},
		{"cut off", func(t *testing.T, file string) { t.Helper(); truncate(t, file, 64<<10) }, "malformed"},
		{"a changed entry", func(t *testing.T, file string) {
			t.Helper()
			storetest.PlantFile(t, file, `DROP TRIGGER ledger_no_update`, `UPDATE ledger SET actor_name = 'eve' WHERE seq = 1`)
		}, "ledger entry 1"},
		{"a row that refers to nobody", func(t *testing.T, file string) {
			t.Helper()
			storetest.PlantFile(t, file, `INSERT INTO agents (id, owner_id, name, created_at) VALUES ('a', 'nobody', 'bot', '2026-01-01')`)
		}, "agents -> users"},
		{"a newer schema", func(t *testing.T, file string) {
			t.Helper()
			storetest.PlantFile(t, file, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)`)
		}, "newer"},
		{"a log beside it", func(t *testing.T, file string) {
			t.Helper()
			if err := os.WriteFile(file+"-wal", []byte("log"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "log beside"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file, dir := backupOf(t, "kept@example.com"), filepath.Join(t.TempDir(), "data")
			tt.harm(t, file)
			if _, err := upkeep.Restore(t.Context(), file, dir, true, time.Time{}); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("restore: %v, want a word of %q", err, tt.want)
			}
			if _, err := os.Stat(dir); err == nil {
				t.Errorf("the folder was made: %v", names(t, dir))
			}
		})
	}
}

// backupOf is a backup of a database with one person.
func backupOf(t *testing.T, email string) string {
	t.Helper()
	dir := storetest.Dir(t)
	s := storetest.New(t, storetest.WithDir(dir))
	storetest.Reviewer(t, s, email)
	file := filepath.Join(t.TempDir(), "copy.db")
	if _, err := upkeep.Backup(t.Context(), dir, file); err != nil {
		t.Fatalf("backup: %v", err)
	}
	return file
}

func email(t *testing.T, file string) (email string) {
	t.Helper()
	storetest.ReadFile(t, file, `SELECT email FROM users`, &email)
	return email
}

func overwrite(t *testing.T, file string, at int64, content string) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte(content), at); err != nil {
		t.Fatal(err)
	}
}

func truncate(t *testing.T, file string, size int64) {
	t.Helper()
	if err := os.Truncate(file, size); err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.Name()
	}
	return out
}

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}
