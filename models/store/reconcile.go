package store

import (
	"context"
	"fmt"

	"countersign/models"
)

const pendingOfUpstream = `SELECT r.id, r.call_id FROM responses r INDEXED BY responses_pending_upstream
 JOIN outside_approvals o ON o.upstream_id = r.upstream_id AND o.call_id = r.call_id AND o.response_id = r.id
 WHERE r.upstream_id = ? AND r.approval_status = 'pending' AND r.held_until IS NULL AND o.kind = ?`

// Reconcile settles what an upstream does not list as pending any more: somebody
// decided it there. listed is a complete list of the kind, fetched without fault;
// anything less must not be given. What a verdict from here holds is left alone.
// It writes nothing for who has lost the lease: CodeConflict.
func (s *Store) Reconcile(ctx context.Context, l *models.Lease, id models.UpstreamID, kind models.OutsideKind, listed []string) error {
	stands := make(map[string]bool, len(listed))
	for _, call := range listed {
		stands[call] = true
	}
	return s.writeAnyway(ctx, func(t *tx) error {
		if err := t.holds(l); err != nil {
			return err
		}
		u, err := t.upstream(id)
		if err != nil {
			return err
		}
		var pending []struct {
			ID     models.ResponseID
			CallID string
		}
		if err := t.Gorm().Raw(pendingOfUpstream, id, kind).Scan(&pending).Error; err != nil {
			return fmt.Errorf("read what is pending of an upstream: %w", err)
		}
		for _, p := range pending {
			if stands[p.CallID] {
				continue
			}
			a, err := t.standing(p.ID)
			if err != nil {
				return err
			}
			if a.PastDeadline(t.Now) {
				err = t.expireNow(a)
			} else {
				err = t.settleAs(models.System("poller"), a, models.StatusResolved, models.CauseElsewhere, "It was settled in "+u.Name+".")
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}
