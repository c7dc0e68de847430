package upkeep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/glass"
)

// pendingNumbers walks the partial index of pending requests, which holds the rows' numbers too, so that no row is
// read: 100,000 that wait take some 10 ms.
const pendingNumbers = `SELECT count(*), coalesce(min(number), 0) FROM responses` + db.ByResponsesPendingRisk + `
 WHERE approval_status = 'pending' AND approval_timeout_at > ?`

const outsideNumbers = `SELECT (SELECT count(*) FROM deliveries` + db.ByDeliveriesDue + ` WHERE done_at IS NULL),
 (SELECT count(*) FROM upstreams` + db.ByUpstreamsDue + ` WHERE disabled_at IS NULL AND failures > 0)`

const noticeNumbers = `SELECT (SELECT count(*) FROM notice_sends` + db.ByNoticeSendsDue + `),
 (SELECT count(*) FROM channels` + db.ByChannelsInUse + ` WHERE removed_at IS NULL AND failing_since IS NOT NULL)`

const requestedAt = `SELECT approval_requested_at FROM responses WHERE number = ?`

const (
	// pendingByAge walks the same index in its order, and reads the rows for their times.
	pendingByAge = `SELECT CASE risk WHEN 'critical' THEN 0 WHEN 'high' THEN 1 WHEN 'medium' THEN 2 WHEN 'low' THEN 3 END AS place,
 count(*) FILTER (WHERE approval_requested_at <= ?1), count(*) FILTER (WHERE approval_requested_at > ?1 AND approval_requested_at <= ?2),
 count(*) FILTER (WHERE approval_requested_at > ?2 AND approval_requested_at <= ?3), count(*) FILTER (WHERE approval_requested_at > ?3)
 FROM responses` + db.ByResponsesPendingRisk + ` WHERE approval_status = 'pending' AND approval_timeout_at > ?4 GROUP BY place`
	standingStops = `SELECT count(*) FROM stops` + db.ByStopsStanding + ` WHERE lifted_at IS NULL`
)

// Numbers are the current figures of the whole store. A request past its deadline does not wait, written down or not
// (I3).
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
	if n.Nodes, err = u.store.Nodes.All(ctx); err != nil {
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
	n.GateOff, n.FallbackOn = version.Program.GateOff(now), version.Program.FallbackOn(now)
	if err := u.db.Reads().QueryRowContext(ctx, standingStops).Scan(&n.Stops); err != nil {
		return fmt.Errorf("count stops: %w", err)
	}
	if err := u.db.Reads().QueryRowContext(ctx, glass.CountUnacknowledged).Scan(&n.BrokenGlass); err != nil {
		return fmt.Errorf("count what broke glass: %w", err)
	}
	if n.DatabaseBytes, n.LogBytes, n.FreeBytes, err = u.db.Sizes(ctx); err != nil {
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

// byAge counts pending requests by their risk and age: each risk and each of models.PendingAges, the worst and the
// longest first.
func (u *Upkeep) byAge(ctx context.Context) ([]models.PendingCount, error) {
	now, ages := u.db.Now(), models.PendingAges()
	rows, err := u.db.Reads().QueryContext(ctx, pendingByAge, now.Add(-ages[0].Least), now.Add(-ages[1].Least),
		now.Add(-ages[2].Least), now)
	if err != nil {
		return nil, fmt.Errorf("count what waits by age: %w", err)
	}
	defer rows.Close()
	risks := models.RisksDown()
	counts := make([][4]int, len(risks))
	for rows.Next() {
		var place int
		var n [4]int
		if err := rows.Scan(&place, &n[0], &n[1], &n[2], &n[3]); err != nil {
			return nil, fmt.Errorf("count what waits by age: %w", err)
		}
		counts[place] = n
	}
	var out []models.PendingCount
	for place, risk := range risks {
		for i, age := range ages {
			out = append(out, models.PendingCount{Risk: risk, Age: age.Name, Count: counts[place][i]})
		}
	}
	return out, rows.Err()
}
