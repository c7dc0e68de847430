package store

import (
	"context"
	"fmt"

	"countersign/models"
)

const (
	runLinkColumns = `SELECT c.id, coalesce(c.run_id, ''), c.title, c.status, EXISTS (SELECT 1 FROM responses p INDEXED BY responses_pending_conversation
 WHERE p.conversation_id = c.id AND p.approval_status = 'pending'), a.name, c.created_at, c.agent_id FROM conversations c `
	parentQuery   = runLinkColumns + `INDEXED BY conversations_run JOIN agents a ON a.id = c.agent_id WHERE c.owner_id = ? AND c.run_id = ?`
	childrenQuery = runLinkColumns + `INDEXED BY conversations_parent_run JOIN agents a ON a.id = c.agent_id
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
