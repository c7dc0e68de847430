package store

import (
	"context"

	"countersign/models"
)

// Cancel withdraws an agent's own request. A request that this agent has
// cancelled already is returned as it stands. A verdict that holds it is
// withdrawn, unless it may have reached another system already.
//
// Codes: forbidden, not_found; with the standing row: already_decided, expired,
// being_decided.
func (s *Store) Cancel(ctx context.Context, actor models.Actor, id models.ResponseID) (*models.Approval, error) {
	if !actor.IsAgent() {
		return nil, models.Errorf(models.CodeForbidden, "Only the agent that asked may cancel its request.")
	}
	var out *models.Approval
	err := s.write(ctx, func(t *tx) error {
		a, err := t.approval(actor, id)
		if err != nil {
			return err
		}
		if a.Status() == models.StatusCancelled && a.Cause == models.CauseCancelled {
			out = a
			return nil
		}
		held := a.Status() == models.StatusPending && a.HeldUntil != nil
		if err := conflictOf(at(a, t.now)); err != nil && !held {
			return err
		}
		out = a
		return t.settleAs(actor, a, models.StatusCancelled, models.CauseCancelled, "withdrawn by the agent")
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
