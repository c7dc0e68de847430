package store

import (
	"context"

	"countersign/models"
)

// AskBack asks the agent and its owner something about a pending request, by
// somebody who may decide it. The clock stops until there is an answer, for
// max_pause_minutes at most.
//
// Codes: forbidden, not_found, invalid, wrong_decision_kind (outside approvals);
// with the standing row: already_decided, expired, being_decided.
func (s *Store) AskBack(ctx context.Context, actor models.Actor, id models.ResponseID, text string) (*models.Approval, error) {
	return nil, models.Errorf(models.CodeUnavailable, "not yet")
}

// AnswerNote stores what the request's agent, or its owner, says about it. The
// first answer to a question lets the clock run again.
//
// Codes: forbidden, not_found, invalid, wrong_decision_kind; with the standing
// row: already_decided, expired, being_decided.
func (s *Store) AnswerNote(ctx context.Context, actor models.Actor, id models.ResponseID, text string) (*models.Approval, *models.Note, error) {
	return nil, nil, models.Errorf(models.CodeUnavailable, "not yet")
}

// Notes are what was said about a request, in order.
func (s *Store) Notes(ctx context.Context, actor models.Actor, id models.ResponseID) ([]models.Note, error) {
	return nil, nil
}
