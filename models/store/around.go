package store

import (
	"context"

	"countersign/models"
)

// Around is what stands around a request, for a person who may decide it.
//
// Codes: forbidden (people only), not_found.
func (s *Store) Around(ctx context.Context, actor models.Actor, id models.ResponseID) (*models.Around, error) {
	if !actor.IsPerson() {
		return nil, models.Errorf(models.CodeForbidden, "Only a person decides.")
	}
	if _, err := s.Approval(ctx, actor, id); err != nil {
		return nil, err
	}
	return &models.Around{}, nil
}
