package store

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/models/db"
)

// Stats counts pending requests and those decided in the last minute: own rows for agents and reviewers, all for
// admins; capped at models.StatsCap.
func (s *Store) Stats(ctx context.Context, actor models.Actor) (models.Stats, error) {
	now := s.db.Now()
	since := now.Add(-time.Minute)
	var pending, settled string
	args, settledArgs := []any{actor.ID, now}, []any{actor.ID, since}
	switch {
	case actor.IsAgent():
		pending = `responses r` + db.ByResponsesPendingAgent +
			` WHERE r.agent_id = ? AND r.approval_status = 'pending' AND r.approval_timeout_at > ?`
		settled = `responses r` + db.ByResponsesSettled + ` WHERE r.agent_id = ? AND r.approval_timestamp > ?`
	case !actor.IsPerson():
		return models.Stats{}, models.Errorf(models.CodeForbidden, "Only agents and people read the counts.")
	case actor.Admin:
		pending = `responses r` + db.ByResponsesPendingRisk +
			` WHERE r.approval_status = 'pending' AND r.approval_timeout_at > ?`
		settled = `responses r` + db.ByResponsesSettled + ` WHERE r.approval_timestamp > ?`
		args, settledArgs = args[1:], settledArgs[1:]
	default:
		pending = `deciders d WHERE d.user_id = ? AND d.deadline > ?`
		settled = `responses r` + db.ByResponsesSettled + ` WHERE r.owner_id = ? AND r.approval_timestamp > ?`
	}
	waits, err := s.agentWaits(ctx, actor)
	if err != nil {
		return models.Stats{}, err
	}
	out := models.Stats{Waiters: min(waits, models.StatsCap)}
	for _, c := range []struct {
		from string
		args []any
		into *int
	}{{pending, args, &out.Pending}, {settled, settledArgs, &out.Responses}} {
		query := `SELECT count(*) FROM (SELECT 1 FROM ` + c.from + ` LIMIT ?)`
		if err := s.db.Reads().QueryRowContext(ctx, query, append(c.args, models.StatsCap)...).Scan(c.into); err != nil {
			return models.Stats{}, fmt.Errorf("count: %w", err)
		}
	}
	return out, nil
}

// Sending is how many requests a person has approved that are not sent yet: they
// may still be undone, and no longer wait for that person.
func (s *Store) Sending(ctx context.Context, actor models.Actor) (int, error) {
	if !actor.IsPerson() {
		return 0, nil
	}
	now := s.db.Now()
	var n int
	err := s.db.Reads().QueryRowContext(ctx, `SELECT count(*) FROM responses r`+db.ByResponsesHeld+`
 WHERE r.approval_status = 'pending' AND r.held_until IS NOT NULL AND r.upstream_id IS NULL AND r.held_until > ?
 AND EXISTS (SELECT 1 FROM votes v WHERE v.response_id = r.id AND v.user_id = ? AND v.undo_until > ? AND v.withdrawn_at IS NULL)`, now, actor.ID, now).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("count what is being sent: %w", err)
	}
	return n, nil
}

// agentWaits counts the waits of agents for what the actor may see.
func (s *Store) agentWaits(ctx context.Context, actor models.Actor) (int, error) {
	w := &s.waiters
	w.mu.Lock()
	switch {
	case actor.Admin:
		defer w.mu.Unlock()
		return w.agents, nil
	case actor.IsAgent():
		defer w.mu.Unlock()
		return w.of[actor.ID], nil
	}
	n, others := w.ofOwner[actor.ID], map[models.ResponseID]int{}
	if n < w.agents {
		for id, p := range w.present {
			if p.waits > 0 && p.owner != actor.ID {
				others[id] = p.waits
			}
		}
	}
	w.mu.Unlock()
	if len(others) == 0 {
		return n, nil
	}
	routes, err := s.routedAmong(ctx, actor, slices.Collect(maps.Keys(others)))
	for _, id := range routes {
		n += others[id]
	}
	return n, err
}

// routedQuery finds which of the ids, a JSON array, were routed to a person.
var routedQuery = `SELECT response_id FROM reviewers WHERE user_id = ? AND response_id` + db.Within(`?`)

func (s *Store) routedAmong(
	ctx context.Context, person models.Actor, ids []models.ResponseID,
) ([]models.ResponseID, error) {
	if some, err := db.Exists(s.db.Reads().QueryRowContext(ctx, `SELECT 1 FROM reviewers WHERE user_id = ? LIMIT 1`,
		person.ID)); err != nil || !some {
		return nil, err
	}
	raw, err := json.Marshal(ids)
	if err != nil {
		return nil, fmt.Errorf("count waits: %w", err)
	}
	rows, err := s.db.Reads().QueryContext(ctx, routedQuery, person.ID, string(raw))
	if err != nil {
		return nil, fmt.Errorf("count waits: %w", err)
	}
	defer rows.Close()
	var out []models.ResponseID
	for rows.Next() {
		var id models.ResponseID
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("count waits: %w", err)
		}
		out = append(out, id)
	}
	return out, rows.Err()
}
