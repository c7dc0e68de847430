package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"time"

	"countersign/models/db"
)

const (
	truncateTries = 20
	truncatePause = 250 * time.Millisecond
	// truncateBusy is how long an attempt waits for readers: writers wait with it.
	truncateBusy = "100" // ms
)

// TruncateLog moves everything out of the write-ahead log into the database and
// empties the log, so that what was removed is not in it any more. It needs a
// moment in which nobody reads from the log; false: there was none.
func (s *Store) TruncateLog(ctx context.Context) (done bool, err error) {
	pool, err := db.OpenFile(db.DSN(s.Path(), url.Values{"_txlock": {"immediate"}, "_busy_timeout": {truncateBusy}}))
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
		var busy, frames, moved int
		if err := pool.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &frames, &moved); err != nil {
			return false, fmt.Errorf("truncate the log: %w", err)
		}
		if busy == 0 {
			return true, nil
		}
		pause.Reset(truncatePause)
	}
	return false, nil
}

// FreeBytes is how much of the database file is empty: Vacuum gives it back.
func (s *Store) FreeBytes(ctx context.Context) (int64, error) { return freeBytes(ctx, s.db.Reads()) }

// FreeBytes is Store.FreeBytes of a folder.
func (i *Inspection) FreeBytes(ctx context.Context) (int64, error) { return freeBytes(ctx, i.db) }

func freeBytes(ctx context.Context, pool *sql.DB) (int64, error) {
	var free, size int64
	err := pool.QueryRowContext(ctx, `SELECT (SELECT * FROM pragma_freelist_count), (SELECT * FROM pragma_page_size)`).Scan(&free, &size)
	if err != nil {
		return 0, fmt.Errorf("read free pages: %w", err)
	}
	return free * size, nil
}

// Vacuum writes the database anew without its empty pages. Nothing else can be
// written meanwhile, and it takes as much free disk as the database does.
func (s *Store) Vacuum(ctx context.Context) (err error) {
	// With a driver that keeps its copy in a file: the others keep theirs in memory.
	pool, err := sql.Open("sqlite3", fileURI(s.Path(), "mode=rw&_secure_delete=on&_journal_mode=WAL&_synchronous=FULL&_busy_timeout="+db.BusyTimeout))
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	if _, err := pool.ExecContext(ctx, `VACUUM`); err != nil {
		return fmt.Errorf("write the database anew: %w", err)
	}
	return nil
}

// Unpurged is how many requests were over before a time and still have their
// contents.
func (i *Inspection) Unpurged(ctx context.Context, before time.Time) (n int64, err error) {
	w := &purgeWalks[0]
	args := []any{0, "", db.Stamp(before)}
	err = i.db.QueryRowContext(ctx, `SELECT count(*) FROM (SELECT `+w.row+` WHERE ?1 = 0 AND ?2 = '') WHERE due`, args...).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("look for contents that should be removed: %w", err)
	}
	return n, nil
}
