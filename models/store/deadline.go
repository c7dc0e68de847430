package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/insights"
	"countersign/models/ledger"
)

// setClock is the compare-and-set of every change of a deadline: it names the
// state and the deadline that it leaves.
const setClock = `UPDATE responses SET approval_timeout_at = ?, paused_left = ?, open_note = ?
 WHERE id = ? AND approval_status = 'pending' AND approval_timeout_at = ?`

// clock is when a pending request runs out, and what stops it.
type clock struct {
	deadline time.Time
	left     *int64         // seconds that a pause has put aside
	open     *models.NoteID // the question that made the pause
}

func clockOf(a *models.Approval) clock {
	return clock{deadline: a.ApprovalTimeoutAt, left: a.PausedLeft, open: a.OpenNote}
}

// same reports whether two clocks stop at the same time, whatever stopped them.
func (c clock) same(other clock) bool {
	left := c.left == other.left || c.left != nil && other.left != nil && *c.left == *other.left
	return left && c.deadline.Equal(other.deadline)
}

// setClock is the only way to change a deadline after the ask: it moves the rows in the inboxes, and the expirer looks
// again. It changes a too.
func (t *Tx) setClock(a *models.Approval, to clock) error {
	if err := t.Changes("responses", a.ID); err != nil {
		return err
	}
	res := t.Gorm().Exec(setClock, to.deadline, to.left, to.open, a.ID, a.ApprovalTimeoutAt)
	if res.Error != nil {
		return fmt.Errorf("set clock: %w", res.Error)
	}
	if !db.ExactlyOne(res.RowsAffected) {
		return fmt.Errorf("set clock of %s: it left pending, or its deadline moved meanwhile", a.ID)
	}
	if !to.deadline.Equal(a.ApprovalTimeoutAt) {
		if err := t.Gorm().Exec(movesDeciders, a.ID, a.OwnerID, a.ApprovalTimeoutAt, to.deadline).Error; err != nil {
			return fmt.Errorf("move in inboxes: %w", err)
		}
		t.deadlineStored(to.deadline)
	}
	if err := t.escalationPauses(a, to); err != nil {
		return err
	}
	isNew := !to.deadline.Equal(a.ApprovalTimeoutAt)
	a.ApprovalTimeoutAt, a.PausedLeft, a.OpenNote = to.deadline, to.left, to.open
	if isNew {
		return t.noticesMove(a)
	}
	return nil
}

// secondsUntil is the time left until a deadline, in seconds, rounded up.
func secondsUntil(deadline, now time.Time) int64 {
	return int64((deadline.Sub(now) + time.Second - 1) / time.Second)
}

// clockEntry is what the ledger says about a deadline that moved.
type clockEntry struct {
	Old string `json:"old_deadline,omitempty"`
	New string `json:"new_deadline,omitempty"`

	Left *int64 `json:"paused_left,omitempty"` // seconds that a pause has put aside
}

func movedFrom(old time.Time, a *models.Approval) clockEntry {
	if old.Equal(a.ApprovalTimeoutAt) {
		return clockEntry{Left: a.PausedLeft}
	}
	return clockEntry{Old: old.Format(db.TimeFormat), New: a.ApprovalTimeoutAt.Format(db.TimeFormat), Left: a.PausedLeft}
}

// DeadlineStored is signalled when a deadline was stored that may be earlier
// than those before, and when another process wrote.
func (s *Store) DeadlineStored() <-chan struct{} { return s.deadline }

// NextDeadline is when the next pending request runs out; false when none does.
func (s *Store) NextDeadline(ctx context.Context) (time.Time, bool, error) {
	each := make([]sql.NullTime, len(models.Risks()))
	places := make([]any, len(each))
	for i := range each {
		places[i] = &each[i]
	}
	if err := s.reads.nextDeadline.QueryRowContext(context.WithoutCancel(ctx)).Scan(places...); err != nil {
		return time.Time{}, false, fmt.Errorf("read next deadline: %w", err)
	}
	next := models.NoDeadline
	for _, of := range each {
		if of.Valid && of.Time.Before(next) {
			next = of.Time
		}
	}
	if !next.Before(models.NoDeadline) {
		return time.Time{}, false, nil
	}
	return next, true, nil
}

// ExpireDue stores at most limit expiries that have happened already (I3), oldest deadline first, and returns how many.
// Its cost follows the number of due requests.
func (s *Store) ExpireDue(ctx context.Context, limit int) (int, error) {
	n := 0
	err := s.writeAnyway(ctx, func(t *Tx) error {
		n = 0
		ids, err := t.dueNow(limit)
		if err != nil {
			return err
		}
		for _, id := range ids {
			a, err := t.Request(id)
			if err != nil {
				return err
			}
			if !a.PastDeadline(t.Now) {
				continue
			}
			if err := t.expireNow(a); err != nil {
				return err
			}
			n++
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// expireNow writes down that the time of a pending request is up.
func (t *Tx) expireNow(a *models.Approval) error {
	a.Expire()
	if err := t.Changes("responses", a.ID); err != nil {
		return err
	}
	changed, err := t.Exec(t.s.hot.expire, a.ApprovalFeedback, a.Cause, a.ID, t.Now)
	if err != nil {
		return fmt.Errorf("expire: %w", err)
	}
	if !db.ExactlyOne(changed) {
		return fmt.Errorf("expire approval %s: it left pending meanwhile", a.ID)
	}
	if err := insights.Outdate(t.Tx, a.ApprovalTimeoutAt, t.Now); err != nil {
		return err
	}
	expirer := models.System("expirer")
	left, err := t.settled(expirer, a)
	if err != nil {
		return err
	}
	return t.Record(expirer, "approval.expired", ledger.SubjectOf(&a.Response, left.readers),
		settledEntry{
			Digest: a.Digest, Status: models.StatusExpired, Cause: a.Cause, Reason: models.DigestOfText(a.Feedback()),
			Conversation: waitEnds(left.runs),
		})
}

func (t *Tx) dueNow(limit int) ([]models.ResponseID, error) {
	rows, err := t.Rows(t.s.hot.due, t.Now, limit)
	if err != nil {
		return nil, fmt.Errorf("read what is due: %w", err)
	}
	defer rows.Close()
	var ids []models.ResponseID
	for rows.Next() {
		var id models.ResponseID
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("read what is due: %w", err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read what is due: %w", err)
	}
	return ids, nil
}

// Extend moves the deadline of a pending request to a later time, by a person who may decide it: at most the policy's
// max_timeout_minutes from now, and never to an earlier time. While a question stops the clock, the time left after
// the answer grows with it. An unchanged deadline changes nothing.
//
// Codes: forbidden, not_found, not_a_reviewer (who may not act for others any more), invalid (too late, too early, or
// there is no deadline), wrong_decision_kind (outside approvals, whose clock is the other system's); with the current
// row: already_decided, expired, being_decided.
func (s *Store) Extend(
	ctx context.Context, actor models.Actor, id models.ResponseID, until time.Time,
) (*models.Approval, error) {
	if !actor.IsPerson() {
		return nil, models.Errorf(models.CodeForbidden, "Only a person may extend a request.")
	}
	until = db.Stamp(until)
	var out *models.Approval
	err := s.write(ctx, func(t *Tx) error {
		a, err := t.Approval(actor, id)
		if err != nil {
			return err
		}
		out = a
		if err := t.conflict(a); err != nil {
			return err
		}
		if err := t.maySteer(actor, a); err != nil {
			return err
		}
		to, err := t.extended(a, until)
		if err != nil || to.same(clockOf(a)) {
			return err
		}
		return t.extend(actor, a, to)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// extended is the clock of a request with a later deadline.
func (t *Tx) extended(a *models.Approval, until time.Time) (clock, error) {
	_, p, err := t.Policy()
	if err != nil {
		return clock{}, err
	}
	most := p.Document().MaxTimeoutMinutes
	switch {
	case a.UpstreamID != nil:
		return clock{}, &models.Error{
			Code: models.CodeWrongDecisionKind, Text: "The deadline of this request is the other system's.", Approval: a,
		}
	case !a.HasDeadline():
		return clock{}, models.Invalid("minutes", "are not needed: this request has no deadline")
	case until.After(t.Now.Add(time.Duration(most) * time.Minute)):
		return clock{}, models.Invalid("minutes", "must be at most %d from now", most)
	case until.Before(a.ApprovalTimeoutAt):
		return clock{}, models.Invalid("minutes", "must not end before the current deadline")
	}
	to := clockOf(a)
	to.deadline = until
	if left := secondsUntil(until, t.Now); to.left != nil && *to.left < left {
		to.left = &left
	}
	return to, nil
}

func (t *Tx) extend(actor models.Actor, a *models.Approval, to clock) error {
	old := a.ApprovalTimeoutAt
	if err := t.setClock(a, to); err != nil {
		return err
	}
	readers, err := t.tellDeciders(a)
	if err != nil {
		return err
	}
	return t.Record(actor, "approval.extended", ledger.SubjectOf(&a.Response, readers),
		extendedEntry{clockEntry: movedFrom(old, a), Digest: a.Digest})
}

type extendedEntry struct {
	clockEntry

	Digest string `json:"digest"`
}

// expireAtOnce is how many expiries Cleanup writes down in one transaction.
const expireAtOnce = 256

// Cleanup stores the expiries of all requests that are past their deadline now, and returns how many were not stored
// yet (I3: they had expired already). Admins and the operator only.
func (s *Store) Cleanup(ctx context.Context, actor models.Actor) (int, error) {
	if !actor.MayAdminister() {
		return 0, models.AdminsOnly()
	}
	for total := 0; ; {
		n, err := s.ExpireDue(ctx, expireAtOnce)
		if total += n; err != nil || n < expireAtOnce {
			return total, err
		}
	}
}
