package store

import (
	"context"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
)

// CloseCall completes a call of a run that is stuck: no result is waited for any
// more, and if one comes after all it is taken. Closing what was closed already
// changes nothing. For the conversation's owner and admins. A call that waits for
// approval is not stuck: it is decided.
//
// Codes: forbidden, not_found; wrong_decision_kind for what is no tool call, or
// waits for approval; being_decided; already_decided where there is a result.
func (s *Store) CloseCall(ctx context.Context, actor models.Actor, id models.ResponseID) (*models.Approval, error) {
	if !actor.IsPerson() {
		return nil, models.Errorf(models.CodeForbidden, "Only a person may close a call.")
	}
	var out *models.Approval
	err := s.write(ctx, func(t *tx) error {
		a, err := t.standing(id)
		if err != nil {
			return err
		}
		if a == nil || !actor.Admin && actor.UserID() != a.OwnerID {
			return noSuchApproval(id)
		}
		out = at(a, t.Now)
		if a.IsCompleted {
			return t.closedAlready(a)
		}
		if err := closable(a); err != nil {
			return err
		}
		if err := t.closeCall(a, models.ClosedByOwner); err != nil {
			return err
		}
		t.changed(a.ConversationID)
		t.Publish(events.Approval(string(a.ID)))
		return t.record(actor, "call.closed", ledger.SubjectOf(&a.Response, nil), map[string]any{"digest": a.Digest, "sequence": a.Sequence})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func closable(a *models.Approval) error {
	switch {
	case a.Kind != models.KindToolCall:
		return models.Errorf(models.CodeWrongDecisionKind, "Only a tool call can be closed.")
	case a.Status() == models.StatusPending && a.HeldUntil != nil:
		return conflictOf(a)
	case a.Status() == models.StatusPending:
		return &models.Error{Code: models.CodeWrongDecisionKind, Text: "This call waits for approval: approve or reject it.", Approval: a}
	}
	return nil
}

// closedAlready refuses to close a call that has a result.
func (t *tx) closedAlready(a *models.Approval) error {
	closed, err := db.Exists(t.Row(t.s.hot.isClosed, a.ID))
	if err != nil || closed {
		return err
	}
	return &models.Error{Code: models.CodeAlreadyDecided, Text: "This call has a result.", Approval: a}
}
