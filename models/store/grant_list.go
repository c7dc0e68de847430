package store

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"countersign/models"
	"countersign/models/db"
)

// GrantList is one page of grants, newest first.
type GrantList struct {
	Items []models.Grant // Fixed and Free are cut to MaxBrief characters
	Next  string         // empty: the last page
}

// grantColumns read one models.Grant. fixed and free are as they are shown.
func grantColumns(fixed, free string) string {
	return grantRow.Columns("g", map[string]string{
		"fixed": fixed + ` AS fixed`, "free": free + ` AS free`, "agent_name": `a.name AS agent_name`, "owner_name": `o.name AS owner_name`,
		"maker_may_decide": `(m.disabled_at IS NULL AND (m.role = 'admin' OR m.id = g.owner_id)) AS maker_may_decide`,
	})
}

const grantFrom = ` JOIN agents a ON a.id = g.agent_id JOIN users o ON o.id = g.owner_id JOIN users m ON m.id = g.made_by`

var (
	selectGrant = `SELECT ` + grantColumns(`g.fixed`, `g.free`) + ` FROM grants g` + grantFrom + ` WHERE g.id = ?`

	briefGrant = `SELECT ` + grantColumns(briefText(`g.fixed`), briefText(`g.free`))
)

func briefText(column string) string { return fmt.Sprintf(`substr(%s, 1, %d)`, column, MaxBrief) }

// Grants lists those of a person's own agents, for admins all. Agents are
// CodeForbidden.
func (s *Store) Grants(ctx context.Context, actor models.Actor, after string, limit int) (GrantList, error) {
	if err := needPersonForGrant(actor); err != nil {
		return GrantList{}, err
	}
	from, err := db.ParseCursor(after)
	if err != nil {
		return GrantList{}, err
	}
	if after == "" {
		from = db.Cursor{At: models.NoDeadline, ID: db.MaxID}
	}
	limit = db.PageSize(limit)
	query, args := grantsQuery(actor, from, limit+1)
	var items []models.Grant
	if err := s.db.Gorm(ctx).Raw(query, args...).Scan(&items).Error; err != nil {
		return GrantList{}, fmt.Errorf("list grants: %w", err)
	}
	var out GrantList
	out.Items, out.Next = db.Cut(items, limit, func(g *models.Grant) db.Cursor { return db.Cursor{At: g.CreatedAt, ID: string(g.ID)} })
	return out, nil
}

// grantsQuery picks the keys of a page by the index first.
func grantsQuery(actor models.Actor, before db.Cursor, limit int) (string, []any) {
	keys, args := `SELECT id FROM grants`+db.ByGrantsAll+` WHERE `, []any{before.At, before.ID, limit}
	if !actor.Admin {
		keys, args = `SELECT id FROM grants`+db.ByGrantsOwner+` WHERE owner_id = ? AND `, []any{actor.ID, before.At, before.ID, limit}
	}
	return briefGrant + ` FROM (` + keys + `(created_at, id) < (?, ?) ORDER BY created_at DESC, id DESC LIMIT ?) k
 JOIN grants g ON g.id = k.id` + grantFrom + ` ORDER BY g.created_at DESC, g.id DESC`, args
}

// GrantUses is one grant with a page of the calls that it let through, newest
// first.
type GrantUses struct {
	models.Grant

	Items []models.Approval
	Next  string // empty: the last page
}

const grantUsesQuery = ` WHERE r.number IN (SELECT number FROM responses` + db.ByResponsesGrant + ` WHERE grant_id = ?
 AND number < coalesce((SELECT number FROM responses WHERE id = ?), 9223372036854775807) ORDER BY number DESC LIMIT ?) ORDER BY r.number DESC`

// Grant is one grant and the calls it let through, going on after the key of the
// page before. CodeNotFound for those who may not revoke it; agents are
// CodeForbidden. Who made it and may not decide any more sees none of the calls.
func (s *Store) Grant(ctx context.Context, actor models.Actor, id models.GrantID, after string, limit int) (GrantUses, error) {
	if err := needPersonForGrant(actor); err != nil {
		return GrantUses{}, err
	}
	if after != "" {
		if _, err := models.ParseID[models.ResponseID]("cursor", after); err != nil {
			return GrantUses{}, err
		}
	}
	g, err := grantFor(s.db.Gorm(ctx), actor, id)
	if err != nil {
		return GrantUses{}, err
	}
	out := GrantUses{Grant: *g}
	if !actor.Admin && g.OwnerID != actor.UserID() {
		return out, nil
	}
	limit = db.PageSize(limit)
	items, err := s.approvals(ctx, `SELECT `+briefColumns+approvalFrom+grantUsesQuery, id, after, limit+1)
	if err != nil {
		return GrantUses{}, err
	}
	out.Items, out.Next = db.Cut(items, limit, func(a *models.Approval) db.Cursor { return db.Cursor{ID: string(a.ID)} })
	return out, nil
}

// grantFor reads a grant for whoever may revoke it: its maker, the owner, admins.
func grantFor(pool *gorm.DB, actor models.Actor, id models.GrantID) (*models.Grant, error) {
	var found []models.Grant
	if err := pool.Raw(selectGrant, id).Scan(&found).Error; err != nil {
		return nil, fmt.Errorf("read grant: %w", err)
	}
	if len(found) == 0 || !actor.Admin && found[0].OwnerID != actor.UserID() && found[0].MadeBy != actor.UserID() {
		return nil, models.NotFound("grant")
	}
	return &found[0], nil
}

// How far back GrantReach looks.
const (
	reachCalls = 500
	reachBytes = 16 << 20
)

const reachQuery = `SELECT tool_input_json, input_bytes, created_at FROM responses` + db.ByResponsesTool + `
 WHERE agent_id = ? AND tool_name = ? AND asked = TRUE AND kind = 'tool_call' AND id <> ? ORDER BY number DESC LIMIT ?`

// GrantReach is how many of the latest calls of the request's agent and tool,
// the request itself left out, a grant made on it would have covered. For those
// who may make one. Codes: forbidden, not_found, invalid (fixed),
// wrong_decision_kind; already_decided for what was rejected.
func (s *Store) GrantReach(ctx context.Context, actor models.Actor, id models.ResponseID, fixed []string) (models.GrantReach, error) {
	var reach models.GrantReach
	if err := needPersonForGrant(actor); err != nil {
		return reach, err
	}
	a, err := s.Approval(ctx, actor, id)
	if err != nil {
		return reach, err
	}
	if err := mayGrant(actor, a); err != nil {
		return reach, err
	}
	shape, err := models.ShapeOf([]byte(a.ToolInputJSON))
	if err != nil {
		return reach, err
	}
	g := models.Grant{AgentID: a.AgentID, ToolName: a.ToolName}
	if g.Fixed, g.Free, err = shape.Split(fixed); err != nil {
		return reach, err
	}
	rows, err := s.db.Reads().QueryContext(context.WithoutCancel(ctx), reachQuery, a.AgentID, a.ToolName, a.ID, reachCalls+1)
	if err != nil {
		return reach, fmt.Errorf("look at past calls: %w", err)
	}
	defer rows.Close()
	read := 0
	for rows.Next() {
		if reach.Looked == reachCalls || read > reachBytes {
			reach.More = true
			return reach, nil
		}
		var input string
		var cutFrom *int64
		var when time.Time
		if err := rows.Scan(&input, &cutFrom, &when); err != nil {
			return reach, fmt.Errorf("look at past calls: %w", err)
		}
		read += len(input)
		reach.Looked, reach.Since = reach.Looked+1, when
		if call, err := models.ShapeOf([]byte(input)); err == nil && cutFrom == nil && g.Covers(a.AgentID, a.ToolName, call) {
			reach.Covered++
		}
	}
	if err := rows.Err(); err != nil {
		return reach, fmt.Errorf("look at past calls: %w", err)
	}
	return reach, nil
}
