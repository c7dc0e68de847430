package store

import (
	"context"
	"fmt"
	"strings"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/requests"
)

// A session is what orchestrators call a conversation: a string that is its id or its run id. A caller never reaches
// another's conversation by it: every look-up keeps to what that caller may see, whatever the string is elsewhere.

// sessionConversation finds the conversation that an asking agent's session
// names, among its own; nil: to be opened. A stranger's conversation of that id
// is none of its business, and is no hindrance: the id becomes a run id here.
func (t *Tx) sessionConversation(actor models.Actor, session string) (*models.Conversation, error) {
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
func sessions(actor models.Actor, session string) []db.Part {
	var out []db.Part
	if id, err := models.ParseID[models.ConversationID]("sessionId", session); err == nil {
		out = append(out, db.Say(`SELECT id FROM conversations WHERE id = ?`, id))
	}
	if actor.IsAgent() {
		return append(out, db.Say(`SELECT id FROM conversations WHERE owner_id = ? AND run_id = ?`, actor.OwnerID, session))
	}
	// Run ids are unique for one owner: one look into the index for each.
	return append(out,
		db.Say(`SELECT c.id FROM users u CROSS JOIN conversations c`+db.ByConversationsRun+` ON c.owner_id = u.id AND c.run_id = ?`, session))
}

// SessionPending lists the pending requests of a session, soonest deadline first: an agent's own, or those that a
// person may decide. A session that does not exist, or that the actor may not see, has none. Next, if not empty, is
// the after of the next page. A page ends after MaxListBytes.
func (s *Store) SessionPending(
	ctx context.Context, actor models.Actor, session, after string, limit int,
) (requests.List, error) {
	if !actor.IsAgent() && !actor.IsPerson() {
		return requests.List{}, models.Errorf(models.CodeForbidden, "Only agents and people list requests.")
	}
	if err := models.CheckKey("sessionId", session); err != nil {
		return requests.List{}, err
	}
	from, err := db.ParseCursor(after)
	if err != nil {
		return requests.List{}, err
	}
	if now := s.db.Now(); from.At.Before(now) {
		from = db.Cursor{At: now, ID: db.MaxID} // requests past their deadline have expired already (I3)
	}
	for _, conversations := range sessions(actor, session) {
		items, next, err := s.pendingIn(actor, conversations, from, limit).Page(ctx)
		if err != nil {
			return requests.List{}, fmt.Errorf("read what waits in a session: %w", err)
		}
		if len(items) > 0 {
			return requests.List{Items: items, Next: next}, nil
		}
	}
	return requests.List{}, nil
}

// pendingIn lists the pending requests of some conversations, soonest deadline first.
func (s *Store) pendingIn(
	actor models.Actor, conversations db.Part, from db.Cursor, limit int,
) *db.List[models.Approval] {
	l := s.Requests.ApprovalsBy(limit, requests.MaxListBytes)
	l.Order, l.With = []db.Key{
		{Name: `due`, Is: `r.approval_timeout_at`}, {Name: `id`, Is: `r.id`},
	}, []db.Key{{Name: `number`, Is: `r.number`}}
	l.Walks = []db.Walk{{
		From: db.Say(`(`+conversations.Text+`) c CROSS JOIN responses r`+db.ByResponsesPendingConversation+` ON r.conversation_id = c.id AND r.approval_status = 'pending'`,
			conversations.Args...),
		Where: []db.Part{requests.SeenBy(actor, `r`)},
	}}
	l.After = db.After(from)
	l.Cursor = func(a *models.Approval) db.Cursor { return db.Cursor{At: a.ApprovalTimeoutAt, ID: string(a.ID)} }
	return l
}

// FindInvocation finds a request by the agent's own name for the call, among those that the actor may see, and returns
// its current state. session, a conversation's id or a run id, may be empty if only one session has that name.
//
// Codes: invalid, not_found, ambiguous_session.
func (s *Store) FindInvocation(
	ctx context.Context, actor models.Actor, toolUseID, session string,
) (*models.Approval, error) {
	if !actor.IsAgent() && !actor.IsPerson() {
		return nil, models.Errorf(models.CodeForbidden, "Only agents and people look up requests.")
	}
	if err := models.CheckKey("toolUseId", toolUseID); err != nil {
		return nil, err
	}
	if session != "" {
		if err := models.CheckKey("sessionId", session); err != nil {
			return nil, err
		}
	}
	for _, q := range invocationQueries(actor, toolUseID, session) {
		ids, err := s.responseIDs(ctx, q)
		switch {
		case err != nil:
			return nil, err
		case len(ids) > 1 && session == "":
			return nil, models.Errorf(models.CodeAmbiguousSession,
				"This tool use id exists in more than one session: send session_id.")
		case len(ids) > 1:
			return nil, models.Errorf(models.CodeAmbiguousSession,
				"More than one owner has a run with this name: send the conversation's id as session_id.")
		case len(ids) == 1:
			return s.Requests.Approval(ctx, actor, ids[0])
		}
	}
	return nil, models.Errorf(models.CodeNotFound, "There is no request with this tool use id.")
}

// invocationQueries give at most two ids each; the first that finds any tells.
// The cost of each follows the number of agents or people, not of requests.
func invocationQueries(actor models.Actor, toolUseID, session string) []db.Part {
	if session == "" {
		return []db.Part{invocationAnywhere(actor, toolUseID)}
	}
	sees := requests.SeenBy(actor, `r`)
	var out []db.Part
	for _, conversations := range sessions(actor, session) {
		args := append(append([]any{}, conversations.Args...), toolUseID)
		out = append(out, db.Say(
			`SELECT r.id FROM (`+conversations.Text+`) k CROSS JOIN responses r`+db.ByResponsesToolUse+`
 ON r.conversation_id = k.id AND r.tool_use_id = ? WHERE `+sees.Text+` AND `+isLatestUse+` LIMIT 2`,
			append(args, sees.Args...)...,
		))
	}
	return out
}

func invocationAnywhere(actor models.Actor, toolUseID string) db.Part {
	const ofAgents = `SELECT r.id FROM agents g CROSS JOIN responses r` + db.ByResponsesAgentToolUse +
		` ON r.agent_id = g.id AND r.tool_use_id = ? AND ` + isLatestUse
	switch {
	case actor.IsAgent():
		return db.Say(`SELECT r.id FROM responses r`+db.ByResponsesAgentToolUse+` WHERE r.agent_id = ? AND r.tool_use_id = ? AND `+isLatestUse+` LIMIT 2`, actor.ID, toolUseID)
	case actor.Oversees():
		return db.Say(ofAgents+` LIMIT 2`, toolUseID)
	}
	return db.Say(ofAgents+` WHERE g.owner_id = ?
 UNION ALL SELECT r.id FROM reviewers v`+db.ByReviewersToolUse+` JOIN responses r ON r.id = v.response_id WHERE v.user_id = ? AND v.tool_use_id = ? AND `+isLatestUse+` LIMIT 2`, toolUseID, actor.ID, actor.ID, toolUseID)
}

func (s *Store) responseIDs(ctx context.Context, q db.Part) ([]models.ResponseID, error) {
	rows, err := s.db.Reads().QueryContext(context.WithoutCancel(ctx), q.Text, q.Args...)
	if err != nil {
		return nil, fmt.Errorf("look up a tool use id: %w", err)
	}
	defer rows.Close()
	var ids []models.ResponseID
	for rows.Next() {
		var id models.ResponseID
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("look up a tool use id: %w", err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("look up a tool use id: %w", err)
	}
	return ids, nil
}
