package store

import (
	"context"

	"countersign/models"
)

// MakeGrant gives an agent leave to make further calls like the one of a request
// without asking. It does not decide the request itself. For the owner of the
// conversation and admins; whom a request was routed to gets CodeForbidden. Only
// tool calls that are not of critical risk, and not those of another system.
//
// Codes: forbidden (also when the policy has grants switched off), not_found,
// invalid (fixed, hours, uses), digest_required, wrong_decision_kind, conflict;
// with the standing row: digest_mismatch, already_decided for what was rejected.
func (s *Store) MakeGrant(ctx context.Context, actor models.Actor, id models.ResponseID, in models.GrantInput) (*models.Grant, error) {
	return nil, models.Errorf(models.CodeForbidden, "Grants cannot be made yet.")
}

// GrantReach is how many of the latest calls of the request's agent and tool a
// grant made on it would have covered. For those who may make one. Codes:
// forbidden, not_found, invalid (fixed), wrong_decision_kind.
func (s *Store) GrantReach(ctx context.Context, actor models.Actor, id models.ResponseID, fixed []string) (models.GrantReach, error) {
	return models.GrantReach{}, models.Errorf(models.CodeForbidden, "Grants cannot be made yet.")
}

// RevokeGrant ends a grant at once. Revoking twice is harmless. For whoever made
// it, the owner and admins; for all others it is CodeNotFound, for agents
// CodeForbidden.
func (s *Store) RevokeGrant(ctx context.Context, actor models.Actor, id models.GrantID) (*models.Grant, error) {
	return nil, models.Errorf(models.CodeNotFound, "No such grant.")
}
