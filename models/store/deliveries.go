package store

import (
	"context"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
)

// addDelivery has a verdict told to the other system: not before from, nor after
// until.
func (t *tx) addDelivery(a *models.Approval, v *models.Vote, from, until time.Time) error {
	row := &models.Delivery{ResponseID: a.ID, UpstreamID: models.UpstreamID(*a.UpstreamID), VoteID: v.ID, CreatedAt: t.Now, GiveUpAt: until, NextAt: from}
	if err := t.Gorm().Save(row).Error; err != nil { //nolint:forbidigo // one that was withdrawn is replaced
		return fmt.Errorf("store delivery: %w", err)
	}
	t.Publish(events.Upstreams)
	return nil
}

func (t *tx) deliveryBegun(id models.ResponseID) (bool, error) {
	var n int64
	if err := t.Gorm().Model(&models.Delivery{}).Where("response_id = ? AND done_at IS NULL AND attempts > 0", id).Count(&n).Error; err != nil {
		return false, fmt.Errorf("read delivery: %w", err)
	}
	return n > 0, nil
}

const outsideCallOf = `SELECT o.call_id, o.kind FROM responses r JOIN outside_approvals o ON o.upstream_id = r.upstream_id AND o.call_id = r.call_id AND o.response_id = r.id WHERE r.id = ?`

// BeginDelivery notes that an attempt begins, before anything is sent, and says
// what is to be told to whom. Nil: there is nothing to tell any more; a verdict
// whose time is over has expired, cause undelivered. It writes nothing for who
// has lost the lease: CodeConflict.
func (s *Store) BeginDelivery(ctx context.Context, l *models.Lease, id models.ResponseID) (d *models.Delivery, u *models.Upstream, err error) {
	err = s.writeAnyway(ctx, func(t *tx) error {
		d, u = nil, nil
		if err := t.holds(l); err != nil {
			return err
		}
		var row models.Delivery
		if err := t.Gorm().Where("response_id = ? AND done_at IS NULL", id).Take(&row).Error; err != nil {
			return db.NotFoundAs(err, nil)
		}
		a, err := t.existing(id)
		if err != nil {
			return err
		}
		if !t.Now.Before(row.GiveUpAt) {
			if inFlight(&row, t.Now) {
				// Another process may still hear what became of its attempt.
				return t.deliverAt(&row, row.InFlightAt.Add(attemptEnds))
			}
			return t.undelivered(a, &row)
		}
		if barred, err := t.withdrawBarred(a, &row); barred || err != nil {
			return err
		}
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
		if err := t.Gorm().Model(&row).UpdateColumns(map[string]any{"attempts": row.Attempts, "in_flight_at": t.Now, "lost": row.Lost}).Error; err != nil {
			return fmt.Errorf("note attempt: %w", err)
		}
		d, err = t.delivery(a, &row)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return d, u, nil
}

// delivery is a verdict with what is told of it.
func (t *tx) delivery(a *models.Approval, row *models.Delivery) (*models.Delivery, error) {
	var v models.Vote
	if err := t.Gorm().Where("id = ?", row.VoteID).Take(&v).Error; err != nil {
		return nil, fmt.Errorf("read decision: %w", err)
	}
	var o models.OutsideApproval
	if err := t.Gorm().Raw(outsideCallOf, a.ID).Take(&o).Error; err != nil {
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

// undelivered ends a verdict that could not be told in time: nobody knows
// whether the other system has it, and it was not released here.
func (t *tx) undelivered(a *models.Approval, row *models.Delivery) error {
	if err := t.deliveryDone(row, "undelivered"); err != nil {
		return err
	}
	if a.Status() != models.StatusPending {
		return t.noteContradiction(a, "The decision did not reach the other system in time.")
	}
	if err := t.withdrawVotes(a.ID); err != nil {
		return err
	}
	return t.expireUndelivered(a, "The decision could not be sent to the other system in time: "+row.Problem)
}

func (t *tx) deliveryDone(row *models.Delivery, outcome string) error {
	err := t.Gorm().Model(row).UpdateColumns(map[string]any{"done_at": t.Now, "outcome": outcome, "in_flight_at": nil, "problem": row.Problem}).Error
	if err != nil {
		return fmt.Errorf("store delivery: %w", err)
	}
	return nil
}

// noteContradiction adds to what a row is told to stand against.
func (t *tx) noteContradiction(a *models.Approval, text string) error {
	if err := t.Gorm().Exec(`UPDATE responses SET contradiction = ltrim(contradiction || ' ' || ?) WHERE id = ?`, text, a.ID).Error; err != nil {
		return fmt.Errorf("note contradiction: %w", err)
	}
	t.changed(a.ConversationID)
	return nil
}

// attemptEnds is after what time an attempt of another process is over: it may
// take two requests of the longest time that is allowed for one.
const attemptEnds = 2*models.MaxUpstreamTimeout + 30*time.Second

// inFlight reports whether the other system may be hearing of a decision right now.
func inFlight(row *models.Delivery, now time.Time) bool {
	return row.InFlightAt != nil && now.Before(row.InFlightAt.Add(attemptEnds))
}

// EndDelivery keeps how an attempt ended. Told, the verdict becomes the outcome,
// and everyone hears of it. What was settled by somebody else, or is gone, is
// resolved. Otherwise it is tried again. It writes nothing for who has lost the
// lease: CodeConflict; the attempt then counts as lost.
func (s *Store) EndDelivery(ctx context.Context, l *models.Lease, id models.ResponseID, end models.DeliveryEnd) error {
	return s.writeAnyway(ctx, func(t *tx) error {
		if err := t.holds(l); err != nil {
			return err
		}
		var row models.Delivery
		if err := t.Gorm().Where("response_id = ?", id).Take(&row).Error; err != nil {
			return db.NotFoundAs(err, models.NotFound("delivery"))
		}
		row.Problem = end.Text
		a, err := t.existing(id)
		if err != nil {
			return err
		}
		if row.DoneAt != nil {
			// It was given up while the attempt ran.
			if end.Result == models.DeliveryTaken || end.Result == models.DeliveryConfirmed {
				return t.noteContradiction(a, "The other system accepted the decision after the request had expired here.")
			}
			return nil
		}
		return t.endAttempt(a, &row, end)
	})
}

func (t *tx) endAttempt(a *models.Approval, row *models.Delivery, end models.DeliveryEnd) error {
	switch end.Result {
	case models.DeliveryLater:
		return t.retryDelivery(a, row, end)
	case models.DeliveryTaken, models.DeliveryConfirmed:
		if end.Result == models.DeliveryTaken {
			row.Problem = ""
		}
		if err := t.deliveryDone(row, string(end.Result)); err != nil {
			return err
		}
		return t.deliveredNow(a, row, end)
	case models.DeliveryRefused:
		return t.refused(a, row, end)
	case models.DeliveryElsewhere, models.DeliveryGone:
	}
	if err := t.deliveryDone(row, string(end.Result)); err != nil {
		return err
	}
	switch {
	case a.Status() == models.StatusPending:
		return t.resolveHeld(a, end)
	case end.Result == models.DeliveryElsewhere:
		return t.noteContradiction(a, end.Text)
	}
	return nil // a cascade settled it, and there is nobody left to tell
}

// deliveredNow makes the verdict that held a row its outcome.
func (t *tx) deliveredNow(a *models.Approval, row *models.Delivery, end models.DeliveryEnd) error {
	if a.Status() != models.StatusPending {
		return nil // it was settled by a cascade, and only told
	}
	var v models.Vote
	if err := t.Gorm().Where("id = ?", row.VoteID).Take(&v).Error; err != nil {
		return fmt.Errorf("read decision: %w", err)
	}
	// The other system has accepted it: what came in the way meanwhile can only be noted.
	why, err := t.releaseBarrier(a, &v)
	if err != nil {
		return err
	}
	if _, err := t.settleByVote(voter(&v), a, &v); err != nil {
		return err
	}
	if why != nil {
		if err := t.noteContradiction(a, "The decision was being sent when this came in its way: "+why.text); err != nil {
			return err
		}
	}
	if err := t.released(voter(&v), a, &v); err != nil {
		return err
	}
	if end.Result == models.DeliveryConfirmed {
		return t.noteContradiction(a, end.Text)
	}
	return nil
}

func (t *tx) resolveHeld(a *models.Approval, end models.DeliveryEnd) error {
	status, when, cause := models.StatusResolved, t.Now, models.CauseElsewhere
	if end.Result == models.DeliveryGone {
		cause = models.CauseGone
	}
	a.ApprovalStatus, a.ApprovalTimestamp, a.Cause, a.ApprovalFeedback = &status, &when, cause, models.FeedbackOf(end.Text)
	if err := t.withdrawVotes(a.ID); err != nil {
		return err
	}
	system := models.System("delivery")
	left, err := t.settleHeld(system, a)
	if err != nil {
		return err
	}
	return t.record(system, "approval.resolved", ledger.SubjectOf(&a.Response, left.readers), settledEntry{
		Digest: a.Digest, Status: status, Cause: cause, Reason: models.DigestOfText(a.Feedback()), Conversation: waitEnds(left.running),
	})
}

// retryDelivery has an attempt made again. The last one is when the time is over.
func (t *tx) retryDelivery(a *models.Approval, row *models.Delivery, end models.DeliveryEnd) error {
	row.Lost, row.InFlightAt = row.Lost || end.Lost, nil
	next := db.Stamp(t.Now.Add(end.Pause))
	if end.WrongKey {
		same, err := t.hasKey(row.UpstreamID, end.Key)
		switch {
		case err != nil:
			return err
		case !same:
			next = t.Now // with the new key it is told at once
		default:
			if err := t.pauseUpstream("delivery", row.UpstreamID, end.Text); err != nil {
				return err
			}
		}
	}
	if next.After(row.GiveUpAt) {
		next = row.GiveUpAt
	}
	t.Publish(events.Approval(string(a.ID)))
	t.changed(a.ConversationID)
	return t.deliverAt(row, next)
}

func (t *tx) deliverAt(row *models.Delivery, next time.Time) error {
	err := t.Gorm().Model(row).UpdateColumns(map[string]any{
		"next_at": next, "in_flight_at": row.InFlightAt, "lost": row.Lost, "problem": row.Problem,
	}).Error
	if err != nil {
		return fmt.Errorf("store delivery: %w", err)
	}
	return nil
}

const (
	upstreamIDs          = `SELECT id, paused_at IS NOT NULL AS paused FROM upstreams ORDER BY id`
	deliveriesOfUpstream = `SELECT response_id, next_at FROM deliveries` + db.ByDeliveriesDue + ` WHERE upstream_id = ? AND done_at IS NULL ORDER BY next_at LIMIT ?`
	// Of one that is paused, only the end of a decision's time is waited for, and that
	// of an attempt that may still run then.
	pausedOf = `SELECT response_id, next_at, give_up_at FROM deliveries` + db.ByDeliveriesDue + ` WHERE upstream_id = ? AND done_at IS NULL ORDER BY give_up_at LIMIT ?`
)

// DueDeliveries are the verdicts that are to be told now, the longest due first
// and at most limit of each upstream, so that one that does not answer holds up
// no other; and when the next one becomes due, if any waits. Those that are due and
// beyond the limit say nothing of that: they are asked for again when one is told.
func (s *Store) DueDeliveries(ctx context.Context, limit int) (due map[models.UpstreamID][]models.ResponseID, next time.Time, err error) {
	var upstreams []struct {
		ID     models.UpstreamID
		Paused bool
	}
	if err := s.db.Gorm(ctx).Raw(upstreamIDs).Scan(&upstreams).Error; err != nil {
		return nil, next, fmt.Errorf("list deliveries: %w", err)
	}
	now := s.db.Now()
	due = map[models.UpstreamID][]models.ResponseID{}
	for _, u := range upstreams {
		id, query := u.ID, deliveriesOfUpstream
		if u.Paused {
			query = pausedOf
		}
		var rows []models.Delivery
		if err := s.db.Gorm(ctx).Raw(query, id, limit+1).Scan(&rows).Error; err != nil {
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
