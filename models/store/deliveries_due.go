package store

import (
	"context"
	"fmt"
	"time"

	"countersign/models"
)

const (
	upstreamIDs = `SELECT id, paused_at IS NOT NULL AS paused FROM upstreams ORDER BY id`
	untoldOf    = `SELECT response_id, next_at FROM deliveries INDEXED BY deliveries_due WHERE upstream_id = ? AND done_at IS NULL ORDER BY next_at LIMIT ?`
	// Of one that is paused, only the end of a decision's time is waited for, and that
	// of an attempt that may still run then.
	pausedOf = `SELECT response_id, next_at, give_up_at FROM deliveries INDEXED BY deliveries_due WHERE upstream_id = ? AND done_at IS NULL ORDER BY give_up_at LIMIT ?`
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
		id, query := u.ID, untoldOf
		if u.Paused {
			query = pausedOf
		}
		var rows []deliveryRow
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
