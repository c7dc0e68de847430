package upkeep_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/db/dbtest"
	"countersign/models/store"
	"countersign/models/storetest"
	"countersign/models/upkeep"
)

// installed is a stopped installation with some requests.
func installed(t *testing.T) upkeep.Installation {
	t.Helper()
	s, _, _, _, _, _ := storetest.Audited(t)
	dir := filepath.Dir(s.Path())
	storetest.Must(t, s.Close())
	at := storetest.Dir(t) // a copy: nobody has it open
	return upkeep.Installation{Dir: at, URL: dbtest.Copy(t, dir, at)}
}

// otherKind is an empty place of the other kind than the tests' database.
func otherKind(t *testing.T) upkeep.Installation {
	t.Helper()
	return upkeep.Installation{Dir: filepath.Join(t.TempDir(), "data")}
}

// emptyDatabase is one of the tests' own kind, beside a data folder that is there.
func emptyDatabase(t *testing.T, dir string) upkeep.Installation {
	t.Helper()
	return upkeep.Installation{Dir: dir, URL: dbtest.URL(t, storetest.Dir(t))}
}

func onPostgres(t *testing.T) {
	t.Helper()
	if !dbtest.OnPostgres() {
		t.Skip("only on PostgreSQL: a move has two databases")
	}
}

// move moves, and has each step heard.
func move(ctx context.Context, from, to upkeep.Installation, tell func(upkeep.MoveState)) (*upkeep.MoveResult, error) {
	return upkeep.Move{From: from, To: to, By: storetest.Operator(), Now: storetest.NewClock().Now(), Tell: tell}.Run(ctx)
}

func quiet(upkeep.MoveState) {}

// starts is the error of opening an installation as a server does.
func starts(t *testing.T, at upkeep.Installation) error {
	t.Helper()
	s, err := store.Open(t.Context(), store.Options{Dir: at.Dir, URL: at.URL, Log: slog.New(slog.DiscardHandler)})
	if err == nil {
		err = s.Close()
	}
	return err
}

func wantError(t *testing.T, what string, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v, want %q", what, err, part)
		}
	}
}

// What can't be moved is refused with what to do, and nothing is marked.
func TestMoveRefusesASource(t *testing.T) {
	t.Parallel()
	to := upkeep.Installation{URL: "postgres://127.0.0.1:1/x?connect_timeout=1"}
	if dbtest.OnPostgres() {
		to = otherKind(t)
	}
	of := func(plant ...string) upkeep.Installation {
		t.Helper()
		at := installed(t)
		pool := dbtest.Beside(t, filepath.Join(at.Dir, models.DatabaseFile))
		for _, text := range plant {
			storetest.Must(t, storetest.Err(pool.ExecContext(t.Context(), text)))
		}
		storetest.Must(t, pool.Close())
		return at
	}
	running := installed(t)
	s := storetest.New(t, storetest.WithDir(running.Dir))
	_, err := move(t.Context(), running, to, quiet)
	wantError(t, "beside a server", err, "a server or another command is using", "stop it first")
	storetest.Must(t, s.Close())
	_, err = move(t.Context(), of(`DELETE FROM goose_db_version WHERE version_id = (SELECT max(version_id) FROM goose_db_version)`), to, quiet)
	wantError(t, "an older schema", err, "start the server of this version there once")
	gone := of(`INSERT INTO moves (id, gone, place, head, at) VALUES (1, TRUE, 'somewhere else', '', '2026-01-01 00:00:00+00:00')`)
	_, err = move(t.Context(), gone, to, quiet)
	wantError(t, "what was moved", err, "was moved on 2026-01-01 00:00:00Z", "somewhere else", "countersign move --undo")
	_, err = move(t.Context(), of(`INSERT INTO moves (id, gone, place, head, at) VALUES (1, FALSE, 'somewhere else', '', '2026-01-01 00:00:00+00:00')`), to, quiet)
	wantError(t, "what is on its way", err, "has not ended", "somewhere else")
	if !dbtest.OnPostgres() {
		_, err = move(t.Context(), installed(t), to, quiet)
		wantError(t, "a server that is not there", err, "--to: PostgreSQL database x on 127.0.0.1:1", "connection refused")
		_, err = move(t.Context(), upkeep.Installation{Dir: t.TempDir()}, to, quiet)
		wantError(t, "an empty folder", err, "no Countersign data in")
	}

	wantError(t, "a start of what was moved", starts(t, gone), "start it at its new place, somewhere else", "countersign move --undo")
	folder, err := upkeep.Inspect(t.Context(), gone.Dir, gone.URL)
	storetest.Must(t, err)
	wantError(t, "the doctor", folder.Moved(t.Context()), "start it at its new place, somewhere else")
	storetest.Must(t, folder.Close())
	place, err := upkeep.UndoMove(t.Context(), gone, storetest.Operator())
	if err != nil || place != "somewhere else" {
		t.Errorf("undo: %q, %v", place, err)
	}
	storetest.Must(t, starts(t, gone))
	_, err = upkeep.UndoMove(t.Context(), gone, storetest.Operator())
	wantError(t, "undo once more", err, "was not moved")
}

// A row of the source that is not as its ledger says is found before anything is copied.
func TestMoveRefusesASourceThatDiffersFromItsLedger(t *testing.T) {
	t.Parallel()
	onPostgres(t)
	from, to := installed(t), otherKind(t)
	pool := dbtest.Beside(t, filepath.Join(from.Dir, models.DatabaseFile))
	dbtest.Forge(t, pool, `UPDATE users SET role = 'admin' WHERE role = 'reviewer'`)
	storetest.Must(t, pool.Close())
	_, err := move(t.Context(), from, to, quiet)
	wantError(t, "a forged row", err, "differ from its ledger, the first is: users ", "audit verify --rows")
	storetest.Must(t, starts(t, from))
}

// cutOff moves until a step begins, as if the process were killed there.
func cutOff(t *testing.T, from, to upkeep.Installation, step string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	if _, err := move(ctx, from, to, func(s upkeep.MoveState) {
		if strings.HasPrefix(s.Text, step) {
			stop()
		}
	}); !errors.Is(err, context.Canceled) {
		t.Fatalf("it was to be cut off at %s: %v", step, err)
	}
}

// A move that is cut off anywhere goes on when it runs again, in both directions. Until it has ended the target does not
// start, and the source does.
func TestMoveGoesOnWhereItWasCutOff(t *testing.T) {
	t.Parallel()
	onPostgres(t)
	from, file := installed(t), otherKind(t)
	for _, way := range [][2]upkeep.Installation{{from, file}, {file, emptyDatabase(t, file.Dir)}} {
		from, to := way[0], way[1]
		for _, step := range []string{"copying ledger", "copying responses", "making indexes", "comparing both sides"} {
			cutOff(t, from, to, step)
			wantError(t, "a start of the target", starts(t, to), "a move to here began", "run the same `countersign move` again")
			_, err := upkeep.UndoMove(t.Context(), to, storetest.Operator())
			wantError(t, "undo there", err, "has not ended")
		}
		goesOn := false
		result, err := move(t.Context(), from, to, func(s upkeep.MoveState) { goesOn = goesOn || strings.HasPrefix(s.Text, "going on with the move") })
		storetest.Must(t, err)
		if !goesOn || result.Rows == 0 || result.Head.Seq == 0 {
			t.Errorf("it does not say where it goes on: %+v", result)
		}
		storetest.Must(t, starts(t, to))
		wantError(t, "a start of the source", starts(t, from), "start it at its new place, "+result.To)
		_, err = move(t.Context(), from, to, quiet)
		wantError(t, "once more", err, "start it at its new place, "+result.To)
	}
}

// A move that is killed after it has marked the source, and before the target may start, is ended by the next.
func TestMoveEndsWhereBothAreMarked(t *testing.T) {
	t.Parallel()
	onPostgres(t)
	from, to := installed(t), otherKind(t)
	cutOff(t, from, to, "comparing both sides")
	pool := dbtest.Beside(t, filepath.Join(from.Dir, models.DatabaseFile))
	storetest.Must(t, storetest.Err(pool.ExecContext(t.Context(), `INSERT INTO moves (id, gone, place, head, at) VALUES (1, TRUE, ?, '', '2026-01-01 00:00:00+00:00')`, "the data folder "+to.Dir)))
	storetest.Must(t, pool.Close())
	wantError(t, "a start of the source", starts(t, from), "was moved on")
	storetest.Must(t, storetest.Err(move(t.Context(), from, to, quiet)))
	storetest.Must(t, starts(t, to))
	wantError(t, "a start of the source", starts(t, from), "was moved on")
}

// If the source was started after the move began, what was copied is out of date.
func TestMoveRefusesToGoOnAfterTheSourceWasStarted(t *testing.T) {
	t.Parallel()
	onPostgres(t)
	from, to := installed(t), otherKind(t)
	cutOff(t, from, to, "copying ledger")
	s := storetest.New(t, storetest.WithDir(from.Dir))
	storetest.User(t, s, "late@example.com", models.RoleReviewer)
	storetest.Must(t, s.Close())
	_, err := move(t.Context(), from, to, quiet)
	wantError(t, "the same move", err, "was started after this move began", "make that empty again")
	_, err = move(t.Context(), installed(t), to, quiet)
	wantError(t, "another move into it", err, "is not empty", "name another database or folder")
}

// A target that has anything is refused.
func TestMoveRefusesATargetThatIsNotEmpty(t *testing.T) {
	t.Parallel()
	onPostgres(t)
	from, file := installed(t), otherKind(t)
	storetest.Must(t, storetest.Err(move(t.Context(), from, file, quiet)))
	_, err := move(t.Context(), installed(t), file, quiet)
	wantError(t, "a folder with an installation", err, "--to: the data folder "+file.Dir+" is not empty", "has rows")
	_, err = move(t.Context(), file, installed(t), quiet)
	wantError(t, "a database with an installation", err, "--to: PostgreSQL database ", "is not empty")

	running := installed(t)
	s := storetest.New(t, storetest.WithDir(running.Dir))
	_, err = move(t.Context(), file, running, quiet)
	wantError(t, "a database that a server uses", err, "--to: a server or another command is using PostgreSQL database ", "stop it first")
	storetest.Must(t, s.Close())

	foreign := emptyDatabase(t, file.Dir)
	pool := plainly(t, foreign)
	for _, text := range []string{`DROP SCHEMA public CASCADE`, `CREATE SCHEMA public`, `CREATE TABLE theirs (a text)`} {
		storetest.Must(t, storetest.Err(pool.ExecContext(t.Context(), text)))
	}
	_, err = move(t.Context(), file, foreign, quiet)
	wantError(t, "a database of somebody else", err, "it has tables that are not Countersign's")
	storetest.Must(t, storetest.Err(pool.ExecContext(t.Context(), `DROP TABLE theirs`)))
	storetest.Must(t, storetest.Err(move(t.Context(), file, foreign, quiet))) // which is blank: the move makes the tables
	storetest.Must(t, starts(t, foreign))
}

// plainly opens a PostgreSQL database as any program could.
func plainly(t *testing.T, at upkeep.Installation) *sql.DB {
	t.Helper()
	pool, err := sql.Open("pgx", at.URL)
	storetest.Must(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	return pool
}

// A row that is not at the new place as it was is named, the source stays unmarked, and the target does not start.
func TestMoveFindsWhatDiffersAtTheNewPlace(t *testing.T) {
	t.Parallel()
	onPostgres(t)
	file := otherKind(t)
	storetest.Must(t, storetest.Err(move(t.Context(), installed(t), file, quiet)))
	for edit, want := range map[string]string{
		`UPDATE responses SET description = description || '!' WHERE number = 1`: " differs in description",
		`DELETE FROM tokens`: " is missing at the new place",
		`INSERT INTO told_headlines SELECT id FROM responses LIMIT 1`: " is at the new place only",
	} {
		to := emptyDatabase(t, file.Dir)
		_, err := move(t.Context(), file, to, func(s upkeep.MoveState) {
			if s.Text == "comparing both sides" {
				storetest.Must(t, storetest.Err(plainly(t, to).ExecContext(t.Context(), `SET session_replication_role = replica; `+edit)))
			}
		})
		wantError(t, edit, err, want, "Nothing was marked as moved")
		wantError(t, "a start of the target", starts(t, to), "has not ended")
		storetest.Must(t, starts(t, file))
	}
}

// Nobody opens either database while it is moved.
func TestNobodyOpensWhatIsBeingMoved(t *testing.T) {
	t.Parallel()
	onPostgres(t)
	from, file := installed(t), otherKind(t)
	refuses := func(from, to, open upkeep.Installation) {
		t.Helper()
		once := false
		storetest.Must(t, storetest.Err(move(t.Context(), from, to, func(s upkeep.MoveState) {
			if s.Text == "comparing both sides" && !once {
				once = true
				wantError(t, "a start meanwhile", starts(t, open), "in use by `countersign move`")
			}
		})))
	}
	refuses(from, file, from)
	to := emptyDatabase(t, file.Dir)
	refuses(file, to, to)
}

// What PostgreSQL can't store is refused by its table, key and column.
func TestMoveNamesATextThatPostgreSQLCannotStore(t *testing.T) {
	t.Parallel()
	onPostgres(t)
	file := otherKind(t)
	storetest.Must(t, storetest.Err(move(t.Context(), installed(t), file, quiet)))
	pool, err := sql.Open("sqlite3", filepath.Join(file.Dir, models.DatabaseFile))
	storetest.Must(t, err)
	storetest.Must(t, storetest.Err(pool.ExecContext(t.Context(), `INSERT INTO saved_views SELECT id, 'history', 'mine', 'a' || char(0), created_at FROM users LIMIT 1`)))
	storetest.Must(t, pool.Close())
	_, err = move(t.Context(), file, emptyDatabase(t, file.Dir), quiet)
	wantError(t, "a zero byte", err, "copy saved_views: saved_views ", " history mine: query has a zero byte")
}
