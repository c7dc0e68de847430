package upkeep

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"time"

	"countersign/models"
	"countersign/models/db"
)

// pendingNumbers walks the partial index of what waits, which holds the rows'
// numbers too, so that no row is read: 100,000 that wait take some 10 ms.
const pendingNumbers = `SELECT count(*), coalesce(min(number), 0) FROM responses` + db.ByResponsesPendingRisk + `
 WHERE approval_status = 'pending' AND approval_timeout_at > ?`

const outsideNumbers = `SELECT (SELECT count(*) FROM deliveries` + db.ByDeliveriesDue + ` WHERE done_at IS NULL),
 (SELECT count(*) FROM upstreams` + db.ByUpstreamsDue + ` WHERE disabled_at IS NULL AND failures > 0)`

const noticeNumbers = `SELECT (SELECT count(*) FROM notice_sends` + db.ByNoticeSendsDue + `),
 (SELECT count(*) FROM channels` + db.ByChannelsInUse + ` WHERE removed_at IS NULL AND failing_since IS NOT NULL)`

const requestedAt = `SELECT approval_requested_at FROM responses WHERE number = ?`

const (
	// pendingOfRisk reads a part of the same index, and the rows.
	pendingOfRisk = `SELECT number FROM responses` + db.ByResponsesPendingRisk + ` WHERE approval_status = 'pending'
 AND CASE risk WHEN 'critical' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 WHEN 'low' THEN 3 END = ? AND approval_timeout_at > ?`
	standingStops = `SELECT count(*) FROM stops` + db.ByStopsStanding + ` WHERE lifted_at IS NULL`
	notOlder      = `SELECT created_at >= ? FROM responses WHERE number >= ? ORDER BY number LIMIT 1`
)

// Numbers are the figures of the whole store as they stand now. What is past its
// deadline does not wait, written down or not (I3).
func (u *Upkeep) Numbers(ctx context.Context) (models.Numbers, error) {
	n := models.Numbers{Waiters: u.store.Waiters()}
	var oldest int64
	if err := u.db.Reads().QueryRowContext(ctx, pendingNumbers, u.db.Now()).Scan(&n.Pending, &oldest); err != nil {
		return n, fmt.Errorf("count what waits: %w", err)
	}
	if oldest > 0 {
		if err := u.db.Reads().QueryRowContext(ctx, requestedAt, oldest).Scan(&n.Oldest); err != nil {
			return n, fmt.Errorf("read the oldest that waits: %w", err)
		}
	}
	head, err := u.store.Ledger.Head(ctx)
	if err != nil {
		return n, err
	}
	n.LedgerSeq = head.Seq
	if err := u.db.Reads().QueryRowContext(ctx, outsideNumbers).Scan(&n.UnsentVerdicts, &n.FailingUpstreams); err != nil {
		return n, fmt.Errorf("count what upstreams wait for: %w", err)
	}
	if err := u.db.Reads().QueryRowContext(ctx, noticeNumbers).Scan(&n.UnsentNotices, &n.FailingChannels); err != nil {
		return n, fmt.Errorf("count notifications: %w", err)
	}
	hooks, err := u.store.Webhooks.States(ctx)
	if err != nil {
		return n, err
	}
	for i := range hooks {
		h := &hooks[i]
		n.WebhooksBehind += h.Behind
		if h.OldestAt != nil && (n.WebhooksOldest.IsZero() || h.OldestAt.Before(n.WebhooksOldest)) {
			n.WebhooksOldest = *h.OldestAt
		}
		if h.PausedAt != nil {
			n.PausedWebhooks++
		}
	}
	if n.RowCheck, err = lastRows(ctx, u.db.Reads()); err != nil {
		return n, err
	}
	if n.ByAge, err = u.byAge(ctx); err != nil {
		return n, err
	}
	return n, u.switches(ctx, &n)
}

// switches adds what lets calls through or keeps them back, and what the disk has.
func (u *Upkeep) switches(ctx context.Context, n *models.Numbers) (err error) {
	version, err := u.store.CurrentPolicy(ctx)
	if err != nil {
		return err
	}
	now := u.db.Now()
	n.GateOff, n.FallbackOn = version.Compiled.GateOff(now), version.Compiled.FallbackOn(now)
	if err := u.db.Reads().QueryRowContext(ctx, standingStops).Scan(&n.Stops); err != nil {
		return fmt.Errorf("count stops: %w", err)
	}
	if n.DatabaseBytes, n.LogBytes, n.FreeBytes, err = u.db.Sizes(); err != nil {
		return err
	}
	info, err := os.Stat(filepath.Join(filepath.Dir(u.db.Path()), models.BackupFile))
	if err == nil {
		n.BackupAt = info.ModTime()
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look for the last backup: %w", err)
	}
	return nil
}

// byAge counts what waits by its risk and how long it has. Requests come in the order of their
// numbers, so each span begins at a number, which is found by halving.
func (u *Upkeep) byAge(ctx context.Context) ([]models.PendingCount, error) {
	now := u.db.Now()
	ages := models.PendingAges()
	begins := make([]int64, len(ages))
	for i := range ages[1:] {
		var err error
		if begins[i+1], err = u.firstSince(ctx, now.Add(-ages[i].Least)); err != nil {
			return nil, err
		}
	}
	var out []models.PendingCount
	for place, risk := range slices.Backward(models.Risks()) {
		counts := make([]int, len(ages))
		rows, err := u.db.Reads().QueryContext(ctx, pendingOfRisk, len(models.Risks())-1-place, now)
		if err != nil {
			return nil, fmt.Errorf("count what waits by risk: %w", err)
		}
		for number, err := range numbersIn(rows) {
			if err != nil {
				return nil, fmt.Errorf("count what waits by risk: %w", err)
			}
			of := len(ages) - 1
			for of > 0 && number < begins[of] {
				of--
			}
			counts[of]++
		}
		for i, age := range ages {
			out = append(out, models.PendingCount{Risk: risk, Age: age.Name, Count: counts[i]})
		}
	}
	return out, nil
}

// numbersIn reads the one column of a query, and closes it.
func numbersIn(rows *sql.Rows) iter.Seq2[int64, error] {
	return func(yield func(int64, error) bool) {
		defer rows.Close()
		for rows.Next() {
			var n int64
			if err := rows.Scan(&n); !yield(n, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(0, err)
		}
	}
}

// firstSince is the number of the first response that is not older than at.
func (u *Upkeep) firstSince(ctx context.Context, at time.Time) (int64, error) {
	var last int64
	if err := u.db.Reads().QueryRowContext(ctx, `SELECT coalesce(max(number), 0) FROM responses`).Scan(&last); err != nil {
		return 0, fmt.Errorf("read the last number: %w", err)
	}
	var err error
	found := sort.Search(int(last), func(i int) bool {
		var reached bool
		if err == nil {
			err = u.db.Reads().QueryRowContext(ctx, notOlder, at, i+1).Scan(&reached)
		}
		return reached
	})
	return int64(found) + 1, err
}
