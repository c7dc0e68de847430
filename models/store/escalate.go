package store

import (
	"context"
	"fmt"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
)

const escalated = `UPDATE responses SET escalated_at = ? WHERE id = ? AND approval_status = 'pending'`

// Escalate stores that an agent asks for more attention to a pending request of its own.
// Those who may decide it see it on its page and in their inbox, and nobody else is told:
// whom the agent names gets no say. Clock and digest stay. A repeat of the last note is that
// note.
//
// Codes: forbidden (agents only), not_found, invalid; with the standing row:
// already_decided, expired.
func (s *Store) Escalate(ctx context.Context, actor models.Actor, id models.ResponseID, text string) (*models.Approval, error) {
	if !actor.IsAgent() {
		return nil, models.Errorf(models.CodeForbidden, "Only the agent that asked may escalate its request.")
	}
	if err := checkNote(text); err != nil {
		return nil, err
	}
	var out *models.Approval
	err := s.write(ctx, func(t *tx) error {
		a, err := t.approval(actor, id)
		if err != nil {
			return err
		}
		out = at(a, t.Now)
		if out.Status() != models.StatusPending { // held or not: the agent is not to know
			return conflictOf(out)
		}
		last, err := t.lastNote(id)
		if err != nil || repeats(last, actor, text, noteEscalates) {
			return err
		}
		return t.escalate(actor, a, last, text)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (t *tx) escalate(actor models.Actor, a *models.Approval, last *models.Note, text string) error {
	note, err := t.addNote(actor, a, last, text, models.MaxEvidence)
	if err != nil {
		return err
	}
	note.Escalates = true
	if err := t.Gorm().Create(note).Error; err != nil {
		return fmt.Errorf("store escalation: %w", err)
	}
	res := t.Gorm().Exec(escalated, t.Now, a.ID)
	if res.Error != nil {
		return fmt.Errorf("mark escalation: %w", res.Error)
	}
	if !db.ExactlyOne(res.RowsAffected) {
		return fmt.Errorf("mark escalation of %s: it left pending meanwhile", a.ID)
	}
	now := t.Now
	a.EscalatedAt = &now
	readers, err := t.tellDeciders(a)
	if err != nil {
		return err
	}
	t.Publish(events.Agent(string(a.AgentID)))
	return t.record(actor, "approval.escalated", ledger.SubjectOf(&a.Response, readers), escalatedEntry{
		Digest: a.Digest, Note: note.ID, Number: note.Number, Text: models.DigestOfText(note.Content),
	})
}

type escalatedEntry struct {
	Digest string        `json:"digest"`
	Note   models.NoteID `json:"note"`
	Number int64         `json:"number"`
	Text   string        `json:"text_digest"`
}
