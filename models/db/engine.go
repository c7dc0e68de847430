package db

import (
	"context"
	"database/sql"
	"time"

	"gorm.io/gorm"

	"countersign/models"
	"countersign/models/events"
)

// engine is what each of the two databases does in its own way: SQLite in a file of the data folder, or PostgreSQL.
// How queries are written is in dialect.go.
type engine interface {
	// open brings the schema up to date and opens two pools: of the one writing connection, and of those that read.
	open(ctx context.Context, d *DB) (writes, reads *sql.DB, err error)
	// gorm is how GORM speaks on a pool.
	gorm(pool *sql.DB) gorm.Dialector
	// prepare says with which statements the writer begins and ends a batch.
	prepare(w *writer) map[**Stmt]string
	// present fails where the database is another than the one that was opened. w is nil before the batch begins.
	present(w *writer) error
	// version is a number that has changed since the last batch where anybody else has written, and the database's time,
	// if it has a clock.
	version(w *writer) (number int64, at time.Time, err error)
	// mark ends a batch that wrote, before its COMMIT, tells other processes what it has changed, and says which it is.
	mark(w *writer, topics []events.Topic) (batch int64, err error)
	// listen hears what they tell, until ctx ends.
	listen(ctx context.Context, d *DB)
	// awaitOthers waits for the transaction that another node runs now.
	awaitOthers(ctx context.Context, d *DB) error
	// lost reports whether the connection is gone, with all that was not committed.
	lost(err error) bool
	// committed reports whether a batch of this process is in the database; w is another connection than its own.
	committed(w *writer, batch int64) (bool, error)
	// leave has the database forget this process, which ends.
	leave(d *DB) error
	// fault is why nothing can be written; nil: the error is about the request.
	fault(err error) *fault
	// full reports whether there was no space.
	full(err error) bool
	// migrated is the schema that the migrations make, as Schema reads it.
	migrated(ctx context.Context) (map[string]Statement, error)
	// truncateLog and vacuum are TruncateLog and Vacuum.
	truncateLog(ctx context.Context) (done bool, err error)
	vacuum(ctx context.Context) error
	// sizes are how many bytes the database and its log take, and how many are free beside them; 0: it can't be told.
	sizes(ctx context.Context, d *DB) (database, log, free int64, err error)
}

// Migrated is the schema that the migrations make, as Schema reads it.
func (d *DB) Migrated(ctx context.Context) (map[string]Statement, error) {
	return d.engine.migrated(ctx)
}

// MigratedAt is the same of a PostgreSQL database, or, where its address is empty, of a file.
func MigratedAt(ctx context.Context, url string) (map[string]Statement, error) {
	return engineOf(Options{URL: url}, "").migrated(ctx)
}

// Sizes are how many bytes the database and its log take, and how many are free on their disk; 0: that can't be told.
func (d *DB) Sizes(ctx context.Context) (database, log, free int64, err error) {
	return d.engine.sizes(ctx, d)
}

func engineOf(opts Options, path string) engine {
	if opts.URL != "" {
		return &postgresEngine{url: opts.URL, name: models.NewID[string]()}
	}
	return &sqliteEngine{path: path}
}
