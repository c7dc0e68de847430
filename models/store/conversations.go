package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"countersign/models"
	"countersign/models/db"
)

// selectView reads one models.ConversationView; scanView takes the columns in
// this order. What is pending is counted up to one more than is shown.
var (
	viewColumns = conversationRow.Columns("c", nil) + `, a.name, a.system, u.name,
 (SELECT count(*) FROM (SELECT 1 FROM responses p` + db.ByResponsesPendingConversation + `
  WHERE p.conversation_id = c.id AND p.approval_status = 'pending' LIMIT 1001))`
	viewFrom   = ` FROM conversations c JOIN agents a ON a.id = c.agent_id JOIN users u ON u.id = c.owner_id`
	selectView = `SELECT ` + viewColumns + viewFrom
)

func scanView(row db.Scanner, v *models.ConversationView) error {
	err := row.Scan(append(conversationRow.Targets(&v.Conversation), &v.AgentName, &v.BuiltIn, &v.OwnerName, &v.Pending)...)
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
func (s *Store) Conversations(ctx context.Context, actor models.Actor, q ConversationQuery) (ConversationList, error) {
	switch q.Status {
	case "", models.ConversationRunning, models.ConversationWaitingInput, models.ConversationCompleted, models.ConversationFailed:
	default:
		return ConversationList{}, models.Invalid("status", "must be running, waiting_input, completed or failed")
	}
	switch {
	case actor.IsAgent():
		q.Agent, q.Owner = actor.AgentID(), ""
	case !actor.IsPerson():
		return ConversationList{}, models.Errorf(models.CodeForbidden, "Only agents and people list conversations.")
	case !actor.Admin:
		q.Owner = actor.UserID()
	}
	after, err := db.ParseCursor(q.Cursor)
	if err != nil {
		return ConversationList{}, err
	}
	if q.Cursor == "" {
		after = db.Cursor{At: models.NoDeadline}
	}
	limit := db.PageSize(q.Limit)
	query, args := q.sql(after, limit+1)
	stmt, err := s.db.Prepared(ctx, query) //nolint:sqlclosecheck // kept until the store closes
	if err != nil {
		return ConversationList{}, err
	}
	rows, err := stmt.QueryContext(context.WithoutCancel(ctx), args...)
	if err != nil {
		return ConversationList{}, fmt.Errorf("list conversations: %w", err)
	}
	defer rows.Close()
	var list ConversationList
	for rows.Next() {
		var v models.ConversationView
		if err := scanView(rows, &v); err != nil {
			return ConversationList{}, fmt.Errorf("list conversations: %w", err)
		}
		list.Items = append(list.Items, v)
	}
	if err := rows.Err(); err != nil {
		return ConversationList{}, fmt.Errorf("list conversations: %w", err)
	}
	list.Items, list.Next = db.Cut(list.Items, limit, func(v *models.ConversationView) db.Cursor { return db.Cursor{At: v.ActiveAt, ID: string(v.ID)} })
	return list, nil
}

// sql picks the page's keys by the index that serves the filters, then joins.
func (q ConversationQuery) sql(after db.Cursor, limit int) (string, []any) {
	keys, args := q.keys(after, limit)
	if q.Status == models.ConversationWaitingInput {
		also, more := q.waiting(after, limit)
		keys = `SELECT * FROM (SELECT * FROM (` + keys + `) UNION ALL SELECT * FROM (` + also + `)) ORDER BY active_at DESC, id DESC LIMIT ?`
		args = append(append(args, more...), limit)
	}
	return `SELECT ` + viewColumns + ` FROM (` + keys + `) g
 JOIN conversations c ON c.id = g.id` + strings.TrimPrefix(viewFrom, ` FROM conversations c`) + ` ORDER BY g.active_at DESC, g.id DESC`, args
}

const pageOfKeys = ` AND (k.active_at, k.id) < (?, ?) ORDER BY k.active_at DESC, k.id DESC LIMIT ?`

// keys are the page's conversations by their stored status, without those that are
// shown as waiting instead of running.
func (q ConversationQuery) keys(after db.Cursor, limit int) (string, []any) {
	index, where, args := "conversations_all", []string{"k.archived_at IS NULL"}, []any{}
	if q.Archived {
		index, where[0] = "conversations_archived", "k.archived_at IS NOT NULL"
	}
	if q.Status != "" {
		where, args = append(where, "k.status = ?"), append(args, q.Status)
	}
	if q.Status == models.ConversationRunning {
		where = append(where, `NOT EXISTS (SELECT 1 FROM responses p`+db.ByResponsesPendingConversation+` WHERE p.conversation_id = k.id AND p.approval_status = 'pending')`)
	}
	where, args = q.whose(where, args)
	switch {
	case q.Archived && q.Owner != "":
		index = "conversations_owner_archived"
	case q.Archived:
	case q.Agent != "":
		index = "conversations_agent"
	case q.Owner != "" && q.Status != "":
		index = "conversations_owner_status"
	case q.Owner != "":
		index = "conversations_owner"
	case q.Status != "":
		index = "conversations_status"
	}
	return `SELECT k.id, k.active_at FROM conversations k` + db.By(index) + ` WHERE ` + strings.Join(where, ` AND `) + pageOfKeys,
		append(args, after.At, after.ID, limit)
}

func (q ConversationQuery) whose(where []string, args []any) ([]string, []any) {
	if q.Owner != "" {
		where, args = append(where, "k.owner_id = ?"), append(args, q.Owner)
	}
	if q.Agent != "" {
		where, args = append(where, "k.agent_id = ?"), append(args, q.Agent)
	}
	return where, args
}

// waiting are the page's conversations that wait for requests. It steps from one
// conversation to the next in the index of what is pending, so that its cost
// follows how many wait, not how many run nor how much is pending in each.
func (q ConversationQuery) waiting(after db.Cursor, limit int) (string, []any) {
	where, args := []string{"k.status = 'running'", "k.archived_at IS NULL"}, []any{}
	if q.Archived {
		where[1] = "k.archived_at IS NOT NULL"
	}
	where, args = q.whose(where, args)
	const first = `SELECT p.conversation_id FROM responses p` + db.ByResponsesPendingConversation + ` WHERE p.approval_status = 'pending'`
	return `WITH RECURSIVE w(id) AS (SELECT * FROM (` + first + ` ORDER BY p.conversation_id LIMIT 1)
 UNION ALL SELECT (` + first + ` AND p.conversation_id > w.id ORDER BY p.conversation_id LIMIT 1) FROM w WHERE w.id IS NOT NULL)
 SELECT k.id, k.active_at FROM w CROSS JOIN conversations k ON k.id = w.id WHERE ` + strings.Join(where, ` AND `) + pageOfKeys,
		append(args, after.At, after.ID, limit)
}

// openedAt is what a conversation that begins now has for its times.
func openedAt(c *models.Conversation, now time.Time) {
	c.CreatedAt, c.UpdatedAt, c.ActiveAt = now, now, now.Truncate(minute)
}

const (
	runLinkColumns = `SELECT c.id, coalesce(c.run_id, ''), c.title, c.status, EXISTS (SELECT 1 FROM responses p` + db.ByResponsesPendingConversation + `
 WHERE p.conversation_id = c.id AND p.approval_status = 'pending'), a.name, c.created_at, c.agent_id FROM conversations c `
	parentQuery   = runLinkColumns + db.ByConversationsRun + ` JOIN agents a ON a.id = c.agent_id WHERE c.owner_id = ? AND c.run_id = ?`
	childrenQuery = runLinkColumns + db.ByConversationsParentRun + ` JOIN agents a ON a.id = c.agent_id
 WHERE c.owner_id = ? AND c.parent_run_id = ? ORDER BY c.created_at, c.id LIMIT ?`
)

// Family are the run that started a run, nil if none is known, and those that it
// started, in order of creation: at most models.MaxPage. An agent sees its own.
// CodeNotFound as for Conversation.
func (s *Store) Family(ctx context.Context, actor models.Actor, id models.ConversationID) (parent *models.RunLink, children []models.RunLink, err error) {
	c, err := s.Conversation(ctx, actor, id)
	if err != nil {
		return nil, nil, err
	}
	if c.ParentRunID != nil {
		found, err := s.runLinks(ctx, actor, parentQuery, c.OwnerID, *c.ParentRunID)
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
	children, err = s.runLinks(ctx, actor, childrenQuery, c.OwnerID, *c.RunID, models.MaxPage)
	return parent, children, err
}

func (s *Store) runLinks(ctx context.Context, actor models.Actor, query string, args ...any) ([]models.RunLink, error) {
	rows, err := s.db.Reads().QueryContext(context.WithoutCancel(ctx), query, args...)
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
