package store

import (
	"database/sql"
	"errors"
	"fmt"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/ledger"
)

const standingAsk = `SELECT r.id FROM responses r INDEXED BY responses_agent_tool_use JOIN conversations c ON c.id = r.conversation_id
 WHERE r.agent_id = ? AND r.tool_use_id = ? AND r.digest = ? AND c.standing ORDER BY r.number DESC LIMIT 1`

// adopt moves the request that an agent made without naming a run, and that is
// the reported call, out of the agent's standing conversation into the run. What
// it cost moves with it, as far as the run's budget allows: it is spent.
func (r *report) adopt(e *runEvent) (id models.ResponseID, err error) {
	if r.conv.Standing {
		return "", nil
	}
	if err := r.Row(r.s.hot.standingAsk, r.actor.ID, e.ToolUseID, e.call).Scan(&id); errors.Is(err, sql.ErrNoRows) {
		return "", nil
	} else if err != nil {
		return "", fmt.Errorf("look for a request to adopt: %w", err)
	}
	a, err := r.standing(id)
	if err != nil {
		return "", err
	}
	energy := a.Energy
	sequence, fits, err := r.take(r.conv.ID, energy)
	if err == nil && !fits {
		// What was spent before anybody knew of the run stays where it was spent.
		energy = 0
		sequence, _, err = r.take(r.conv.ID, 0)
	}
	if err != nil {
		return "", err
	}
	begins := r.waitBegins(a)
	if err := r.move(a, sequence, energy); err != nil {
		return "", err
	}
	if r.running, err = r.isRunning(a.ConversationID); err != nil {
		return "", err
	}
	r.changed(a.ConversationID)
	r.Publish(events.Agent(string(r.conv.AgentID)), events.RecordOf(string(r.conv.OwnerID)), events.RecordOfAdmins)
	r.Publish(events.Approval(string(id)), events.InboxOfAdmins, events.InboxOf(string(a.OwnerID)))
	return id, r.record(r.actor, "response.adopted", ledger.Subject{Owner: r.conv.OwnerID, Conversation: r.conv.ID, Response: id},
		adoptedEntry{From: a.ConversationID, FromSequence: a.Sequence, Sequence: sequence, Energy: energy, Conversation: begins, Left: r.waitEndsFor(a)})
}

type adoptedEntry struct {
	From         models.ConversationID `json:"from"`
	FromSequence int64                 `json:"from_sequence"`
	Sequence     int64                 `json:"sequence"`
	Energy       int64                 `json:"energy"`
	Conversation *models.StatusChange  `json:"conversation_status,omitempty"` // of the run, which waits from now on
	Left         *models.StatusChange  `json:"from_status,omitempty"`         // of the conversation that it was in

	// Of an approval of another system, which becomes the agent's whose call it is for.
	Agent models.AgentID `json:"agent,omitempty"`
	Row   string         `json:"row_digest,omitempty"`
}

// move gives a row its place in the run. Energy that the run cannot carry stays
// counted in the standing conversation, on a turn that stands for it.
func (r *report) move(a *models.Approval, sequence, energy int64) error {
	if err := r.Gorm().Exec(`UPDATE responses SET conversation_id = ?, sequence = ?, energy = ? WHERE id = ?`, r.conv.ID, sequence, energy, a.ID).Error; err != nil {
		return fmt.Errorf("adopt request: %w", err)
	}
	if energy > 0 {
		if err := r.Gorm().Exec(`UPDATE conversations SET energy_used = energy_used - ? WHERE id = ?`, energy, a.ConversationID).Error; err != nil {
			return fmt.Errorf("adopt request: %w", err)
		}
		return nil
	}
	if a.Energy == 0 {
		return nil
	}
	err := r.Gorm().Exec(`INSERT INTO turns (conversation_id, sequence, at, model, energy, said) VALUES (?, ?, ?, '', ?, '{}')`,
		a.ConversationID, a.Sequence, a.CreatedAt, a.Energy).Error
	if err != nil {
		return fmt.Errorf("keep what an adopted request cost: %w", err)
	}
	return nil
}
