package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"countersign/models"
	"countersign/models/db"
)

// lastAskOf is the newest request of an agent of the person's.
const lastAskOf = `SELECT p.id FROM responses p` + db.ByResponsesAgent + ` JOIN agents a ON a.id = p.agent_id
 WHERE p.agent_id = ? AND p.asked = TRUE AND a.owner_id = ? ORDER BY p.number DESC LIMIT 1`

// LastAsk is what an agent of the person's asked last, or nil: nothing yet, or it is
// somebody else's agent. Agents get CodeForbidden.
func (s *Store) LastAsk(ctx context.Context, actor models.Actor, agent models.AgentID) (*models.Approval, error) {
	if !actor.IsPerson() {
		return nil, models.Errorf(models.CodeForbidden, "Only a person may see what an agent asked last.")
	}
	var id models.ResponseID
	err := s.db.Reader(ctx).QueryRowContext(ctx, lastAskOf, agent, actor.ID).Scan(&id)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil //nolint:nilnil // it has asked nothing
	case err != nil:
		return nil, fmt.Errorf("read what an agent asked last: %w", err)
	}
	return s.Approval(ctx, actor, id)
}
