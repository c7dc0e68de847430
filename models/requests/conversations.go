package requests

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"countersign/models"
	"countersign/models/db"
)

// selectView reads one models.ConversationView; scanView takes the columns in this order. Pending requests are counted
// up to one more than is shown.
var (
	viewColumns = ConversationRow.Columns("c", nil) + `, a.name, a.system, u.name,
 (SELECT count(*) FROM (SELECT 1 FROM responses p` + db.ByResponsesPendingConversation + `
  WHERE p.conversation_id = c.id AND p.approval_status = 'pending' LIMIT 1001))`
	viewFrom   = ` FROM conversations c JOIN agents a ON a.id = c.agent_id JOIN users u ON u.id = c.owner_id`
	SelectView = `SELECT ` + viewColumns + viewFrom
)

// ScanView reads a row of SelectView.
func ScanView(row db.Scanner, v *models.ConversationView) error {
	err := row.Scan(append(ConversationRow.Targets(&v.Conversation), &v.AgentName, &v.BuiltIn, &v.OwnerName,
		&v.Pending)...)
	v.Status = v.Status.Shown(v.Pending > 0)
	v.Pending = min(v.Pending, models.StatsCap)
	return err
}

// ConversationQuery chooses from the conversations that the actor may see.
type ConversationQuery struct {
	Status   models.ConversationStatus // empty: all
	Owner    models.UserID             // for admins; empty: all
	Agent    models.AgentID
	Archived bool   // those that were archived, instead of the others
	Cursor   string // ConversationList.Next of the page before
	Limit    int    // 0: models.DefaultPage
}

// ConversationList is one page of conversations, most recently active first (to
// the minute).
type ConversationList struct {
	Items []models.ConversationView
	Next  string // empty: the last page
}

// Conversations lists an agent's own conversations, a person's own, and for
// admins all. Codes: forbidden, invalid.
func (rs *Requests) Conversations(
	ctx context.Context, actor models.Actor, q ConversationQuery,
) (ConversationList, error) {
	switch q.Status {
	case "", models.ConversationRunning, models.ConversationWaitingInput, models.ConversationCompleted,
		models.ConversationFailed:
	default:
		return ConversationList{}, models.Invalid("status", "must be running, waiting_input, completed or failed")
	}
	switch {
	case actor.IsAgent():
		q.Agent, q.Owner = actor.AgentID(), ""
	case !actor.IsPerson():
		return ConversationList{}, models.Errorf(models.CodeForbidden, "Only agents and people list conversations.")
	case !actor.Oversees():
		q.Owner = actor.UserID()
	}
	after, err := db.ParseCursor(q.Cursor)
	if err != nil {
		return ConversationList{}, err
	}
	items, next, err := rs.conversations(q, after).Page(ctx)
	if err != nil {
		return ConversationList{}, fmt.Errorf("list conversations: %w", err)
	}
	return ConversationList{Items: items, Next: next}, nil
}

// conversations is the list of a query, by the index that serves its filters.
func (rs *Requests) conversations(q ConversationQuery, after db.Cursor) *db.List[models.ConversationView] {
	l := &db.List[models.ConversationView]{
		Walks: []db.Walk{{From: db.Say(`conversations k` + db.By(q.index())), Where: q.where(q.Status)}},
		Order: []db.Key{{Name: `active_at`, Is: `k.active_at`}, {Name: `id`, Is: `k.id`}}, Down: true,
		Limit:   db.PageSize(q.Limit),
		Columns: viewColumns,
		From:    `JOIN conversations c ON c.id = k.id` + strings.TrimPrefix(viewFrom, ` FROM conversations c`), Read: rs.views,
		Cursor: func(v *models.ConversationView) db.Cursor { return db.Cursor{At: v.ActiveAt, ID: string(v.ID)} },
	}
	if after.ID != "" {
		l.After = db.After(after)
	}
	if q.Status == models.ConversationWaitingInput {
		l.Walks = append(l.Walks, db.Walk{From: db.Say(thatWait), Where: q.where(models.ConversationRunning)})
	}
	return l
}

// views runs a query of viewColumns.
func (rs *Requests) views(ctx context.Context, query string, args ...any) ([]models.ConversationView, error) {
	stmt, err := rs.db.Prepared(ctx, query) //nolint:sqlclosecheck // kept until the store closes
	if err != nil {
		return nil, err
	}
	rows, err := stmt.QueryContext(context.WithoutCancel(ctx), args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []models.ConversationView
	for rows.Next() {
		var v models.ConversationView
		if err := ScanView(rows, &v); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, rows.Err()
}

// index is the one that has the conversations of a query in the list's order.
func (q *ConversationQuery) index() string {
	switch {
	case q.Archived && q.Owner != "":
		return "conversations_owner_archived"
	case q.Archived:
		return "conversations_archived"
	case q.Agent != "":
		return "conversations_agent"
	case q.Owner != "" && q.Status != "":
		return "conversations_owner_status"
	case q.Owner != "":
		return "conversations_owner"
	case q.Status != "":
		return "conversations_status"
	}
	return "conversations_all"
}

// where are the conditions on the conversations of a query whose stored status is this
// one (empty: any), without those that are shown as waiting instead of running.
func (q *ConversationQuery) where(status models.ConversationStatus) []db.Part {
	out := []db.Part{db.Say(`k.archived_at IS NULL`)}
	if q.Archived {
		out[0] = db.Say(`k.archived_at IS NOT NULL`)
	}
	if status != "" {
		out = append(out, db.Say(`k.status = ?`, status))
	}
	if q.Status == models.ConversationRunning {
		out = append(out,
			db.Say(`NOT EXISTS (SELECT 1 FROM responses p`+db.ByResponsesPendingConversation+` WHERE p.conversation_id = k.id AND p.approval_status = 'pending')`))
	}
	if q.Owner != "" {
		out = append(out, db.Say(`k.owner_id = ?`, q.Owner))
	}
	if q.Agent != "" {
		out = append(out, db.Say(`k.agent_id = ?`, q.Agent))
	}
	return out
}

// thatWait are the conversations in which requests wait. It steps from one conversation to the next in the index of
// pending requests, so that its cost follows how many conversations wait, not how many run nor how many requests are
// pending in each.
const (
	firstThatWaits = `SELECT p.conversation_id FROM responses p` + db.ByResponsesPendingConversation +
		` WHERE p.approval_status = 'pending'`
	thatWait = `(WITH RECURSIVE w(id) AS (SELECT * FROM (` + firstThatWaits + ` ORDER BY p.conversation_id LIMIT 1)
 UNION ALL SELECT (` + firstThatWaits + ` AND p.conversation_id > w.id ORDER BY p.conversation_id LIMIT 1) FROM w WHERE w.id IS NOT NULL) SELECT id FROM w) w
 CROSS JOIN conversations k ON k.id = w.id`
)

const (
	runLinkColumns = `SELECT c.id, coalesce(c.run_id, ''), c.title, c.status, EXISTS (SELECT 1 FROM responses p` +
		db.ByResponsesPendingConversation + `
 WHERE p.conversation_id = c.id AND p.approval_status = 'pending'), a.name, c.created_at, c.agent_id FROM conversations c `
	parentQuery = runLinkColumns + db.ByConversationsRun +
		` JOIN agents a ON a.id = c.agent_id WHERE c.owner_id = ? AND c.run_id = ?`
	childrenQuery = runLinkColumns + db.ByConversationsParentRun + ` JOIN agents a ON a.id = c.agent_id
 WHERE c.owner_id = ? AND c.parent_run_id = ? ORDER BY c.created_at, c.id LIMIT ?`
)

// Family are the run that started a run, nil if none is known, and those that it
// started, in order of creation: at most models.MaxPage. An agent sees its own.
// CodeNotFound as for Conversation.
func (rs *Requests) Family(
	ctx context.Context, actor models.Actor, id models.ConversationID,
) (parent *models.RunLink, children []models.RunLink, err error) {
	c, err := rs.Conversation(ctx, actor, id)
	if err != nil {
		return nil, nil, err
	}
	if c.ParentRunID != nil {
		found, err := rs.runLinks(ctx, actor, parentQuery, c.OwnerID, *c.ParentRunID)
		if err != nil {
			return nil, nil, err
		}
		if len(found) > 0 {
			parent = &found[0]
		}
	}
	if c.RunID == nil {
		return parent, nil, nil
	}
	children, err = rs.runLinks(ctx, actor, childrenQuery, c.OwnerID, *c.RunID, models.MaxPage)
	return parent, children, err
}

func (rs *Requests) runLinks(
	ctx context.Context, actor models.Actor, query string, args ...any,
) ([]models.RunLink, error) {
	rows, err := rs.db.Reads().QueryContext(context.WithoutCancel(ctx), query, args...)
	if err != nil {
		return nil, fmt.Errorf("look for related runs: %w", err)
	}
	defer rows.Close()
	var out []models.RunLink
	for rows.Next() {
		var l models.RunLink
		var agent models.AgentID
		var waits bool
		if err := rows.Scan(&l.ID, &l.RunID, &l.Title, &l.Status, &waits, &l.AgentName, &l.CreatedAt, &agent); err != nil {
			return nil, fmt.Errorf("look for related runs: %w", err)
		}
		l.Status = l.Status.Shown(waits)
		if !actor.IsAgent() || agent == actor.AgentID() {
			out = append(out, l)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("look for related runs: %w", err)
	}
	return out, nil
}

// Conversation is one conversation with what its readers need around it:
// CodeNotFound unless the actor is its agent, its owner or an admin.
func (rs *Requests) Conversation(
	ctx context.Context, actor models.Actor, id models.ConversationID,
) (*models.ConversationView, error) {
	var v models.ConversationView
	v.Reader = actor.Voter()
	err := ScanView(rs.db.Reader(ctx).QueryRowContext(context.WithoutCancel(ctx), SelectView+` WHERE c.id = ?`, id), &v)
	if err != nil {
		return nil, sqlNotFoundAs(err, models.NotFound("conversation"))
	}
	if !SeesConversation(actor, &v.Conversation) {
		return nil, models.NotFound("conversation")
	}
	return &v, nil
}

// Owns reports whether a person may write into a conversation and steer it.
func Owns(actor models.Actor, c *models.Conversation) bool {
	return actor.IsPerson() && (actor.Admin || actor.UserID() == c.OwnerID)
}

// SeesConversation reports whether the actor may read all of a conversation. A reviewer of one request reads that one
// and five turns, by other use cases.
func SeesConversation(actor models.Actor, c *models.Conversation) bool {
	return Owns(actor, c) || actor.IsPerson() && actor.Oversees() || (actor.IsAgent() && actor.AgentID() == c.AgentID)
}

func sqlNotFoundAs(err, want error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return want
	}
	return err
}
