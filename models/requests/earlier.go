package requests

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"countersign/models"
	"countersign/models/db"
)

const (
	aroundSearched = 500 // earlier calls that are looked at
	aroundEarlier  = 5   // and shown
)

// The requests before one, newest first: calls of the same agent and tool, rejected ones, and rejected ones with the
// same input. A reviewer to whom the request was routed sees of them those that were routed to them as well.
const (
	beforeThis  = ` AND p.number < (SELECT number FROM responses WHERE id = :id) ORDER BY p.number DESC LIMIT :n`
	earlierKeys = `SELECT p.number FROM responses p` + db.ByResponsesTool +
		` WHERE p.agent_id = :agent AND p.tool_name = :tool AND p.asked = TRUE` + beforeThis
	rejectedKeys = `SELECT p.number FROM responses p` + db.ByResponsesRejectedTool + `
 WHERE p.agent_id = :agent AND p.tool_name = :tool AND p.approval_status = 'rejected'` + beforeThis
	reaskedKeys = `SELECT p.number FROM responses p` + db.ByResponsesRejected + `
 WHERE p.agent_id = :agent AND p.digest = :digest AND p.approval_status = 'rejected'` + beforeThis
)

var earlierQuery = `SELECT r.number, r.id, coalesce(r.approval_status, ''), r.cause, r.digest = :digest, ` + searchSees + `
 FROM (` + earlierKeys + `) k CROSS JOIN responses r ON r.number = k.number ORDER BY k.number DESC`

func latestQuery(keys string) string {
	return `SELECT r.number, r.id FROM (` + keys + `) k CROSS JOIN responses r ON r.number = k.number WHERE ` +
		searchSees + ` ORDER BY k.number DESC LIMIT 1`
}

// beside reads what went before a request, whether one like it was approved, and which parts of it
// the person has unfolded.
func (rs *Requests) beside(
	ctx context.Context, actor models.Actor, a *models.Approval, out *models.Around,
) (err error) {
	if err := rs.aroundEarlier(ctx, actor, a, out); err != nil {
		return err
	}
	if out.Twin, err = rs.twin(ctx, actor, a); err != nil {
		return err
	}
	if out.Duplicates, err = rs.duplicates(ctx, actor, a); err != nil {
		return err
	}
	out.Opened, err = rs.OpenedParts(ctx, actor, a.ID)
	return err
}

// earlier is one that went before.
type earlier struct {
	Key

	status models.Status
	cause  models.Cause
	same   bool // it has the same input
}

// aroundEarlier says what became of the request's like.
func (rs *Requests) aroundEarlier(
	ctx context.Context, actor models.Actor, a *models.Approval, out *models.Around,
) (err error) {
	args := map[string]any{
		"me": actor.ID, "admin": actor.Oversees(), "id": a.ID, "agent": a.AgentID, "tool": a.ToolName, "digest": a.Digest,
		"n": aroundSearched + 1,
	}
	if out.ReaskOf, err = rs.latest(ctx, reaskedKeys, args); err != nil || a.ToolName == "" {
		return err
	}
	if out.LastRejected, err = rs.latest(ctx, rejectedKeys, args); err != nil {
		return err
	}
	calls, more, err := rs.earlierCalls(ctx, args)
	if err != nil {
		return err
	}
	out.EarlierCap = more
	var shown []Key
	var lastGood *Key
	for i := range calls {
		e := &calls[i]
		e.status = models.StatusIn(e.status, e.cause)
		allowed := out.Counts.Add(e.status, e.cause)
		if e.same {
			out.SameCounts.Add(e.status, e.cause)
		}
		if !allowed && !e.status.Final() {
			continue
		}
		if allowed && lastGood == nil {
			lastGood = &e.Key
		}
		if len(shown) < aroundEarlier {
			shown = append(shown, e.Key)
		}
	}
	items, err := rs.rowsOf(ctx, shown, briefColumns)
	if err != nil {
		return err
	}
	out.Earlier = briefs(items)
	if lastGood != nil {
		out.LastApproved, err = rs.wholeRow(ctx, *lastGood)
	}
	return err
}

// latest is the newest of keys that the actor sees, whole; nil: there is none.
func (rs *Requests) latest(ctx context.Context, keys string, args map[string]any) (*models.Approval, error) {
	text := latestQuery(keys)
	stmt, err := rs.db.Prepared(ctx, text) //nolint:sqlclosecheck // kept until the store closes
	if err != nil {
		return nil, err
	}
	var k Key
	switch err := stmt.QueryRowContext(context.WithoutCancel(ctx), arguments(text, args)...).Scan(&k.Number, &k.ID); {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil //nolint:nilnil // none is an answer here
	case err != nil:
		return nil, fmt.Errorf("read what went before: %w", err)
	}
	return rs.wholeRow(ctx, k)
}

func (rs *Requests) wholeRow(ctx context.Context, k Key) (*models.Approval, error) {
	rows, err := rs.rowsOf(ctx, []Key{k}, approvalColumns)
	if err != nil {
		return nil, err
	}
	return &rows[0], nil
}

// earlierCalls are those of the same agent and tool, as far as the actor sees them,
// and whether there are more than were looked at.
func (rs *Requests) earlierCalls(ctx context.Context, args map[string]any) ([]earlier, bool, error) {
	stmt, err := rs.db.Prepared(ctx, earlierQuery) //nolint:sqlclosecheck // kept until the store closes
	if err != nil {
		return nil, false, err
	}
	rows, err := stmt.QueryContext(context.WithoutCancel(ctx), arguments(earlierQuery, args)...)
	if err != nil {
		return nil, false, fmt.Errorf("read what went before: %w", err)
	}
	defer rows.Close()
	var out []earlier
	n := 0
	for rows.Next() {
		var e earlier
		var sees bool
		if err := rows.Scan(&e.Number, &e.ID, &e.status, &e.cause, &e.same, &sees); err != nil {
			return nil, false, fmt.Errorf("read what went before: %w", err)
		}
		if n++; sees && n <= aroundSearched {
			out = append(out, e)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, false, fmt.Errorf("read what went before: %w", err)
	}
	return out, n > aroundSearched, nil
}
