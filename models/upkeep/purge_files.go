package upkeep

import (
	"context"
	"fmt"
	"time"

	"countersign/models/db"
)

// TruncateLog moves everything out of the write-ahead log into the database and empties the log, so that removed
// contents are not in it any more. It needs a moment without readers of the log; false: there was none.
func (u *Upkeep) TruncateLog(ctx context.Context) (done bool, err error) {
	return u.db.TruncateLog(ctx)
}

// Vacuum writes the database again without its empty pages. Nothing else can be
// written meanwhile, and it takes as much free disk as the database does.
func (u *Upkeep) Vacuum(ctx context.Context) error { return u.db.Vacuum(ctx) }

// FreeBytes is how much of the database file is empty: Vacuum gives it back.
func (u *Upkeep) FreeBytes(ctx context.Context) (int64, error) {
	return db.FreeBytes(ctx, u.db.Reads())
}

// Unpurged is how many requests were over before a time and still have their
// contents.
func (i *Inspection) Unpurged(ctx context.Context, before time.Time) (n int64, err error) {
	w := &purgeWalks[0]
	args := []any{0, "", db.Stamp(before)}
	err = i.db.QueryRowContext(ctx, `SELECT count(*) FROM (SELECT `+w.row+` WHERE ?1 = 0 AND ?2 = '') WHERE due`,
		args...).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("look for contents that should be removed: %w", err)
	}
	return n, nil
}
