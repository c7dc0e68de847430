package upkeep

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
)

const (
	rowChecksEvery = 7 * 24 * time.Hour
	// rowCheckEnds is after what time one that has not ended was given up.
	rowCheckEnds = time.Hour

	claimRowCheck = `UPDATE row_checks SET last_begun_at = ?1 WHERE id = 1 AND (last_ended_at IS NULL OR last_ended_at <= ?2) AND (last_begun_at IS NULL OR last_begun_at <= ?3)`
	storeRowCheck = `UPDATE row_checks SET last_ended_at = ?, last_rows = ?, last_found = ?, last_not_covered = ?, last_problem = ? WHERE id = 1`
	lastRowCheck  = `SELECT last_ended_at, last_rows, last_found, last_not_covered, last_problem FROM row_checks WHERE id = 1`
)

// CheckRowsIfDue compares all rows with the ledger if the last time was a week
// ago, by whichever process on this database, and keeps how it went. Nil: it was
// not due. A chain that is broken is a result too.
func (u *Upkeep) CheckRowsIfDue(ctx context.Context) (*models.RowReport, error) {
	mine := false
	err := u.write(ctx, func(t *tx) error {
		res := t.Gorm().Exec(claimRowCheck, t.Now, t.Now.Add(-rowChecksEvery), t.Now.Add(-rowCheckEnds))
		mine = db.ExactlyOne(res.RowsAffected)
		return res.Error
	})
	if err != nil || !mine {
		return nil, err
	}
	found, err := u.VerifyRows(ctx, nil)
	if ctx.Err() != nil {
		return nil, ctx.Err() // it is made again once it counts as given up
	}
	problem := ""
	switch {
	case err != nil:
		problem, found = err.Error(), nil
	case found.Found > 0:
		problem = found.Faults[0].String()
	}
	kept := models.RowReport{}
	if found != nil {
		kept = *found
	}
	storeErr := u.write(ctx, func(t *tx) error {
		return t.Gorm().Exec(storeRowCheck, t.Now, kept.Rows(), kept.Found, kept.Uncovered(), problem).Error
	})
	if err == nil && storeErr != nil {
		err = fmt.Errorf("keep how comparing the rows went: %w", storeErr)
	}
	return found, err
}

// lastRows reads how the last comparison in the background went.
func lastRows(ctx context.Context, pool interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
},
) (c models.RowCheck, err error) {
	if err := pool.QueryRowContext(ctx, lastRowCheck).Scan(&c.EndedAt, &c.Rows, &c.Found, &c.NotCovered,
		&c.Problem); err != nil {
		return c, fmt.Errorf("read the last comparison of rows: %w", err)
	}
	return c, nil
}
