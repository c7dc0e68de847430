package store

import (
	"context"
	"fmt"

	"countersign/models"
	"countersign/models/db"
)

// A conversation with an undecided request is shown as waiting_input. That is
// read from the index of what is pending and never stored: the entry of the ask
// or outcome with which the waiting begins or ends tells the change (I7).
const (
	undecided = `EXISTS (SELECT 1 FROM responses p` + db.ByResponsesPendingConversation + `
 WHERE p.conversation_id = conversations.id AND p.approval_status = 'pending')`
	// shownRunning is true of a conversation that is shown as running: the next ask
	// makes it wait, or the last outcome has just made it go on.
	shownRunning = `(status = 'running' AND NOT ` + undecided + `)`
	statusQuery  = `SELECT status, ` + undecided + ` FROM conversations WHERE id = ?`
)

// isRunning reports whether a conversation is shown as running now.
func (t *Tx) isRunning(id models.ConversationID) (running bool, err error) {
	if err := t.Row(t.s.hot.isRunning, id).Scan(&running); err != nil {
		return false, fmt.Errorf("read status: %w", err)
	}
	return running, nil
}

// waitBegins is the change of status that a request brings as the first in its
// conversation; nil: there is none. running is from before it was stored.
func waitBegins(a *models.Approval, running bool) *models.StatusChange {
	if !running || a.Status() != models.StatusPending {
		return nil
	}
	return &models.StatusChange{Old: models.ConversationRunning, New: models.ConversationWaitingInput}
}

// waitEnds is the change of status that the last outcome of a conversation brings;
// nil: there is none. running is from after it.
func waitEnds(running bool) *models.StatusChange {
	if !running {
		return nil
	}
	return &models.StatusChange{Old: models.ConversationWaitingInput, New: models.ConversationRunning}
}

// waitEndsFor is waitEnds where a row has left its conversation for another.
func waitEndsFor(a *models.Approval, running bool) *models.StatusChange {
	return waitEnds(running && a.Status() == models.StatusPending)
}

// restOn has a run of the built-in agent wait for a request for energy: in its own
// conversation that shows as long as it is pending; for any other, and once it was
// refused, the conversation waits by itself.
func (t *Tx) restOn(run *models.Run, conv *models.Conversation, request *models.Approval) error {
	status := models.ConversationWaitingInput
	if request.Status() == models.StatusPending && request.ConversationID == conv.ID {
		status = models.ConversationRunning
	}
	return t.setStatus(run.Actor(), conv, status, "")
}

// showStatus turns the stored status of a conversation into the one that readers
// are told.
func (t *Tx) showStatus(c *models.Conversation) error {
	if c == nil {
		return nil
	}
	var waits bool
	if err := t.QueryRowContext(context.Background(), statusQuery, c.ID).Scan(&c.Status, &waits); err != nil {
		return fmt.Errorf("read status: %w", err)
	}
	c.Status = c.Status.Shown(waits)
	return nil
}
