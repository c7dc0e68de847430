package store

import (
	"context"
	"fmt"

	"countersign/models"
)

// An entry whose actor is the owner stands in both halves: UNION drops one.
const auditQuery = `SELECT ` + entryColumns + ` FROM ledger WHERE seq IN (
 SELECT seq FROM (SELECT seq FROM ledger INDEXED BY ledger_owner WHERE owner_id = ? AND owner_id <> '' AND seq < ? ORDER BY seq DESC LIMIT ?)
 UNION SELECT seq FROM (SELECT seq FROM ledger INDEXED BY ledger_actor WHERE actor_id = ? AND actor_id <> '' AND seq < ? ORDER BY seq DESC LIMIT ?)
 ) ORDER BY seq DESC LIMIT ?`

// Audit is what concerns a person: entries of which they are the actor or the
// owner, newest first, before a number (0: the end).
func (s *Store) Audit(ctx context.Context, actor models.Actor, before int64, limit int) ([]models.Entry, error) {
	if !actor.IsPerson() {
		return nil, models.Errorf(models.CodeForbidden, "Only people read the audit.")
	}
	if before <= 0 {
		before = 1 << 62
	}
	limit = pageSize(limit)
	rows, err := s.r.QueryContext(ctx, auditQuery, actor.ID, before, limit, actor.ID, before, limit, limit)
	if err != nil {
		return nil, fmt.Errorf("read audit: %w", err)
	}
	defer rows.Close()
	var out []models.Entry
	for rows.Next() {
		e, err := scanEntry(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, *e)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read audit: %w", err)
	}
	return out, nil
}
