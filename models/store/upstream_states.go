package store

import (
	"context"
	"database/sql"
	"fmt"

	"countersign/models"
	"countersign/models/db"
)

const (
	upstreamStates = `SELECT u.id, u.name, u.base_url, u.dialect, u.owner_id, u.agent_id, u.created_at, u.disabled_at, u.paused_at, u.next_poll_at, u.polled_at, u.succeeded_at,
 u.failures, u.problem, o.name FROM upstreams u JOIN users o ON o.id = u.owner_id ORDER BY u.name`
	waitingOfUpstream = `SELECT count(*) FROM (SELECT 1 FROM responses INDEXED BY responses_pending_upstream
 WHERE upstream_id = ? AND approval_status = 'pending' AND held_until IS NULL LIMIT ?)`
	countUntold  = `SELECT count(*) FROM (SELECT 1 FROM deliveries INDEXED BY deliveries_due WHERE upstream_id = ? AND done_at IS NULL LIMIT ?)`
	oldestUntold = `SELECT created_at, problem FROM deliveries INDEXED BY deliveries_untold WHERE upstream_id = ? AND done_at IS NULL ORDER BY created_at LIMIT 1`
)

// UpstreamStates tells how each upstream does, by name, in one snapshot: its
// polls, what waits, and the verdicts that it was not told yet. For admins and
// the operator, else CodeForbidden.
func (s *Store) UpstreamStates(ctx context.Context, actor models.Actor) ([]models.UpstreamState, error) {
	if err := actor.NeedAdmin(); err != nil {
		return nil, err
	}
	dbtx, err := s.db.Reads().BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, fmt.Errorf("read upstreams: %w", err)
	}
	defer dbtx.Rollback() //nolint:errcheck // nothing was written
	out, err := scanUpstreams(ctx, dbtx)
	if err != nil {
		return nil, err
	}
	for i := range out {
		u := &out[i]
		if err := dbtx.QueryRowContext(ctx, waitingOfUpstream, u.ID, models.StatsCap).Scan(&u.Waiting); err != nil {
			return nil, fmt.Errorf("count what waits: %w", err)
		}
		if err := dbtx.QueryRowContext(ctx, countUntold, u.ID, models.StatsCap).Scan(&u.Untold); err != nil {
			return nil, fmt.Errorf("count verdicts to tell: %w", err)
		}
		if u.Untold == 0 {
			continue
		}
		if err := dbtx.QueryRowContext(ctx, oldestUntold, u.ID).Scan(&u.UntoldSince, &u.UntoldProblem); err != nil {
			return nil, fmt.Errorf("read the oldest verdict to tell: %w", err)
		}
	}
	return out, nil
}

func scanUpstreams(ctx context.Context, dbtx *sql.Tx) ([]models.UpstreamState, error) {
	rows, err := dbtx.QueryContext(ctx, upstreamStates)
	if err != nil {
		return nil, fmt.Errorf("read upstreams: %w", err)
	}
	defer rows.Close()
	var out []models.UpstreamState
	for rows.Next() {
		var u models.UpstreamState
		if err := rows.Scan(&u.ID, &u.Name, &u.BaseURL, &u.Dialect, &u.OwnerID, &u.AgentID, &u.CreatedAt, &u.DisabledAt, &u.PausedAt, &u.NextPollAt, &u.PolledAt, &u.SucceededAt,
			&u.Failures, &u.Problem, &u.OwnerName); err != nil {
			return nil, fmt.Errorf("read upstreams: %w", err)
		}
		out = append(out, u)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read upstreams: %w", err)
	}
	return out, nil
}

// HasUpstreams reports whether there is any, to be polled or told something.
func (s *Store) HasUpstreams(ctx context.Context) (bool, error) {
	return db.Exists(s.db.Reads().QueryRowContext(ctx, `SELECT 1 FROM upstreams LIMIT 1`))
}
