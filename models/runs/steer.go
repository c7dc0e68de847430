package runs

import (
	"context"
	"fmt"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
)

// Steer pauses, resumes, stops or archives a conversation. A repeat changes nothing. For its owner and admins.
//
// Paused: the built-in agent calls no model; decisions are possible. Stopped: the run has failed, and its pending
// requests are cancelled; a message resumes it.
//
// Codes: not_found, invalid; being_decided with the row of a verdict on its way.
func (r *Runs) Steer(
	ctx context.Context, actor models.Actor, id models.ConversationID, how models.Steering,
) (*models.Conversation, error) {
	return r.steered(ctx, actor, id, func(t *tx, c *models.Conversation) error {
		switch how {
		case models.SteerPause:
			return t.setPaused(actor, c, true)
		case models.SteerResume:
			return t.setPaused(actor, c, false)
		case models.SteerStop:
			return t.stop(actor, c)
		case models.SteerArchive:
			return t.setArchived(actor, c, true)
		case models.SteerUnarchive:
			return t.setArchived(actor, c, false)
		}
		return models.Invalid("action", "must be pause, resume, stop, archive or unarchive")
	})
}

// Rename gives a conversation another title; an empty one is none. For its owner
// and admins. Codes: not_found, invalid.
func (r *Runs) Rename(
	ctx context.Context, actor models.Actor, id models.ConversationID, title string,
) (*models.Conversation, error) {
	if err := checkTitle(title); err != nil {
		return nil, err
	}
	return r.steered(ctx, actor, id, func(t *tx, c *models.Conversation) error {
		if c.Title == title {
			return nil
		}
		c.Title = title
		return t.setColumn(actor, c, "title", title, "conversation.renamed",
			map[string]any{"title_digest": models.DigestOfText(title)})
	})
}

// SetOnReject chooses what becomes of the calls queued after one that is rejected.
// The agent does not change it any more. For the conversation's owner and admins.
// Codes: not_found, invalid.
func (r *Runs) SetOnReject(
	ctx context.Context, actor models.Actor, id models.ConversationID, onReject string,
) (*models.Conversation, error) {
	if onReject != models.OnRejectCascade && onReject != models.OnRejectContinue {
		return nil, models.Invalid("onReject", "must be cascade or continue")
	}
	return r.steered(ctx, actor, id, func(t *tx, c *models.Conversation) error {
		if c.OnReject == onReject && c.OnRejectBy == models.OnRejectByPerson {
			return nil
		}
		c.OnReject, c.OnRejectBy = onReject, models.OnRejectByPerson
		return t.setColumns(actor, c, map[string]any{"on_reject": c.OnReject, "on_reject_by": c.OnRejectBy},
			"conversation.described", described(c))
	})
}

func (r *Runs) steered(
	ctx context.Context, actor models.Actor, id models.ConversationID, fn func(*tx, *models.Conversation) error,
) (*models.Conversation, error) {
	if !actor.IsPerson() {
		return nil, models.Errorf(models.CodeForbidden, "Only a person may do this.")
	}
	var out *models.Conversation
	err := r.write(ctx, func(t *tx) error {
		c, err := t.owned(actor, id)
		if err != nil {
			return err
		}
		out = c
		if err := fn(t, c); err != nil {
			return err
		}
		return t.ShowStatus(c)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// setColumn changes one column of a conversation and records it.
func (t *tx) setColumn(
	actor models.Actor, c *models.Conversation, column string, value any, action string, data map[string]any,
) error {
	return t.setColumns(actor, c, map[string]any{column: value}, action, data)
}

// setColumns changes columns of a conversation and records it as one change.
func (t *tx) setColumns(
	actor models.Actor, c *models.Conversation, columns map[string]any, action string, data map[string]any,
) error {
	if err := t.Changes("conversations", c.ID); err != nil {
		return err
	}
	if err := t.Gorm().Model(&models.Conversation{}).Where("id = ?", c.ID).UpdateColumns(columns).Error; err != nil {
		return fmt.Errorf("store conversation: %w", err)
	}
	t.changed(c.ID)
	return t.Record(actor, action, ledger.Subject{Owner: c.OwnerID, Conversation: c.ID}, data)
}

func (t *tx) setPaused(actor models.Actor, c *models.Conversation, paused bool) error {
	if paused == (c.PausedAt != nil) {
		return nil
	}
	if paused {
		c.PausedAt = &t.Now
		return t.setColumn(actor, c, "paused_at", t.Now, "conversation.paused", map[string]any{})
	}
	c.PausedAt = nil
	if err := t.setColumn(actor, c, "paused_at", nil, "conversation.resumed", map[string]any{}); err != nil {
		return err
	}
	t.Publish(events.AgentInbox) // ready runs may be worked on again
	return nil
}

func (t *tx) setArchived(actor models.Actor, c *models.Conversation, archived bool) error {
	if archived == (c.ArchivedAt != nil) {
		return nil
	}
	if archived {
		c.ArchivedAt = &t.Now
		return t.setColumn(actor, c, "archived_at", t.Now, "conversation.archived", map[string]any{})
	}
	c.ArchivedAt = nil
	return t.setColumn(actor, c, "archived_at", nil, "conversation.unarchived", map[string]any{})
}

const pendingInConversation = `SELECT id FROM responses` + db.ByResponsesPendingConversation + `
 WHERE conversation_id = ? AND approval_status = 'pending' ORDER BY approval_timeout_at, id`

// stop ends a run: first the status, so that no outcome makes it go on, then
// everything that is pending. A turn that is under way loses its lease.
func (t *tx) stop(actor models.Actor, c *models.Conversation) error {
	var ids []models.ResponseID
	if err := t.Gorm().Raw(pendingInConversation, c.ID).Scan(&ids).Error; err != nil {
		return fmt.Errorf("read what is pending: %w", err)
	}
	if c.Status == models.ConversationFailed && len(ids) == 0 {
		return nil
	}
	rows := make([]*models.Approval, 0, len(ids))
	for _, id := range ids {
		a, err := t.Request(id)
		if err != nil {
			return err
		}
		if err := t.CheckOverrule(a); err != nil {
			return err
		}
		rows = append(rows, a)
	}
	if err := t.SetStatus(actor, c, models.ConversationFailed, models.CauseStopped); err != nil {
		return err
	}
	for _, a := range rows {
		if err := t.CancelBecause(actor, a, models.CauseStopped, actor.Name+" stopped the conversation."); err != nil {
			return err
		}
	}
	err := t.Gorm().Exec(`UPDATE agent_inbox SET ready_at = NULL, lease = lease + 1, holder = '', leased_until = NULL WHERE conversation_id = ?`, c.ID).Error
	if err != nil {
		return fmt.Errorf("stop the built-in agent: %w", err)
	}
	c.EnergyReserved = 0 // the caller that reserved it has lost its lease
	return t.FreeEnergy(c.ID)
}
