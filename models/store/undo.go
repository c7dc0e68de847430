package store

import (
	"context"
	"time"

	"countersign/models"
)

// TakeBack withdraws an approval that is held by its undo window, by whoever gave
// it, before anybody was told. The request is pending again as before.
//
// Codes: forbidden, not_found; with the standing row: already_decided, expired,
// being_decided.
func (s *Store) TakeBack(ctx context.Context, actor models.Actor, id models.ResponseID) (*models.Approval, error) {
	return nil, models.Errorf(models.CodeUnavailable, "not yet")
}

// NextRelease is when the next undo window ends; false when none is open.
func (s *Store) NextRelease(ctx context.Context) (time.Time, bool, error) {
	return time.Time{}, false, nil
}

// ReleaseDue makes at most limit held approvals whose window is over the outcome
// of their requests, and says how many.
func (s *Store) ReleaseDue(ctx context.Context, limit int) (int, error) { return 0, nil }
