package upkeep

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
	"countersign/models/people"
)

const (
	pendingRefColumns = `SELECT r.id, r.kind, r.tool_name, a.name, u.name, r.created_at, r.approval_timeout_at`
	// oldestQuery walks the index of pending requests, which holds the numbers of arrival too; one row is read.
	oldestQuery = pendingRefColumns +
		` FROM responses r JOIN agents a ON a.id = r.agent_id JOIN users u ON u.id = r.owner_id
 WHERE r.number = (SELECT min(number) FROM responses` + db.ByResponsesPendingRisk + `
  WHERE approval_status = 'pending' AND approval_timeout_at > ?)`
)

// strandedQuery begins with the disabled people, so that its cost follows their requests and not all pending ones.
var strandedQuery = pendingRefColumns + ` FROM users gone` + db.ByUsersDisabled + `
 CROSS JOIN deciders o ON o.user_id = gone.id AND o.deadline > ?
 CROSS JOIN responses r ON r.id = o.response_id JOIN agents a ON a.id = r.agent_id JOIN users u ON u.id = r.owner_id
 WHERE gone.disabled_at IS NOT NULL AND r.approval_status = 'pending' AND r.owner_id = gone.id
 AND NOT EXISTS (SELECT 1 FROM deciders d JOIN users able ON able.id = d.user_id WHERE ` + decidersOfR + ` AND ` + people.MayDecide(`able`) + `)
 LIMIT ?`

// System reads the figures of the page of that name, in one snapshot. Its cost follows pending requests, not old ones.
// For admins and the operator, else CodeForbidden.
func (u *Upkeep) System(ctx context.Context, actor models.Actor) (*models.SystemState, error) {
	if err := actor.NeedOversight(); err != nil {
		return nil, err
	}
	now := u.db.Now()
	dbtx, err := db.BeginRead(ctx, u.db.Reads())
	if err != nil {
		return nil, fmt.Errorf("read system: %w", err)
	}
	defer dbtx.Rollback()
	out := &models.SystemState{Waiters: u.store.Waiters()}
	if err := systemNumbers(ctx, dbtx, now, out); err != nil {
		return nil, err
	}
	if err := systemGrowth(ctx, dbtx, now, out); err != nil {
		return nil, err
	}
	if err := systemWaiting(ctx, dbtx, now, out); err != nil {
		return nil, err
	}
	if out.RowCheck, err = lastRows(ctx, dbtx); err != nil {
		return nil, err
	}
	if out.Nodes, err = u.store.Nodes.All(ctx); err != nil {
		return nil, err
	}
	if out.DatabaseBytes, out.LogBytes, _, err = u.db.Sizes(ctx); err != nil {
		return nil, err
	}
	return out, nil
}

func systemNumbers(ctx context.Context, dbtx *sql.Tx, now time.Time, out *models.SystemState) error {
	for _, q := range []struct {
		text string
		args []any
		into any
	}{
		{`SELECT coalesce(max(version_id), 0) FROM goose_db_version`, nil, &out.Schema},
		// Responses are kept for ever, so the last number is how many there are.
		{`SELECT coalesce(max(number), 0) FROM responses`, nil, &out.Responses},
		{`SELECT count(*) FROM (SELECT 1 FROM users LIMIT ?)`, []any{models.StatsCap}, &out.People},
		{`SELECT count(*) FROM (SELECT 1 FROM agents LIMIT ?)`, []any{models.StatsCap}, &out.Agents},
		{`SELECT count(*) FROM (SELECT 1 FROM conversations LIMIT ?)`, []any{models.StatsCap}, &out.Conversations},
		{
			`SELECT count(*) FROM (SELECT 1 FROM responses` + db.ByResponsesPendingRisk +
				` WHERE approval_status = 'pending' AND approval_timeout_at > ? LIMIT ?)`,
			[]any{now, models.StatsCap},
			&out.Pending,
		},
	} {
		if err := dbtx.QueryRowContext(ctx, q.text, q.args...).Scan(q.into); err != nil {
			return fmt.Errorf("read system: %.40s: %w", q.text, err)
		}
	}
	var err error
	if out.Database, err = db.Version(ctx, dbtx); err != nil {
		return err
	}
	out.FreeBytes, err = db.FreeBytes(ctx, dbtx)
	return err
}

func systemGrowth(ctx context.Context, dbtx *sql.Tx, now time.Time, out *models.SystemState) error {
	if err := dbtx.QueryRowContext(ctx, `SELECT seq, hash FROM ledger_head WHERE id = 1`).Scan(&out.Head.Seq,
		&out.Head.Hash); err != nil {
		return fmt.Errorf("read ledger head: %w", err)
	}
	out.Entries = out.Head.Seq
	for _, span := range []struct {
		days int
		into *int64
	}{{1, &out.Day}, {7, &out.Week}} {
		first, err := ledger.FirstSince(ctx, dbtx, now.AddDate(0, 0, -span.days))
		if err != nil {
			return err
		}
		*span.into = out.Entries + 1 - first
	}
	return nil
}

func systemWaiting(ctx context.Context, dbtx *sql.Tx, now time.Time, out *models.SystemState) error {
	oldest, err := pendingRefs(ctx, dbtx, oldestQuery, now)
	if err != nil {
		return err
	}
	if len(oldest) > 0 {
		out.Oldest = &oldest[0]
	}
	if out.AdminOnly, err = pendingRefs(ctx, dbtx, strandedQuery, now, models.StrandedMost+1); err != nil {
		return err
	}
	if len(out.AdminOnly) > models.StrandedMost {
		out.AdminOnly, out.StrandedMore = out.AdminOnly[:models.StrandedMost], true
	}
	return nil
}

func pendingRefs(ctx context.Context, dbtx *sql.Tx, query string, args ...any) ([]models.PendingRef, error) {
	rows, err := dbtx.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("read what waits: %w", err)
	}
	defer rows.Close()
	var out []models.PendingRef
	for rows.Next() {
		var p models.PendingRef
		if err := rows.Scan(&p.ID, &p.Kind, &p.ToolName, &p.AgentName, &p.OwnerName, &p.AskedAt, &p.Deadline); err != nil {
			return nil, fmt.Errorf("read what waits: %w", err)
		}
		out = append(out, p)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read what waits: %w", err)
	}
	return out, nil
}
