package dbtest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver

	"countersign/migrations"
	"countersign/models"
	"countersign/models/db"
)

// OnPostgres is whether tests run on PostgreSQL: .ci/postgres says where its server is.
func OnPostgres() bool { return server() != "" }

func server() string { return os.Getenv("COUNTERSIGN_TEST_POSTGRES") }

// TakeTurn waits for the turn of a process that writes on PostgreSQL, and counts its batch: db's own statements.
const TakeTurn = `SELECT pg_advisory_xact_lock(4919); UPDATE batches SET number = number + 1 WHERE writer = ''`

// databases are the addresses of the databases of data folders.
var databases sync.Map

// URL is the address of the database of a data folder; empty: it is a file there.
func URL(tb testing.TB, dir string) string {
	tb.Helper()
	if !OnPostgres() {
		return ""
	}
	return address(tb, dir)
}

// address is of the database that belongs to a data folder: made of a template at the first call, gone with the test
// that made it.
func address(tb testing.TB, dir string) string {
	tb.Helper()
	if known, ok := databases.Load(dir); ok {
		return known.(string) //nolint:forcetypeassert // nothing else is stored
	}
	return made(tb, dir, "")
}

// copying is held while a database is copied: it takes no connections meanwhile.
var copying sync.Mutex

// made is the address of a new database for a data folder: a copy of the database of another folder, whose connections
// end; without one, of an empty one.
func made(tb testing.TB, dir, from string) string {
	tb.Helper()
	name := "test_" + models.NewID[string]()
	pool, err := sql.Open("pgx", server())
	like := templateName()
	if err == nil && from == "" {
		err = template(tb.Context(), pool)
	} else if known, ok := databases.Load(from); ok {
		u, _ := url.Parse(known.(string)) //nolint:forcetypeassert // nothing else is stored
		like = strings.TrimPrefix(u.Path, "/")
	}
	if from != "" {
		copying.Lock()
		defer copying.Unlock()
	}
	if err == nil && from != "" {
		_, err = pool.ExecContext(tb.Context(), `ALTER DATABASE "`+like+`" ALLOW_CONNECTIONS FALSE`)
		defer func() {
			_, err := pool.ExecContext(tb.Context(), `ALTER DATABASE "`+like+`" ALLOW_CONNECTIONS TRUE`)
			must(tb, err)
		}()
	}
	if err == nil && from != "" {
		_, err = pool.ExecContext(tb.Context(), `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = $1`, like)
	}
	if err == nil {
		_, err = pool.ExecContext(tb.Context(), `CREATE DATABASE "`+name+`" TEMPLATE "`+like+`" STRATEGY FILE_COPY`)
	}
	if err != nil {
		tb.Fatalf("make a database: %v", err)
	}
	tb.Cleanup(func() {
		_, err := pool.ExecContext(context.Background(), `DROP DATABASE "`+name+`" WITH (FORCE)`)
		if err = errors.Join(err, pool.Close()); err != nil {
			tb.Errorf("drop a database: %v", err)
		}
	})
	databases.Store(dir, named(name))
	return named(name)
}

// named is the address of a database of the server.
func named(name string) string {
	u, err := url.Parse(server())
	if err != nil {
		panic(err)
	}
	u.Path = "/" + name
	return u.String()
}

// templateName is other for other migrations.
var templateName = sync.OnceValue(func() string {
	sum := sha256.New()
	_ = fs.WalkDir(migrations.Postgres, ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			text, err := migrations.Postgres.ReadFile(path)
			sum.Write(text)
			return err
		}
		return err
	})
	return "template_" + hex.EncodeToString(sum.Sum(nil)[:8])
})

// template makes the database that all others are copies of. Several processes run tests at once: one makes it.
func template(ctx context.Context, pool *sql.DB) (err error) {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.ExecContext(ctx, `SELECT pg_advisory_lock(1)`); err != nil {
		return err
	}
	defer func() {
		_, over := conn.ExecContext(ctx, `SELECT pg_advisory_unlock(1)`)
		err = errors.Join(err, over)
	}()
	var made bool
	if err := conn.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)`, templateName()).
		Scan(&made); err != nil || made {
		return err
	}
	if _, err := conn.ExecContext(ctx, `CREATE DATABASE making`); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "template")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	d, err := db.Open(ctx, db.Options{Dir: dir, URL: named("making"), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return fmt.Errorf("migrate the template: %w", err)
	}
	if err := d.Close(); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, `ALTER DATABASE making RENAME TO `+templateName())
	return err
}

// AtPostgres runs statements at a PostgreSQL server, such as those that make databases.
func AtPostgres(tb testing.TB, address string) (exec func(query string)) {
	tb.Helper()
	pool, err := db.OpenPostgres(tb.Context(), address, false)
	must(tb, err)
	tb.Cleanup(func() { _ = pool.Close() })
	return func(query string) {
		tb.Helper()
		_, err := pool.ExecContext(context.WithoutCancel(tb.Context()), query)
		must(tb, err)
	}
}
