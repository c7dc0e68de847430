package db

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mattn/go-sqlite3"

	"countersign/models"
)

// before46 is a data folder whose database has the 46 migrations, with more statements run on it.
func before46(t *testing.T, statements ...string) (dir string) {
	t.Helper()
	dump, err := os.ReadFile("dbtest/testdata/0046.sql")
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, models.DatabaseFile)
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, text := range append([]string{string(dump), `PRAGMA journal_mode = WAL`}, statements...) {
		beside(t, file, text)
	}
	return dir
}

// stateOf is what goose and the program note of migrations in a database, and all of its schema.
func stateOf(t *testing.T, dir string) []string {
	t.Helper()
	pool, err := sql.Open("sqlite3", fileURI(filepath.Join(dir, models.DatabaseFile), "mode=ro"))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	state, err := Strings(t.Context(), pool, `SELECT id || ' ' || version_id || ' ' || is_applied FROM goose_db_version UNION ALL SELECT 'to ' || user_version FROM pragma_user_version
 UNION ALL SELECT type || name || coalesce(sql, '') FROM sqlite_master ORDER BY 1`)
	if err != nil || len(state) < 100 {
		t.Fatalf("%d parts, %v", len(state), err)
	}
	return state
}

// versionOf is the last migration of a database, and what another is on the way to.
func versionOf(t *testing.T, dir string) (version, unfinished int64) {
	t.Helper()
	pool, err := sql.Open("sqlite3", fileURI(filepath.Join(dir, models.DatabaseFile), "mode=ro"))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	if version, err = versionIn(t.Context(), pool); err == nil {
		unfinished, err = Unfinished(t.Context(), pool)
	}
	if err != nil {
		t.Fatal(err)
	}
	return version, unfinished
}

func opened(t *testing.T, dir string) error {
	t.Helper()
	d, err := Open(t.Context(), Options{Dir: dir})
	if err != nil {
		return err
	}
	return d.Close()
}

// TestTheBaselineIsWhatThe46Made: a database that was taken over and a new one have the same
// schema, whatever migrations come after the baseline.
func TestTheBaselineIsWhatThe46Made(t *testing.T) {
	t.Parallel()
	for name, statements := range map[string][]string{
		"all have ended":                nil,
		"the end of them was not noted": {`PRAGMA user_version = 46`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := before46(t, statements...)
			for range 2 {
				if err := opened(t, dir); err != nil {
					t.Fatal(err)
				}
			}
			newest, err := newestMigration()
			if version, unfinished := versionOf(t, dir); err != nil || version != newest || unfinished != 0 {
				t.Errorf("it is at %d, on the way to %d, %v; want %d", version, unfinished, err, newest)
			}
			pool, err := OpenFile(readDSN(filepath.Join(dir, models.DatabaseFile)))
			if err != nil {
				t.Fatal(err)
			}
			defer pool.Close()
			have, err := Schema(t.Context(), pool)
			if err != nil {
				t.Fatal(err)
			}
			var want map[string]Statement
			err = InMemory(t.Context(), func(empty *sql.DB) (err error) { want, err = Schema(t.Context(), empty); return err })
			if differs := differences(have, want); err != nil || len(differs) > 0 || len(have) < 150 {
				t.Errorf("of %d parts these differ: %q, %v", len(have), differs, err)
			}
			if err := SoundPages(t.Context(), pool); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestAChangedSchemaIsNotTakenOver names what differs, and leaves all as it was.
func TestAChangedSchemaIsNotTakenOver(t *testing.T) {
	t.Parallel()
	rewrite := func(name, from, to string) string {
		return `PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, '` + from + `', '` + to + `') WHERE name = '` + name + `'; PRAGMA writable_schema = RESET`
	}
	for name, tt := range map[string]struct{ change, want string }{
		"an index is gone":            {`DROP INDEX responses_settled`, "index responses_settled is missing"},
		"a trigger is gone":           {`DROP TRIGGER ledger_no_delete`, "trigger ledger_no_delete is missing"},
		"a trigger says less":         {`DROP TRIGGER ledger_no_update; CREATE TRIGGER ledger_no_update BEFORE UPDATE OF data ON ledger BEGIN SELECT RAISE(ABORT, 'no'); END`, "trigger ledger_no_update is changed"},
		"a table more":                {`CREATE TABLE notepad (text)`, "table notepad was added"},
		"a column more":               {`ALTER TABLE users ADD COLUMN phone TEXT`, "table users is changed"},
		"a CHECK takes more":          {rewrite("votes", `verdict = ''answer''`, `verdict = ''answer'' OR verdict = ''maybe''`), "table votes is changed"},
		"a default is another":        {rewrite("responses", `requires_approval     BOOLEAN NOT NULL DEFAULT FALSE`, `requires_approval BOOLEAN NOT NULL DEFAULT TRUE`), "table responses is changed"},
		"an index leaves out another": {rewrite("stops_standing", `IS NULL`, `IS NOT NULL`), "index stops_standing is changed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := before46(t, tt.change)
			was := stateOf(t, dir)
			if err := opened(t, dir); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "restore a backup") {
				t.Errorf("open: %v, want %q and what to do", err, tt.want)
			}
			if now := stateOf(t, dir); !slices.Equal(now, was) {
				t.Errorf("it is no longer as it was:\n%q\nwas\n%q", now, was)
			}
		})
	}
}

// TestAnOlderDatabaseNamesTheCommit: a database that has not all of the 46 is not touched.
func TestAnOlderDatabaseNamesTheCommit(t *testing.T) {
	t.Parallel()
	for _, last := range []string{"1", "2", "45"} {
		dir := before46(t, `ALTER TABLE responses DROP COLUMN outside_run`, `DELETE FROM goose_db_version WHERE version_id > `+last)
		was := stateOf(t, dir)
		if err := opened(t, dir); err == nil || !strings.Contains(err.Error(), "commit ad764860") || !strings.Contains(err.Error(), last+" of 46") {
			t.Errorf("at %s: %v", last, err)
		}
		if now := stateOf(t, dir); !slices.Equal(now, was) {
			t.Errorf("at %s it is no longer as it was", last)
		}
	}
}

// TestACutOffTakeoverChangesNothing has the takeover fail at its commit, and keeps the files as
// a process leaves them that is killed at that moment.
func TestACutOffTakeoverChangesNothing(t *testing.T) {
	t.Parallel()
	dir, killed := before46(t), filepath.Join(t.TempDir(), "data")
	was := stateOf(t, dir)
	pool, err := OpenFile(writeDSN(filepath.Join(dir, models.DatabaseFile)))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	pool.SetMaxOpenConns(1)
	commits := 0
	onCommit(t, pool, func() int {
		commits++
		keep(t, dir, killed)
		return 1 // roll back
	})
	if err := takeOver(t.Context(), pool); err == nil || commits != 1 {
		t.Errorf("%d commits, %v; want one that failed", commits, err)
	}
	if err := pool.Close(); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{dir, killed} {
		if now := stateOf(t, dir); !slices.Equal(now, was) {
			t.Errorf("it is no longer as it was:\n%q", now)
		}
		if err := opened(t, dir); err != nil {
			t.Errorf("the next start: %v", err)
		}
		if version, _ := versionOf(t, dir); version == lastOfBefore {
			t.Error("the next start did not take it over")
		}
	}
}

// keep copies a data folder as it is.
func keep(t *testing.T, dir, into string) {
	t.Helper()
	if err := os.Mkdir(into, 0o700); err != nil {
		t.Error(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Error(err)
	}
	for _, f := range files {
		raw, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err == nil {
			err = os.WriteFile(filepath.Join(into, f.Name()), raw, 0o600)
		}
		if err != nil {
			t.Error(err)
		}
	}
}

func onCommit(t *testing.T, pool *sql.DB, do func() int) {
	t.Helper()
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	err = conn.Raw(func(c any) error {
		sqlite, ok := c.(*sqlite3.SQLiteConn)
		if !ok {
			return fmt.Errorf("the connection is a %T", c)
		}
		sqlite.RegisterCommitHook(do)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestATakeoverAmongOthers: it waits for nobody who has the database open, and of several that
// open it at once each finds it taken over.
func TestATakeoverAmongOthers(t *testing.T) {
	t.Parallel()
	dir := before46(t)
	other := holdAsAnother(t, filepath.Join(dir, models.DatabaseFile))
	if err := opened(t, dir); err == nil || !strings.Contains(err.Error(), "stop that server") {
		t.Errorf("while another has it open: %v", err)
	}
	if version, _ := versionOf(t, dir); version != lastOfBefore {
		t.Errorf("it was taken over under another process, to %d", version)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	for range 4 {
		go func() {
			d, err := Open(t.Context(), Options{Dir: dir})
			if err == nil {
				err = d.Close()
			}
			ended <- err
		}()
	}
	for range 4 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if version, unfinished := versionOf(t, dir); version == lastOfBefore || unfinished != 0 {
		t.Errorf("it is at %d, on the way to %d", version, unfinished)
	}
}
