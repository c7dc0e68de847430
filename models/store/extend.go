package store

import (
	"context"
	"time"

	"countersign/models"
)

// Extend moves the deadline of a pending request to a later time, at most the
// policy's max_timeout_minutes from now.
//
// Codes: forbidden, not_found, invalid, wrong_decision_kind (outside approvals);
// with the standing row: already_decided, expired, being_decided.
func (s *Store) Extend(ctx context.Context, actor models.Actor, id models.ResponseID, until time.Time) (*models.Approval, error) {
	return nil, models.Errorf(models.CodeUnavailable, "not yet")
}
