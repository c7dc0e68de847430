package outside

import (
	"context"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
)

const outsideCallOf = `SELECT o.call_id, o.kind FROM responses r JOIN outside_approvals o ON o.upstream_id = r.upstream_id AND o.call_id = r.call_id AND o.response_id = r.id WHERE r.id = ?`

// BeginDelivery notes that an attempt begins, before anything is sent, and returns the verdict to send and its
// upstream. Nil: there is nothing left to send; a verdict whose time is over has expired, cause undelivered. It writes
// nothing for a caller that has lost the lease: CodeConflict.
func (o *Outside) BeginDelivery(
	ctx context.Context, l *models.Lease, id models.ResponseID,
) (d *models.Delivery, u *models.Upstream, err error) {
	err = o.writeAnyway(ctx, func(t *tx) error {
		d, u = nil, nil
		if err := t.HoldsLease(l); err != nil {
			return err
		}
		var row models.Delivery
		if err := t.Gorm().Where("response_id = ? AND done_at IS NULL", id).Take(&row).Error; err != nil {
			return db.NotFoundAs(err, nil)
		}
		if !t.Now.Before(row.GiveUpAt) {
			if row.InFlight(t.Now) {
				// Another process may still hear what became of its attempt.
				return t.DeliverAt(&row, row.InFlightAt.Add(models.AttemptEnds))
			}
			return t.Undelivered(&row)
		}
		if barred, err := t.WithdrawBarred(&row); barred || err != nil {
			return err
		}
		var err error
		if u, err = t.upstream(row.UpstreamID); err != nil {
			return err
		}
		if u.PausedAt != nil {
			u = nil
			return nil
		}
		// An attempt of a process that died may have arrived.
		row.Lost = row.Lost || row.InFlightAt != nil
		row.Attempts++
		if err := t.Gorm().Model(&row).UpdateColumns(map[string]any{
			"attempts": row.Attempts, "in_flight_at": t.Now, "lost": row.Lost,
		}).Error; err != nil {
			return fmt.Errorf("note attempt: %w", err)
		}
		d, err = t.delivery(&row)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return d, u, nil
}

// delivery is a verdict with all that is sent of it.
func (t *tx) delivery(row *models.Delivery) (*models.Delivery, error) {
	var v models.Vote
	if err := t.Gorm().Where("id = ?", row.VoteID).Take(&v).Error; err != nil {
		return nil, fmt.Errorf("read decision: %w", err)
	}
	var o models.OutsideApproval
	if err := t.Gorm().Raw(outsideCallOf, row.ResponseID).Take(&o).Error; err != nil {
		return nil, fmt.Errorf("read what was fetched: %w", err)
	}
	d := new(*row)
	d.CallID, d.Kind, d.Approved, d.Reason = o.CallID, o.Kind, v.Verdict == models.VerdictApprove, v.Reason
	switch {
	case v.Answer != nil:
		d.Answer = *v.Answer
	case v.Option != nil:
		d.Answer = *v.Option
	}
	if v.Option != nil {
		d.Option = *v.Option
	}
	return d, nil
}

// EndDelivery keeps how an attempt ended. If the upstream took the verdict, it becomes the outcome and everyone hears
// of it. A request that someone else has settled, or that is gone, is resolved. Otherwise another attempt follows. It
// writes nothing for a caller that has lost the lease: CodeConflict; the attempt then counts as lost.
func (o *Outside) EndDelivery(
	ctx context.Context, l *models.Lease, id models.ResponseID, end models.DeliveryEnd,
) error {
	return o.writeAnyway(ctx, func(t *tx) error {
		if err := t.HoldsLease(l); err != nil {
			return err
		}
		var row models.Delivery
		if err := t.Gorm().Where("response_id = ?", id).Take(&row).Error; err != nil {
			return db.NotFoundAs(err, models.NotFound("delivery"))
		}
		if row.DoneAt == nil && end.Result == models.DeliveryLater {
			return t.retry(&row, end)
		}
		return t.EndHeld(&row, end)
	})
}

// retry has an attempt made again. The last one is when the time is over.
func (t *tx) retry(row *models.Delivery, end models.DeliveryEnd) error {
	row.Problem, row.Lost, row.InFlightAt = end.Text, row.Lost || end.Lost, nil
	next := db.Stamp(t.Now.Add(end.Pause))
	if end.WrongKey {
		same, err := t.hasKey(row.UpstreamID, end.Key)
		switch {
		case err != nil:
			return err
		case !same:
			next = t.Now // with the new key it is sent at once
		default:
			if err := t.pauseUpstream("delivery", row.UpstreamID, end.Text); err != nil {
				return err
			}
		}
	}
	if next.After(row.GiveUpAt) {
		next = row.GiveUpAt
	}
	a, err := t.Request(row.ResponseID)
	if err != nil {
		return err
	}
	t.Publish(events.Approval(string(a.ID)), events.Conversation(string(a.ConversationID)))
	return t.DeliverAt(row, next)
}

const (
	upstreamIDs          = `SELECT id, paused_at IS NOT NULL AS paused FROM upstreams ORDER BY id`
	deliveriesOfUpstream = `SELECT response_id, next_at FROM deliveries` + db.ByDeliveriesDue +
		` WHERE upstream_id = ? AND done_at IS NULL ORDER BY next_at LIMIT ?`
	// Of one that is paused, only the end of a decision's time is waited for, and that
	// of an attempt that may still run then.
	pausedOf = `SELECT response_id, next_at, give_up_at FROM deliveries` + db.ByDeliveriesDue +
		` WHERE upstream_id = ? AND done_at IS NULL ORDER BY give_up_at LIMIT ?`
)

// DueDeliveries are the verdicts to send now, the longest due first and at most limit of each upstream, so that an
// upstream that does not answer delays no other; and when the next one becomes due, if any waits. That time ignores
// deliveries that are due and beyond the limit: the caller asks again after each delivery.
func (o *Outside) DueDeliveries(
	ctx context.Context, limit int,
) (due map[models.UpstreamID][]models.ResponseID, next time.Time, err error) {
	var upstreams []struct {
		ID     models.UpstreamID
		Paused bool
	}
	if err := o.db.Gorm(ctx).Raw(upstreamIDs).Scan(&upstreams).Error; err != nil {
		return nil, next, fmt.Errorf("list deliveries: %w", err)
	}
	now := o.db.Now()
	due = map[models.UpstreamID][]models.ResponseID{}
	for _, u := range upstreams {
		id, query := u.ID, deliveriesOfUpstream
		if u.Paused {
			query = pausedOf
		}
		var rows []models.Delivery
		if err := o.db.Gorm(ctx).Raw(query, id, limit+1).Scan(&rows).Error; err != nil {
			return nil, next, fmt.Errorf("list deliveries: %w", err)
		}
		for _, r := range rows {
			at := r.NextAt
			if u.Paused && r.GiveUpAt.After(at) {
				at = r.GiveUpAt
			}
			switch {
			case at.After(now):
				if next.IsZero() || at.Before(next) {
					next = at
				}
			case len(due[id]) < limit:
				due[id] = append(due[id], r.ResponseID)
			}
		}
	}
	return due, next, nil
}
