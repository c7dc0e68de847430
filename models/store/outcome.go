package store

import (
	"countersign/models"
	"countersign/models/ledger"
)

// settleAs settles a pending request without a vote, and records it.
func (t *tx) settleAs(actor models.Actor, a *models.Approval, status models.Status, cause models.Cause, text string) error {
	left, err := t.endAs(actor, a, status, cause, text)
	if err != nil {
		return err
	}
	return t.recordEnd(actor, a, left)
}

// endAs is settleAs without its entry.
func (t *tx) endAs(actor models.Actor, a *models.Approval, status models.Status, cause models.Cause, text string) (ending, error) {
	settle, when := t.settle, t.Now
	if a.HeldUntil != nil {
		if err := t.overrule(a); err != nil {
			return ending{}, err
		}
		settle = t.settleHeld
	}
	a.ApprovalStatus, a.ApprovalTimestamp, a.Cause, a.ApprovalFeedback = &status, &when, cause, models.FeedbackOf(text)
	return settle(actor, a)
}

func (t *tx) recordEnd(actor models.Actor, a *models.Approval, left ending) error {
	return t.record(actor, "approval."+string(a.Status()), ledger.SubjectOf(&a.Response, left.readers), settledEntry{
		Digest: a.Digest, Status: a.Status(), Cause: a.Cause, Reason: models.DigestOfText(a.Feedback()), Conversation: waitEnds(left.running),
	})
}
