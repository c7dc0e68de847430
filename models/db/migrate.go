package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"
	"golang.org/x/sys/unix"

	"countersign/migrations"
)

// migrate brings the schema up to date. SQLite has no lock for that in goose, so
// a lock on the data folder keeps two processes apart. As a restore does, it refuses to go
// on while another process has the database open.
func migrate(ctx context.Context, path, version string, p *progress) (err error) {
	lock, err := os.Open(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("lock for migration: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX); err != nil {
		return fmt.Errorf("lock for migration: %w", err)
	}
	pool, err := OpenFile(writeDSN(path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	pending, err := hasPending(ctx, pool)
	if err == nil && pending {
		if err := errors.Join(pool.Close(), nobodyUses(path)); err != nil {
			return err
		}
		again, err := OpenFile(writeDSN(path))
		if err != nil {
			return err
		}
		pool = again
		pool.SetMaxOpenConns(1) // the one that progress listens to
		err = takeOver(ctx, pool)
		if err == nil {
			err = up(ctx, pool, migrations.SQLite, p)
		}
		if err == nil {
			err = noteProgram(ctx, pool, version)
		}
		if err != nil {
			return fmt.Errorf("migrate database: %w", err)
		}
	}
	if err != nil {
		return fmt.Errorf("migrate database: %w", err)
	}
	// What a newer program wrote may mean something else than this one thinks.
	has, knows, err := SchemaOf(ctx, pool)
	if err != nil {
		return err
	}
	return CheckUse(ctx, pool, has, knows)
}

// CheckUse refuses a schema that is not this program's. A newer one is good as long as its migrations have only added
// what older programs need not know: so servers are replaced one after the other.
func CheckUse(ctx context.Context, from RowQuerier, has, knows int64) error {
	switch {
	case has == knows:
		return nil
	case has < knows:
		return fmt.Errorf("the database has schema %d, and this program has migrations to %d", has, knows)
	}
	writableBy, program := has, "that brought it"
	err := from.QueryRowContext(ctx, schemaUse).Scan(&writableBy, &program)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("read which programs may use the schema: %w", err)
	}
	if writableBy <= knows {
		return nil
	}
	return fmt.Errorf("the database has schema %d, and this program knows %d: install the version %s, or a later one", has, knows, program)
}

// schemaUse is the first schema whose programs may use this one too, and the program that brought it.
const schemaUse = `SELECT writable_by, CASE program WHEN '' THEN 'that brought it' ELSE program END FROM schema_use`

// noteProgram writes down which program has brought the schema.
func noteProgram(ctx context.Context, pool *sql.DB, version string) error {
	if _, err := pool.ExecContext(ctx, `UPDATE schema_use SET program = `+quoted(version)); err != nil { //nolint:gosec // in quotes
		return fmt.Errorf("note the program that brought the schema: %w", err)
	}
	return nil
}

// quoted is a text as SQL writes it: the two drivers have different places for arguments.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// hasPending tells whether migrations are to be run, or ended.
func hasPending(ctx context.Context, pool *sql.DB) (bool, error) {
	provider, err := migrationsOf(pool, migrations.SQLite, slog.New(slog.DiscardHandler))
	if err != nil {
		return false, err
	}
	pending, err := provider.HasPending(ctx)
	if err != nil {
		return false, err
	}
	has, err := versionIn(ctx, pool)
	if err != nil {
		return false, err
	}
	before, err := fromBefore(ctx, pool, has)
	if err != nil || pending || before {
		return err == nil, err
	}
	target, err := Unfinished(ctx, pool)
	return target != 0, err
}

// nobodyUses refuses to migrate under another process, which would go on with a schema that
// it does not know. None can open the database meanwhile: each takes the folder's lock first.
func nobodyUses(path string) error {
	f, err := LockFile(path)
	if errors.Is(err, ErrInUse) {
		return fmt.Errorf("the database in %s needs this program's migrations, and another version of Countersign is using it: "+
			"stop that server or command first", filepath.Dir(path))
	}
	if err != nil || f == nil {
		return err
	}
	return f.Close()
}

// migrationsOf are the migrations of a SQLite database; log hears of each statement.
func migrationsOf(pool *sql.DB, from fs.FS, log *slog.Logger) (*goose.Provider, error) {
	return provide(goose.DialectSQLite3, pool, from, "sqlite", log)
}

func provide(dialect goose.Dialect, pool *sql.DB, from fs.FS, folder string, log *slog.Logger,
	options ...goose.ProviderOption,
) (*goose.Provider, error) {
	files, err := fs.Sub(from, folder)
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	provider, err := goose.NewProvider(dialect, pool, files, append(options, goose.WithDisableGlobalRegistry(true),
		goose.WithVerbose(true), goose.WithSlog(log))...)
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	return provider, nil
}

func up(ctx context.Context, pool *sql.DB, files fs.FS, p *progress) error {
	provider, err := migrationsOf(pool, files, p.statements())
	if err != nil {
		return err
	}
	from, to, err := provider.GetVersions(ctx)
	if err != nil {
		return err
	}
	if from > to {
		return nil // a newer program's: the caller looks at that
	}
	if err := p.begin(ctx, pool, from, to); err != nil {
		return err
	}
	if err := markUnfinished(ctx, pool, to); err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		return err
	}
	if err := markUnfinished(ctx, pool, 0); err != nil {
		return err
	}
	p.end(ctx)
	return nil
}

// markUnfinished notes in the file that its schema is on the way to another; 0: it is there.
// SQLite keeps the number for programs and copies it along.
func markUnfinished(ctx context.Context, pool *sql.DB, to int64) error {
	if _, err := pool.ExecContext(ctx, fmt.Sprintf(`PRAGMA user_version = %d`, to)); err != nil {
		return fmt.Errorf("note that migrations begin or end: %w", err)
	}
	return nil
}

// Unfinished is the schema that a migration of the database did not reach, if it began and did not end; else 0. No
// program knows a schema between two versions.
func Unfinished(ctx context.Context, pool *sql.DB) (to int64, err error) {
	if err := pool.QueryRowContext(ctx, `PRAGMA user_version`).Scan(&to); err != nil {
		return 0, fmt.Errorf("read whether migrations have ended: %w", err)
	}
	return to, nil
}

// schemaVersion is the number of the last migration that a database has. It does not begin as
// statements do that database/sql runs, for the writing connection reads it as a PRAGMA.
const schemaVersion = `WITH applied AS (SELECT max(version_id) AS last FROM goose_db_version WHERE is_applied) SELECT coalesce(last, 0) FROM applied`

// SchemaOf is the last migration that a database has, and the last that this program
// knows; ErrOlder for a schema from which no migration goes on.
func SchemaOf(ctx context.Context, pool *sql.DB) (has, wants int64, err error) {
	if wants, err = newestMigration(); err != nil {
		return 0, 0, err
	}
	if has, err = versionIn(ctx, pool); err != nil {
		return 0, wants, err
	}
	before, err := fromBefore(ctx, pool, has)
	if before {
		has = baseline // the same schema, by another number
	}
	return has, wants, err
}

func versionIn(ctx context.Context, from RowQuerier) (has int64, err error) {
	if err := from.QueryRowContext(ctx, schemaVersion).Scan(&has); err != nil {
		return 0, fmt.Errorf("read the schema's version: %w", err)
	}
	return has, nil
}

// newestMigration is the number that the last migration file begins with.
func newestMigration() (int64, error) { return newestOf(migrations.SQLite, "sqlite") }

func newestOf(from fs.FS, folder string) (int64, error) {
	names, err := fs.Glob(from, folder+"/*.sql")
	if err != nil {
		return 0, fmt.Errorf("read migrations: %w", err)
	}
	if len(names) == 0 {
		return 0, errors.New("read migrations: there are none")
	}
	number, _, _ := strings.Cut(path.Base(names[len(names)-1]), "_")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read migrations: %w", err)
	}
	return n, nil
}

// InMemory is an empty database in memory with the schema that the migrations make, for
// as long as use takes.
func InMemory(ctx context.Context, use func(*sql.DB) error) error {
	return inMemory(ctx, math.MaxInt64, use)
}

// inMemory is InMemory with the migrations up to one.
func inMemory(ctx context.Context, last int64, use func(*sql.DB) error) (err error) {
	pool, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		return fmt.Errorf("make a schema: %w", err)
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	pool.SetMaxOpenConns(1) // each connection would be another database
	provider, err := migrationsOf(pool, migrations.SQLite, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	if _, err := provider.UpTo(ctx, last); err != nil {
		return fmt.Errorf("make a schema: %w", err)
	}
	return use(pool)
}
