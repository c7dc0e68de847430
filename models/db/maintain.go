package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"time"
)

const (
	truncateTries = 20
	truncatePause = 250 * time.Millisecond
	// truncateBusy is how long an attempt waits for readers: writers wait with it.
	truncateBusy = "100" // ms
)

// TruncateLog moves everything out of the write-ahead log into the database and empties the log, so that removed
// contents are not in it any more. It needs a moment without readers of the log; false: there was none. PostgreSQL
// overwrites its log as it goes on.
func (d *DB) TruncateLog(ctx context.Context) (done bool, err error) {
	return d.engine.truncateLog(ctx)
}

func (e *sqliteEngine) truncateLog(ctx context.Context) (done bool, err error) {
	pool, err := OpenFile(DSN(e.path, url.Values{"_txlock": {"immediate"}, "_busy_timeout": {truncateBusy}}))
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	pause := time.NewTimer(0)
	defer pause.Stop()
	for range truncateTries {
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-pause.C:
		}
		var busy, frames, moves int
		if err := pool.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &frames, &moves); err != nil {
			return false, fmt.Errorf("truncate the log: %w", err)
		}
		if busy == 0 {
			return true, nil
		}
		pause.Reset(truncatePause)
	}
	return false, nil
}

// Vacuum writes the database again without its empty pages. Nothing else can be
// written meanwhile, and it takes as much free disk as the database does. On PostgreSQL the pages stay, for new rows.
func (d *DB) Vacuum(ctx context.Context) (err error) { return d.engine.vacuum(ctx) }

func (e *sqliteEngine) vacuum(ctx context.Context) (err error) {
	// With a driver that keeps its copy in a file: the others keep theirs in memory.
	pool, err := sql.Open("sqlite3",
		fileURI(e.path, "mode=rw&_secure_delete=on&_journal_mode=WAL&_synchronous=FULL&_busy_timeout="+BusyTimeout))
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	if _, err := pool.ExecContext(ctx, `VACUUM`); err != nil {
		return fmt.Errorf("rewrite the database: %w", err)
	}
	return nil
}
