package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
	gormpostgres "gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"countersign/migrations"
	"countersign/models/db/postgres"
	"countersign/models/events"
)

// postgresEngine is PostgreSQL, for any number of processes on any number of machines.
type postgresEngine struct {
	url  string
	name string // of this process among those that write
}

func (e *postgresEngine) open(ctx context.Context, d *DB) (writes, reads *sql.DB, err error) {
	if d.schema, err = newestOf(migrations.Postgres, "postgres"); err != nil {
		return nil, nil, err
	}
	if err := e.migrate(ctx, d.schema, d.opts.Version); err != nil {
		return nil, nil, err
	}
	if writes, err = postgres.Open(ctx, e.url, false, ofCatalog); err != nil {
		return nil, nil, err
	}
	if reads, err = postgres.Open(ctx, e.url, true, ofCatalog); err != nil {
		return nil, nil, errors.Join(err, writes.Close())
	}
	return writes, reads, nil
}

// migrate brings the schema up to date, one process of the cluster at a time.
func (e *postgresEngine) migrate(ctx context.Context, knows int64, version string) (err error) {
	pool, err := postgres.OpenPlain(ctx, e.url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	locker, err := lock.NewPostgresSessionLocker()
	if err != nil {
		return fmt.Errorf("migrate database: %w", err)
	}
	provider, err := provide(goose.DialectPostgres, pool, migrations.Postgres, "postgres", slog.New(slog.DiscardHandler),
		goose.WithSessionLocker(locker))
	if err != nil {
		return err
	}
	steps, err := provider.Up(ctx)
	if err == nil && len(steps) > 0 {
		err = noteProgram(ctx, pool, version)
	}
	if err != nil {
		return fmt.Errorf("migrate database: %w", err)
	}
	has, err := provider.GetDBVersion(ctx)
	if err != nil {
		return fmt.Errorf("read the schema's version: %w", err)
	}
	return CheckUse(ctx, pool, has, knows)
}

// OpenPostgres opens a database of ours as it is, whatever its schema; with reads it changes nothing.
func OpenPostgres(ctx context.Context, url string, reads bool) (*sql.DB, error) {
	return postgres.Open(ctx, url, reads, ofCatalog)
}

func (*postgresEngine) gorm(pool *sql.DB) gorm.Dialector {
	return ourPlaces{gormpostgres.Dialector{Config: &gormpostgres.Config{Conn: pool}}}
}

// ourPlaces leaves the places of arguments as we write them, ?1 too: the driver numbers them.
type ourPlaces struct{ gormpostgres.Dialector }

// BindVarTo writes the place of an argument.
func (ourPlaces) BindVarTo(to clause.Writer, _ *gorm.Statement, _ any) { _ = to.WriteByte('?') }

// clusterLock is the number of the lock that the writer of the cluster holds: one process at a time.
const clusterLock = `SELECT pg_advisory_xact_lock(4919)`

func (*postgresEngine) prepare(w *writer) map[**Stmt]string {
	return map[**Stmt]string{
		&w.begin: `BEGIN`, &w.commit: `COMMIT`, &w.rollback: `ROLLBACK`,
		&w.lock: clusterLock, &w.version: `SELECT number, clock_timestamp() FROM batches WHERE writer = ''`,
		&w.mark: markBatch,
		&w.find: `SELECT coalesce(max(number), 0) FROM batches WHERE writer = ?`,
	}
}

// channel is where processes tell each other what they have changed.
const channel = "countersign"

// markBatch counts a batch, for all processes and for this one, and tells the others.
const markBatch = `WITH next AS (UPDATE batches SET number = number + 1 WHERE writer = '' RETURNING number)
 INSERT INTO batches (writer, number) SELECT ?1, number FROM next WHERE TRUE ON CONFLICT (writer) DO UPDATE SET number = excluded.number, at = now()
 RETURNING number, CAST(pg_notify('` + channel + `', ?1 || ' ' || number || ' ' || CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint) || ?2) AS text)`

// present waits until no other process writes.
func (*postgresEngine) present(w *writer) error {
	if w == nil {
		return nil
	}
	return w.lock.Run()
}

// version counts the batches of the whole cluster. After one of ours it is what mark made it.
func (*postgresEngine) version(w *writer) (number int64, at time.Time, err error) {
	err = w.version.QueryRowContext(context.Background()).Scan(&number, &at)
	return number, at, err
}

// mark leaves the number of the batch beside the name of this process: it is there if the batch is.
func (e *postgresEngine) mark(w *writer, topics []events.Topic) (int64, error) {
	var told string
	if err := w.mark.QueryRowContext(context.Background(), e.name, noticeOf(topics)).Scan(&w.dataVersion, &told); err != nil {
		return 0, fmt.Errorf("count the batch: %w", err)
	}
	return w.dataVersion, nil
}

// listenAgain is how long a connection on which notices are lost is waited for.
const listenAgain = 250 * time.Millisecond

func (e *postgresEngine) listen(ctx context.Context, d *DB) {
	for said := false; ctx.Err() == nil; {
		err := e.hearFrom(ctx, d)
		if ctx.Err() != nil {
			return
		}
		if !said {
			d.log.WarnContext(ctx, "what other processes do is heard a second later: no notices come from the database",
				slog.String("error", err.Error()))
		}
		said = true
		select {
		case <-ctx.Done():
		case <-time.After(listenAgain):
		}
	}
}

// hearFrom hears notices on one connection.
func (e *postgresEngine) hearFrom(ctx context.Context, d *DB) error {
	l, err := postgres.Listen(ctx, e.url, channel)
	if err != nil {
		return err
	}
	defer l.Close()
	d.outside.Store(true) // notices of before are lost
	if err := d.CheckOutside(ctx); err != nil {
		return err
	}
	for {
		text, err := l.Next(ctx)
		if err != nil {
			return err
		}
		if strings.HasPrefix(text, e.name+" ") {
			continue
		}
		if err := d.hear(ctx, text); err != nil {
			return err
		}
	}
}

// afterOthers has the lock for a moment, as soon as no writer has it.
const afterOthers = `SELECT CAST(pg_advisory_xact_lock_shared(4919) AS text)`

func (*postgresEngine) awaitOthers(ctx context.Context, d *DB) error {
	var void string
	if err := d.r.QueryRowContext(ctx, afterOthers).Scan(&void); err != nil {
		return fmt.Errorf("wait for other nodes: %w", err)
	}
	return nil
}

// committed waits until the server is done with the connection that was lost: it held the lock.
func (e *postgresEngine) committed(w *writer, batch int64) (bool, error) {
	if err := w.lock.Run(); err != nil {
		return false, err
	}
	var last int64
	if err := w.find.QueryRowContext(context.Background(), e.name).Scan(&last); err != nil {
		return false, err
	}
	return last == batch, nil
}

// leave takes the row of this process away, and those of processes that were killed.
func (e *postgresEngine) leave(d *DB) error {
	_, err := d.w.ExecContext(context.Background(),
		`DELETE FROM batches WHERE writer = ? OR writer <> '' AND at < now() - interval '1 day'`, e.name)
	if e.fault(err) != nil {
		return nil //nolint:nilerr // it stays for a day
	}
	return err
}

func (*postgresEngine) lost(err error) bool { return postgres.Lost(err) }

func (*postgresEngine) fault(err error) *fault {
	if answer, ok := errors.AsType[*pgconn.PgError](err); ok {
		switch answer.Code[:2] {
		case "25", "53", "58", "XX": // read-only, resources, system, internal
			return &fault{unwritableText, err}
		}
	}
	if postgres.Lost(err) {
		return &fault{unwritableText, err}
	}
	return nil
}

// migrated makes the schema beside the real one, in a transaction that is rolled back.
func (e *postgresEngine) migrated(ctx context.Context) (_ map[string]Statement, err error) {
	pool, err := postgres.OpenPlain(ctx, e.url)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return nil, fmt.Errorf("make a schema: %w", err)
	}
	defer tx.Rollback()
	texts := []string{`CREATE SCHEMA scratch; SET LOCAL search_path = scratch`}
	names, err := fs.Glob(migrations.Postgres, "postgres/*.sql")
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	for _, name := range names {
		text, err := migrations.Postgres.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read migrations: %w", err)
		}
		texts = append(texts, string(text)) // what goose heeds are comments
	}
	for _, text := range texts {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return nil, fmt.Errorf("make a schema: %w", err)
		}
	}
	return schemaBy(ctx, tx, ofCatalog[schemaQuery])
}

func (*postgresEngine) sizes(ctx context.Context, d *DB) (database, log, free int64, err error) {
	if err := d.r.QueryRowContext(ctx, SizeQuery).Scan(&database); err != nil {
		return 0, 0, 0, fmt.Errorf("read the size of the database: %w", err)
	}
	return database, 0, 0, nil
}

func (*postgresEngine) truncateLog(context.Context) (bool, error) { return true, nil }

func (e *postgresEngine) vacuum(ctx context.Context) (err error) {
	pool, err := postgres.OpenPlain(ctx, e.url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	if _, err := pool.ExecContext(ctx, `VACUUM`); err != nil {
		return fmt.Errorf("rewrite the database: %w", err)
	}
	return nil
}

func (*postgresEngine) full(err error) bool {
	answer, ok := errors.AsType[*pgconn.PgError](err)
	return ok && answer.Code == "53100"
}
