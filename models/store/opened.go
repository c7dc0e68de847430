package store

import (
	"context"

	"countersign/models"
)

// OpenPart notes that a person has unfolded a part of a request. Bookkeeping.
//
// Codes: forbidden, not_found, invalid.
func (s *Store) OpenPart(ctx context.Context, actor models.Actor, id models.ResponseID, part string) error {
	return models.Errorf(models.CodeUnavailable, "not yet")
}

// OpenedParts are the parts of a request that the person has unfolded.
func (s *Store) OpenedParts(ctx context.Context, actor models.Actor, id models.ResponseID) ([]string, error) {
	return nil, nil
}
