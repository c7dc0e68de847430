package store

import (
	"context"

	"countersign/models"
)

// GrantList is one page of grants, newest first.
type GrantList struct {
	Items []models.Grant
	Next  string // empty: the last page
}

// Grants lists those of a person's own agents, for admins all. Agents are
// CodeForbidden.
func (s *Store) Grants(ctx context.Context, actor models.Actor, after string, limit int) (GrantList, error) {
	return GrantList{}, nil
}

// GrantUses is one grant with a page of the calls that it let through, newest
// first.
type GrantUses struct {
	models.Grant
	Items []models.Approval
	Next  string // empty: the last page
}

// Grant is one grant and the calls it let through, after the key of the page
// before. CodeNotFound for those who may not revoke it; agents are CodeForbidden.
func (s *Store) Grant(ctx context.Context, actor models.Actor, id models.GrantID, after string, limit int) (GrantUses, error) {
	return GrantUses{}, models.Errorf(models.CodeNotFound, "No such grant.")
}
