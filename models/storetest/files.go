package storetest

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/store"
)

// Audited is a store in which two people's agents have asked, an hour apart.
func Audited(tb testing.TB) (s *store.Store, clock *Clock, admin, ada, bot models.Actor, asked []*models.Approval) {
	tb.Helper()
	clock = NewClock()
	s = New(tb, WithClock(clock))
	admin = Admin(tb, s)
	ada = Reviewer(tb, s, "ada@example.com")
	bo := Reviewer(tb, s, "bo@example.com")
	bot, _ = AgentToken(tb, s, ada, "bot")
	other, _ := AgentToken(tb, s, bo, "other")
	for i := range 12 {
		clock.Step(time.Hour)
		agent := bot
		if i%3 == 0 {
			agent = other
		}
		a, err := s.Ask(tb.Context(), agent,
			models.AskInput{ToolName: "Bash", Input: []byte(`{}`), Explicit: true, RunID: fmt.Sprintf("run-%d", i%4)})
		Must(tb, err)
		asked = append(asked, a)
	}
	return s, clock, admin, ada, bot, asked
}

// Again opens the same file a second time, as the command line does.
func Again(tb testing.TB, s *store.Store, opts ...Option) *store.Store {
	tb.Helper()
	return New(tb, append(opts, WithDir(filepath.Dir(s.Path())))...)
}

// Tamper opens the file beside the store, as a person with the folder could.
func Tamper(tb testing.TB, s *store.Store) *sql.DB {
	tb.Helper()
	Tampered(s)
	return dbtest.Beside(tb, s.Path())
}

// Forge changes rows past the rules of their tables, as anybody with the database could.
func Forge(tb testing.TB, s *store.Store, query string) {
	tb.Helper()
	dbtest.Forge(tb, Tamper(tb, s), query)
}

// Break has the database refuse a change of rows, until mend is called: dbtest.Break.
func Break(tb testing.TB, s *store.Store, event, table, when, message string) (mend func()) {
	tb.Helper()
	return dbtest.Break(tb, Beside(tb, s), event, table, when, message)
}

// Elsewhere changes rows as another process does: it takes its turn, and the store finds out.
func Elsewhere(tb testing.TB, s *store.Store, query string, args ...any) {
	tb.Helper()
	tx, err := Tamper(tb, s).BeginTx(tb.Context(), nil)
	Must(tb, err)
	defer tx.Rollback()
	if dbtest.OnPostgres() {
		_, err := tx.ExecContext(tb.Context(), dbtest.TakeTurn)
		Must(tb, err)
	}
	if _, err := tx.ExecContext(tb.Context(), query, args...); err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
	Must(tb, tx.Commit())
}

// Column reads one column beside the store.
func Column(tb testing.TB, s *store.Store, query string, args ...any) (out []string) {
	tb.Helper()
	rows, err := dbtest.Look(tb, s.Path()).QueryContext(tb.Context(), query, args...)
	Must(tb, err)
	defer rows.Close()
	for rows.Next() {
		var one string
		Must(tb, rows.Scan(&one))
		out = append(out, one)
	}
	Must(tb, rows.Err())
	return out
}

// ReadFile reads one row of a database file that nobody has open.
func ReadFile(tb testing.TB, file, query string, dest ...any) {
	tb.Helper()
	db, err := sql.Open("sqlite3", "file:"+file+"?mode=ro&immutable=1")
	if err != nil {
		tb.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRowContext(tb.Context(), query).Scan(dest...); err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
}

// Plant changes a database behind its program's back.
func Plant(tb testing.TB, dir string, statements ...string) {
	tb.Helper()
	PlantFile(tb, filepath.Join(dir, models.DatabaseFile), statements...)
}

// PlantFile runs statements on a database file, past all rules.
func PlantFile(tb testing.TB, file string, statements ...string) {
	tb.Helper()
	db := dbtest.Beside(tb, file)
	for _, statement := range statements {
		if _, err := db.ExecContext(tb.Context(), statement); err != nil {
			tb.Fatalf("%s: %v", statement, err)
		}
	}
}
