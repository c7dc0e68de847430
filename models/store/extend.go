package store

import (
	"context"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
)

// Extend moves the deadline of a pending request to a later time, by somebody who
// may decide it: at most the policy's max_timeout_minutes from now, and never
// earlier than it stands. While a question stops the clock, what is left after
// the answer grows with it. The deadline that stands already changes nothing.
//
// Codes: forbidden, not_found, invalid (too late, too early, or there is no
// deadline), wrong_decision_kind (outside approvals, whose clock is the other
// system's); with the standing row: already_decided, expired, being_decided.
func (s *Store) Extend(ctx context.Context, actor models.Actor, id models.ResponseID, until time.Time) (*models.Approval, error) {
	if !actor.IsPerson() {
		return nil, models.Errorf(models.CodeForbidden, "Only a person may extend a request.")
	}
	until = db.Stamp(until)
	var out *models.Approval
	err := s.write(ctx, func(t *tx) error {
		a, err := t.approval(actor, id)
		if err != nil {
			return err
		}
		out = a
		if err := t.conflict(a); err != nil {
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

// extended is the clock of a request that is to stand until then.
func (t *tx) extended(a *models.Approval, until time.Time) (clock, error) {
	_, p, err := t.policy()
	if err != nil {
		return clock{}, err
	}
	most := p.Document().MaxTimeoutMinutes
	switch {
	case a.UpstreamID != nil:
		return clock{}, &models.Error{Code: models.CodeWrongDecisionKind, Text: "The deadline of this request is the other system's.", Approval: a}
	case !a.HasDeadline():
		return clock{}, models.Invalid("minutes", "are not needed: this request has no deadline")
	case until.After(t.Now.Add(time.Duration(most) * time.Minute)):
		return clock{}, models.Invalid("minutes", "must be at most %d from now", most)
	case until.Before(a.ApprovalTimeoutAt):
		return clock{}, models.Invalid("minutes", "must not end before the deadline that stands")
	}
	to := clockOf(a)
	to.deadline = until
	if left := secondsUntil(until, t.Now); to.left != nil && *to.left < left {
		to.left = &left
	}
	return to, nil
}

func (t *tx) extend(actor models.Actor, a *models.Approval, to clock) error {
	old := a.ApprovalTimeoutAt
	if err := t.setClock(a, to); err != nil {
		return err
	}
	readers, err := t.tellDeciders(a)
	if err != nil {
		return err
	}
	return t.record(actor, "approval.extended", ledger.SubjectOf(&a.Response, readers), extendedEntry{clockEntry: movedFrom(old, a), Digest: a.Digest})
}

type extendedEntry struct {
	clockEntry

	Digest string `json:"digest"`
}
