package store

import (
	"context"

	"countersign/models"
)

// Cancel withdraws a request: by the agent that asked, by its owner or by an
// admin. One that was cancelled already is returned as it stands. A verdict that
// holds it is withdrawn, unless it may have reached another system already.
//
// Codes: forbidden, not_found, wrong_decision_kind (an outside approval, by a
// person: the other system would go on waiting); with the standing row:
// already_decided, expired, being_decided.
func (s *Store) Cancel(ctx context.Context, actor models.Actor, id models.ResponseID) (*models.Approval, error) {
	if !actor.IsAgent() && !actor.IsPerson() {
		return nil, models.Errorf(models.CodeForbidden, "Only the agent that asked, its owner and admins may cancel a request.")
	}
	var out *models.Approval
	err := s.writeAnyway(ctx, func(t *tx) error {
		a, err := t.approval(actor, id)
		if err != nil {
			return err
		}
		if actor.IsPerson() && !actor.Admin && actor.UserID() != a.OwnerID {
			return models.Errorf(models.CodeForbidden, "Only the agent that asked, its owner and admins may cancel this request: reject it instead.")
		}
		out = a
		if a.Status() == models.StatusCancelled && a.Cause == models.CauseCancelled {
			return nil
		}
		held := a.Status() == models.StatusPending && a.HeldUntil != nil
		if err := conflictOf(at(a, t.Now)); err != nil && !held {
			return err
		}
		if actor.IsPerson() && a.UpstreamID != nil {
			return &models.Error{Code: models.CodeWrongDecisionKind, Text: "The other system waits for a verdict: reject its request instead.", Approval: a}
		}
		text := "withdrawn by the agent"
		if actor.IsPerson() {
			text = "withdrawn by " + actor.Name
		}
		return t.settleAs(actor, a, models.StatusCancelled, models.CauseCancelled, text)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
