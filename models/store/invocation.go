package store

import (
	"context"
	"fmt"

	"countersign/models"
)

// FindInvocation finds a request by the agent's own name for the call, among
// what the actor may see, and returns it as it holds now. session, a
// conversation's id or a run id, may be empty where the name stands in one
// session only.
//
// Codes: invalid, not_found, ambiguous_session.
func (s *Store) FindInvocation(ctx context.Context, actor models.Actor, toolUseID, session string) (*models.Approval, error) {
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
			return nil, models.Errorf(models.CodeAmbiguousSession, "This tool use id stands in more than one session: say which by session_id.")
		case len(ids) > 1:
			return nil, models.Errorf(models.CodeAmbiguousSession, "More than one owner has a run of this name: say which by the conversation's id as session_id.")
		case len(ids) == 1:
			return s.Approval(ctx, actor, ids[0])
		}
	}
	return nil, models.Errorf(models.CodeNotFound, "There is no request with this tool use id.")
}

// invocationQueries give at most two ids each; the first that finds any tells.
// The cost of each follows the number of agents or people, not of requests.
func invocationQueries(actor models.Actor, toolUseID, session string) []part {
	if session == "" {
		return []part{invocationAnywhere(actor, toolUseID)}
	}
	sees := visible(actor)
	var out []part
	for _, conversations := range sessions(actor, session) {
		args := append(append([]any{}, conversations.args...), toolUseID)
		out = append(out, part{
			`SELECT r.id FROM (` + conversations.text + `) k CROSS JOIN responses r INDEXED BY responses_tool_use
 ON r.conversation_id = k.id AND r.tool_use_id = ? WHERE ` + sees.text + ` LIMIT 2`,
			append(args, sees.args...),
		})
	}
	return out
}

func invocationAnywhere(actor models.Actor, toolUseID string) part {
	const ofAgents = `SELECT r.id FROM agents g CROSS JOIN responses r INDEXED BY responses_agent_tool_use ON r.agent_id = g.id AND r.tool_use_id = ?`
	switch {
	case actor.IsAgent():
		return part{`SELECT r.id FROM responses r INDEXED BY responses_agent_tool_use WHERE r.agent_id = ? AND r.tool_use_id = ? LIMIT 2`, []any{actor.ID, toolUseID}}
	case actor.Admin:
		return part{ofAgents + ` LIMIT 2`, []any{toolUseID}}
	}
	return part{
		ofAgents + ` WHERE g.owner_id = ?
 UNION ALL SELECT v.response_id FROM reviewers v INDEXED BY reviewers_tool_use WHERE v.user_id = ? AND v.tool_use_id = ? LIMIT 2`,
		[]any{toolUseID, actor.ID, actor.ID, toolUseID},
	}
}

func (s *Store) responseIDs(ctx context.Context, q part) ([]models.ResponseID, error) {
	rows, err := s.db.Reads().QueryContext(context.WithoutCancel(ctx), q.text, q.args...)
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
