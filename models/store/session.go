package store

import (
	"context"
	"fmt"
	"strings"

	"countersign/models"
	"countersign/models/db"
)

// A session is what orchestrators call a conversation: a string that is its id
// or its run id. Nobody meets another's by it: every look-up keeps to what the
// one who asks may see, whatever the string is elsewhere.

// sessionConversation finds the conversation that an asking agent's session
// names, among its own; nil: to be opened. A stranger's conversation of that id
// is none of its business, and is no hindrance: the id becomes a run id here.
func (t *tx) sessionConversation(actor models.Actor, session string) (*models.Conversation, error) {
	if id, err := models.ParseID[models.ConversationID]("sessionId", session); err == nil {
		c, err := scanConversation(t.Row(t.s.hot.conversation, id))
		if err != nil {
			return nil, err
		}
		if c != nil && c.OwnerID == actor.OwnerID {
			return c, ownConversation(actor, c)
		}
	}
	c, err := scanConversation(t.Row(t.s.hot.conversationByRun, actor.OwnerID, session))
	if err != nil {
		return nil, err
	}
	return c, ownConversation(actor, c)
}

// inSession reports whether a row belongs to the session of that name.
func inSession(a *models.Approval, session string) bool {
	return strings.EqualFold(string(a.ConversationID), session) || (a.RunID != nil && *a.RunID == session)
}

// sessions are the conversations that a session string may mean to the actor, as
// queries of ids in the order in which they go: by id, then by run id.
func sessions(actor models.Actor, session string) []part {
	var out []part
	if id, err := models.ParseID[models.ConversationID]("sessionId", session); err == nil {
		out = append(out, part{`SELECT id FROM conversations WHERE id = ?`, []any{id}})
	}
	if actor.IsAgent() {
		return append(out, part{`SELECT id FROM conversations WHERE owner_id = ? AND run_id = ?`, []any{actor.OwnerID, session}})
	}
	// Run ids are unique for one owner: one look into the index for each.
	return append(out, part{
		`SELECT c.id FROM users u CROSS JOIN conversations c` + db.ByConversationsRun + ` ON c.owner_id = u.id AND c.run_id = ?`, []any{session},
	})
}

// part is a piece of SQL with its arguments.
type part struct {
	text string
	args []any
}

// SessionPending is what waits in a session, soonest deadline first: of an
// agent's own, or of what a person may decide. A session that nobody has opened,
// or that the actor may not see, has nothing that waits. Next, if not empty, is
// what after takes for the page that follows. A page ends after MaxListBytes.
func (s *Store) SessionPending(ctx context.Context, actor models.Actor, session, after string, limit int) (List, error) {
	if !actor.IsAgent() && !actor.IsPerson() {
		return List{}, models.Errorf(models.CodeForbidden, "Only agents and people list requests.")
	}
	if err := models.CheckKey("sessionId", session); err != nil {
		return List{}, err
	}
	from, err := db.ParseCursor(after)
	if err != nil {
		return List{}, err
	}
	if now := s.db.Now(); from.At.Before(now) {
		from = db.Cursor{At: now, ID: db.MaxID} // what is past its deadline has expired already (I3)
	}
	limit = db.PageSize(limit)
	for _, conversations := range sessions(actor, session) {
		q := sessionPendingQuery(actor, conversations, from, limit+1)
		items, err := s.approvalsWithin(ctx, MaxListBytes, q.text, q.args...)
		if err != nil {
			return List{}, fmt.Errorf("read what waits in a session: %w", err)
		}
		if len(items) > 0 {
			var out List
			out.Items, out.Next = db.Cut(items, fitting(items, limit, MaxListBytes, weight), func(a *models.Approval) db.Cursor { return db.Cursor{At: a.ApprovalTimeoutAt, ID: string(a.ID)} })
			return out, nil
		}
	}
	return List{}, nil
}

func sessionPendingQuery(actor models.Actor, conversations part, from db.Cursor, limit int) part {
	sees := seenBy(actor, `r`)
	// Sorted by its keys: whole rows would all be read before the first is given.
	keys := `SELECT r.number AS number, r.approval_timeout_at AS due, r.id AS id FROM (` + conversations.text + `) k CROSS JOIN responses r` + db.ByResponsesPendingConversation + `
 ON r.conversation_id = k.id AND r.approval_status = 'pending' AND (r.approval_timeout_at, r.id) > (?, ?)
 WHERE ` + sees.text + ` ORDER BY r.approval_timeout_at, r.id LIMIT ?`
	args := append(append(append([]any{}, conversations.args...), from.At, from.ID), sees.args...)
	return part{
		`SELECT ` + approvalColumns + ` FROM (` + keys + `) k CROSS JOIN responses r ON r.number = k.number` +
			strings.TrimPrefix(approvalFrom, ` FROM responses r`) + ` ORDER BY k.due, k.id`,
		append(args, limit),
	}
}
