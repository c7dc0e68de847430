package upkeep

import (
	"context"
	"fmt"

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
	n.RowCheck, err = lastRows(ctx, u.db.Reads())
	return n, err
}
