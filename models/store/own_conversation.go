package store

import (
	"context"
	"time"

	"countersign/models"
)

// openedAt is what a conversation that begins now has for its times.
func openedAt(c *models.Conversation, now time.Time) {
	c.CreatedAt, c.UpdatedAt, c.ActiveAt = now, now, now.Truncate(minute)
}

// OwnConversation is the agent's own, to which everything belongs that names no
// conversation. It is opened if there is none yet.
//
// Codes: forbidden (agents only).
func (s *Store) OwnConversation(ctx context.Context, actor models.Actor) (models.ConversationID, error) {
	if !actor.IsAgent() {
		return "", models.Errorf(models.CodeForbidden, "Only an agent has its own conversation.")
	}
	var id models.ConversationID
	err := s.write(ctx, func(t *Tx) error {
		conv, err := scanConversation(t.Row(t.s.hot.conversationByRest, actor.ID))
		if err == nil && conv == nil {
			conv, err = t.openConversation(actor, &asked{})
		}
		if err != nil {
			return err
		}
		id = conv.ID
		return nil
	})
	return id, err
}
