package store

import (
	"fmt"

	"countersign/models"
)

// reply stores what the agent says that it said.
func (r *report) reply(e *runEvent, out *models.RunEventResult) error {
	if err := r.batch(e); err != nil {
		return err
	}
	canonical, err := models.CanonicalContent(models.KindReply, e.Content)
	if err != nil {
		return err
	}
	a := r.reported(e, models.Response{Kind: models.KindReply, Digest: models.Digest(canonical), Risk: models.RiskLow})
	with := &models.Report{ParentToolUseID: e.ParentToolUseID}
	a.Content, with.ContentBytes = cutText(e.Content, e.ContentBytes)
	out.ResponseID = a.ID
	return r.addReported(a, with)
}

// message stores what the agent says that a person said: it stays the agent's
// word.
func (r *report) message(e *runEvent) error {
	sequence, _, err := r.take(r.conv.ID, 0)
	if err != nil {
		return err
	}
	m := &models.Message{
		ID: models.NewID[models.MessageID](), ConversationID: r.conv.ID, Sequence: sequence, AuthorKind: models.ActorAgent,
		AuthorID: r.actor.ID, AuthorName: r.actor.Name, CreatedAt: r.Now,
	}
	m.Content, m.ContentBytes = cutText(e.Content, e.ContentBytes)
	if err := r.Gorm().Create(m).Error; err != nil {
		return fmt.Errorf("store message: %w", err)
	}
	return nil
}

// status moves the run, and keeps as the agent's words why. While a request is
// undecided a run that is under way is shown as waiting, whatever it says of
// itself; one that has ended waits for nobody.
func (r *report) status(e *runEvent, out *models.RunEventResult) error {
	if e.Content != "" {
		if err := r.reply(e, out); err != nil {
			return err
		}
	}
	status := e.Status
	if status == models.ConversationCompleted || status == models.ConversationFailed {
		// First the status, so that no outcome makes it go on.
		if err := r.setStatus(r.actor, r.conv, status, models.CauseNone); err != nil {
			return err
		}
		return r.end()
	}
	return r.setStatus(r.actor, r.conv, status, models.CauseNone)
}
