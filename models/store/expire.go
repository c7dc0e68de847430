package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
)

// DeadlineStored is signalled when a deadline was stored that may be earlier
// than those before, and when another process wrote.
func (s *Store) DeadlineStored() <-chan struct{} { return s.deadline }

// NextDeadline is when the next pending request runs out; false when none does.
func (s *Store) NextDeadline(ctx context.Context) (time.Time, bool, error) {
	var next time.Time
	err := s.reads.nextDeadline.QueryRowContext(context.WithoutCancel(ctx)).Scan(&next)
	if errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, false, nil
	}
	if err != nil {
		return time.Time{}, false, fmt.Errorf("read next deadline: %w", err)
	}
	return next, next.Before(models.NoDeadline), nil
}

// ExpireDue writes down at most limit expiries that are already so (I3), oldest
// deadline first, and says how many. Its cost follows what is due.
func (s *Store) ExpireDue(ctx context.Context, limit int) (int, error) {
	n := 0
	err := s.writeAnyway(ctx, func(t *tx) error {
		n = 0
		ids, err := t.dueNow(limit)
		if err != nil {
			return err
		}
		for _, id := range ids {
			a, err := t.standing(id)
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
func (t *tx) expireNow(a *models.Approval) error {
	a.Expire()
	changed, err := t.Exec(t.s.hot.expire, a.ApprovalFeedback, a.ID, t.Now)
	if err != nil {
		return fmt.Errorf("expire: %w", err)
	}
	if !db.ExactlyOne(changed) {
		return fmt.Errorf("expire approval %s: it left pending meanwhile", a.ID)
	}
	expirer := models.System("expirer")
	if err := t.settled(expirer, a); err != nil {
		return err
	}
	return t.record(expirer, "approval.expired", ledger.SubjectOf(&a.Response, t.routed),
		settledEntry{Digest: a.Digest, Status: models.StatusExpired, Cause: a.Cause, Reason: models.DigestOfText(a.ApprovalFeedback), Conversation: t.waitEnds()})
}

func (t *tx) dueNow(limit int) ([]models.ResponseID, error) {
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
