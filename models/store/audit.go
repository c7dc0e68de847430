package store

import (
	"context"

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
	return ledgerEntries(ctx, s.r, auditQuery, actor.ID, before, limit, actor.ID, before, limit, limit)
}
