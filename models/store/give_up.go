package store

import (
	"context"
	"time"

	"countersign/models"
)

// returnGrace is how long after a start of the server the ways that waited before it have
// to come back: until then nobody knows that they are gone (I8).
const returnGrace = 15 * time.Second

// GiveUp ends one way in to a request of the agent's: its caller no longer wants the
// outcome, as its client said. A connection that is lost says no such thing. The request is
// cancelled if the agent waits for it by no other way, and otherwise returned as it is.
// What is settled, and what another system is being told, is returned as well: there is
// nothing to give up.
//
// way is the name that the caller's own waits have by ByWay. A caller whose waits have no
// name closes its own first: any other counts as another way.
//
// Codes: forbidden (agents only), not_found.
func (s *Store) GiveUp(ctx context.Context, actor models.Actor, id models.ResponseID, way string) (*models.Approval, error) {
	if !actor.IsAgent() {
		return nil, models.Errorf(models.CodeForbidden, "Only the agent that asked may give up its request.")
	}
	var out *models.Approval
	err := s.writeAnyway(ctx, func(t *tx) error {
		a, err := t.approval(actor, id)
		if err != nil {
			return err
		}
		out = at(a, t.Now)
		if out.Status() != models.StatusPending || s.mayBeAwaited(a, way, t.Now) {
			return nil
		}
		err = t.cancel(actor, a)
		if models.ErrorCode(err) == models.CodeBeingDecided {
			return nil
		}
		out = a
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// mayBeAwaited reports whether the agent waits for a request by another way than one, or
// waited before the server started and may not be back yet.
func (s *Store) mayBeAwaited(a *models.Approval, way string, now time.Time) bool {
	if s.waiters.byAnother(a.ID, way, now) {
		return true
	}
	return a.ApprovalRequestedAt != nil && a.ApprovalRequestedAt.Before(s.opened) && now.Sub(s.opened) < returnGrace
}
