package store

import (
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/insights"
	"countersign/models/ledger"
)

// The moves that models/runs needs for an agent's report of its run: each stores a row, or gives an existing one its
// place in the run. A report is a claim: no decision waits for it.

// LatestUse is the last call of a conversation with an id; empty: there is none.
func (t *Tx) LatestUse(conv models.ConversationID, toolUseID string) (models.ResponseID, error) {
	return t.rowID(t.Row(t.s.hot.byToolUse, conv, toolUseID))
}

// AddReported stores an agent's reported message or call, with the next number of its conversation. It needs no
// approval and costs nothing.
func (t *Tx) AddReported(
	actor models.Actor, conv *models.Conversation, reported models.Response, with *models.Report,
) (*models.Response, error) {
	r := &t.responseIn(actor, conv, reported).Response
	var err error
	if r.Sequence, err = t.NextSequence(conv.ID); err != nil {
		return nil, err
	}
	r.SelfApproval = selfApproval(r)
	return r, t.insertResponse(reportInsertion, t.s.hot.addWholeReport, t.s.hot.addReport, r, with)
}

// JoinReported notes that a request of an agent's is a call that it reports: when it says that the
// call was made, in which message, if it says so, and for which other call.
func (t *Tx) JoinReported(id models.ResponseID, at time.Time, batch, parent string) error {
	if err := t.Changes("responses", id); err != nil {
		return err
	}
	if _, err := t.Exec(t.s.hot.joinReport, at, nullable(batch), parent, id); err != nil {
		return fmt.Errorf("join reported call: %w", err)
	}
	t.Publish(events.Approval(string(id)))
	return nil
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
}

// Adopt moves an agent's request without a run out of its default conversation into the run. Its cost moves with it,
// as far as the run's budget allows: it is spent.
func (t *Tx) Adopt(actor models.Actor, conv *models.Conversation, a *models.Approval) error {
	energy := a.Energy
	next, fits, err := t.take(conv.ID, energy)
	if err == nil && !fits {
		// Energy spent before the run was known stays where it was spent.
		energy = 0
		next, _, err = t.take(conv.ID, 0)
	}
	if err != nil {
		return err
	}
	if err := t.move(a, conv.ID, next.sequence, energy); err != nil {
		return err
	}
	runs, err := t.isRunning(a.ConversationID)
	if err != nil {
		return err
	}
	t.changed(a.ConversationID)
	t.Publish(events.Agent(string(conv.AgentID)), events.RecordOf(string(conv.OwnerID)), events.RecordOfAdmins)
	t.Publish(events.Approval(string(a.ID)), events.InboxOfAdmins, events.InboxOf(string(a.OwnerID)))
	about := ledger.Subject{Owner: conv.OwnerID, Conversation: conv.ID, Response: a.ID}
	return t.Record(actor, "response.adopted", about, adoptedEntry{
		From: a.ConversationID, FromSequence: a.Sequence, Sequence: next.sequence, Energy: energy,
		Conversation: waitBegins(a, next.runs), Left: waitEndsFor(a, runs),
	})
}

// move gives a row its place in a run. Energy that the run cannot carry stays counted in the default conversation, on
// a turn in place of the row.
func (t *Tx) move(a *models.Approval, to models.ConversationID, sequence, energy int64) error {
	if err := t.Changes("responses", a.ID); err != nil {
		return err
	}
	place := map[string]any{"conversation_id": to, "sequence": sequence, "energy": energy}
	if err := t.updateOne(t.placeOf(&a.Response), place); err != nil {
		return fmt.Errorf("adopt request: %w", err)
	}
	if energy > 0 {
		err := t.Gorm().Exec(`UPDATE conversations SET energy_used = energy_used - ? WHERE id = ?`, energy,
			a.ConversationID).Error
		if err != nil {
			return fmt.Errorf("adopt request: %w", err)
		}
		return nil
	}
	if a.Energy == 0 {
		return nil
	}
	err := t.Gorm().Exec(`INSERT INTO turns (conversation_id, sequence, at, model, energy, said) VALUES (?, ?, ?, '', ?, '{}')`,
		a.ConversationID, a.Sequence, a.CreatedAt, a.Energy).Error
	if err != nil {
		return fmt.Errorf("keep what an adopted request cost: %w", err)
	}
	return nil
}

// AdoptOutside moves the pending approval of another system that waited for a call into the run of
// that call, of which it says the id: both are one row. It costs nothing there, as it did nothing
// before.
func (t *Tx) AdoptOutside(
	actor models.Actor, conv *models.Conversation, row *models.OutsideApproval, a *models.Approval, toolUseID string,
) error {
	waits := map[string]any{"waits": false, "linked_id": "", "linked_by": ""}
	if err := t.Gorm().Model(row).UpdateColumns(waits).Error; err != nil {
		return fmt.Errorf("adopt outside approval: %w", err)
	}
	next, _, err := t.take(conv.ID, 0)
	if err != nil {
		return err
	}
	from := *a
	a.ConversationID, a.Sequence, a.AgentID = conv.ID, next.sequence, conv.AgentID
	a.ToolUseID, a.MatchedBy = &toolUseID, models.MatchedByInput
	if err := t.Changes("responses", a.ID); err != nil {
		return err
	}
	err = t.updateOne(t.placeOf(&from.Response), map[string]any{
		"conversation_id": a.ConversationID, "sequence": a.Sequence, "agent_id": a.AgentID,
		"tool_use_id": toolUseID, "matched_by": a.MatchedBy,
	})
	if err != nil {
		return fmt.Errorf("adopt outside approval: %w", err)
	}
	if err := insights.Outdate(t.Tx, a.CreatedAt, t.Now); err != nil {
		return err
	}
	if err := t.Gorm().Exec(`UPDATE reviewers SET tool_use_id = ? WHERE response_id = ?`, toolUseID,
		a.ID).Error; err != nil {
		return fmt.Errorf("adopt outside approval: %w", err)
	}
	runs, err := t.isRunning(from.ConversationID)
	if err != nil {
		return err
	}
	t.changed(from.ConversationID)
	t.Publish(events.Agent(string(a.AgentID)), events.RecordOf(string(a.OwnerID)), events.RecordOfAdmins)
	t.Publish(events.Approval(string(a.ID)), events.InboxOfAdmins, events.InboxOf(string(a.OwnerID)))
	about := ledger.Subject{Owner: a.OwnerID, Conversation: a.ConversationID, Response: a.ID}
	err = t.Record(actor, "response.adopted", about, adoptedEntry{
		From: from.ConversationID, FromSequence: from.Sequence, Sequence: next.sequence, Energy: a.Energy,
		Conversation: waitBegins(a, next.runs), Left: waitEndsFor(a, runs), Agent: a.AgentID,
	})
	if err != nil {
		return err
	}
	return t.outcomeReached(models.System("poller"), &from)
}
