package store

import (
	"context"
	"fmt"
	"math"
	"time"

	"gorm.io/gorm"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/people"
	"countersign/models/requests"
)

// GrantList is one page of grants, newest first.
type GrantList struct {
	Items []models.Grant // Fixed and Free are cut to models.MaxBrief characters
	Next  string         // empty: the last page
}

// grantColumns read one models.Grant. fixed and free are as they are shown.
func grantColumns(fixed, free string) string {
	return grantRow.Columns("g", map[string]string{
		"fixed": fixed + ` AS fixed`, "free": free + ` AS free`, "agent_name": `a.name AS agent_name`,
		"owner_name":       `o.name AS owner_name`,
		"maker_may_decide": `(` + people.MayDecide(`m`) + ` AND (m.role = 'admin' OR m.id = g.owner_id)) AS maker_may_decide`,
	})
}

const grantFrom = ` JOIN agents a ON a.id = g.agent_id JOIN users o ON o.id = g.owner_id JOIN users m ON m.id = g.made_by`

var (
	selectGrant = `SELECT ` + grantColumns(`g.fixed`, `g.free`) + ` FROM grants g` + grantFrom + ` WHERE g.id = ?`

	briefGrant = grantColumns(requests.BriefText(`g.fixed`), requests.BriefText(`g.free`))
)

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
	items, next, err := s.grants(actor, from, limit).Page(ctx)
	if err != nil {
		return GrantList{}, fmt.Errorf("list pre-approvals: %w", err)
	}
	return GrantList{Items: items, Next: next}, nil
}

func (s *Store) grants(actor models.Actor, after db.Cursor, limit int) *db.List[models.Grant] {
	l := &db.List[models.Grant]{
		Walks: []db.Walk{{From: db.Say(`grants` + db.ByGrantsAll)}},
		Order: []db.Key{{Name: `created_at`, Is: `created_at`}, {Name: `id`, Is: `id`}}, Down: true,
		Limit:   db.PageSize(limit),
		Columns: briefGrant, From: `JOIN grants g ON g.id = k.id` + grantFrom,
		Read: func(ctx context.Context, query string, args ...any) (items []models.Grant, err error) {
			return items, s.db.Gorm(ctx).Raw(query, args...).Scan(&items).Error
		},
		Cursor: func(g *models.Grant) db.Cursor { return db.Cursor{At: g.CreatedAt, ID: string(g.ID)} },
	}
	if !actor.Oversees() {
		l.Walks = []db.Walk{{From: db.Say(`grants` + db.ByGrantsOwner), Where: []db.Part{db.Say(`owner_id = ?`, actor.ID)}}}
	}
	if after.ID != "" {
		l.After = db.After(after)
	}
	return l
}

// GrantUses is one grant with a page of the calls that it let through, newest
// first.
type GrantUses struct {
	models.Grant

	Items []models.Brief
	Next  string // empty: the last page
}

// grantUses are the calls that a grant let through, newest first.
func (s *Store) grantUses(
	ctx context.Context, id models.GrantID, after string, limit int,
) (items []models.Brief, next string, err error) {
	limit = db.PageSize(limit)
	err = s.db.Snapshot(ctx, func(ctx context.Context) (err error) {
		g := s.db.Gorm(ctx).Where("grant_id = ?", id).Order("number DESC").Limit(limit + 1)
		if after != "" {
			g = g.Where("number < coalesce((SELECT number FROM responses WHERE id = ?), ?)", after, math.MaxInt64)
		}
		items, err = requests.FindBriefs(g, s.db.Now())
		return err
	})
	items, next = db.Cut(items, limit, func(b *models.Brief) db.Cursor { return requests.CursorOf(&b.Approval) })
	return items, next, err
}

// Grant is one grant and the calls it let through, going on after the key of the
// page before. CodeNotFound for those who may not revoke it; agents are
// CodeForbidden. Who made it and may not decide any more sees none of the calls.
func (s *Store) Grant(
	ctx context.Context, actor models.Actor, id models.GrantID, after string, limit int,
) (GrantUses, error) {
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
	if !actor.Oversees() && g.OwnerID != actor.UserID() {
		return out, nil
	}
	out.Items, out.Next, err = s.grantUses(ctx, id, after, limit)
	return out, err
}

// grantFor reads a grant for a person who sees it: its maker, the owner, admins and auditors.
func grantFor(pool *gorm.DB, actor models.Actor, id models.GrantID) (*models.Grant, error) {
	var found []models.Grant
	if err := pool.Raw(selectGrant, id).Scan(&found).Error; err != nil {
		return nil, fmt.Errorf("read pre-approval: %w", err)
	}
	if len(found) == 0 || !actor.Oversees() && found[0].OwnerID != actor.UserID() && found[0].MadeBy != actor.UserID() {
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

// GrantReach is how many of the latest calls of the request's agent and tool, the request itself left out, a grant
// made on it would have covered. For those who may make one. Codes: forbidden, not_found, invalid (fixed),
// wrong_decision_kind; already_decided for a rejected request.
func (s *Store) GrantReach(
	ctx context.Context, actor models.Actor, id models.ResponseID, fixed []string,
) (models.GrantReach, error) {
	var reach models.GrantReach
	if err := needPersonForGrant(actor); err != nil {
		return reach, err
	}
	a, err := s.Requests.Approval(ctx, actor, id)
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
	rows, err := s.db.Reads().QueryContext(context.WithoutCancel(ctx), reachQuery, a.AgentID, a.ToolName, a.ID,
		reachCalls+1)
	if err != nil {
		return reach, fmt.Errorf("look at past calls: %w", err)
	}
	defer rows.Close()
	read := 0
	for rows.Next() {
		if reach.Sample == reachCalls || read > reachBytes {
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
		reach.Sample, reach.Since = reach.Sample+1, when
		if call, err := models.ShapeOf([]byte(input)); err == nil && cutFrom == nil && g.Covers(a.AgentID, a.ToolName, call) {
			reach.Covered++
		}
	}
	if err := rows.Err(); err != nil {
		return reach, fmt.Errorf("look at past calls: %w", err)
	}
	return reach, nil
}
