package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
)

const (
	unhold   = `UPDATE responses SET held_until = NULL WHERE id = ? AND approval_status = 'pending' AND held_until IS NOT NULL`
	keepUndo = `UPDATE votes SET undo_until = ?, budget_set = ?, budget_delta = ? WHERE id = ?`
	saidWith = `SELECT count(*) FROM (SELECT 1 FROM messages WHERE conversation_id = ? AND sequence > ? AND response_id = ? LIMIT 1)`
	hasVoted = `SELECT 1 FROM votes WHERE response_id = ? AND user_id = ? LIMIT 1`
)

// undoFor is how long the active policy has a verdict held, so that it can be undone: approvals only, never rejections
// nor answers.
func (t *Tx) undoFor(a *models.Approval, v *models.Vote) (time.Duration, error) {
	if v.Verdict != models.VerdictApprove {
		return 0, nil
	}
	_, p, err := t.Policy()
	if err != nil {
		return 0, err
	}
	return p.UndoFor(a.Risk), nil
}

// holdForUndo keeps an approval back for its window, with its change of the budget: before the end, no one hears of it
// and nothing changes.
func (t *Tx) holdForUndo(
	actor models.Actor, a *models.Approval, v *models.Vote, window time.Duration, change models.BudgetChange,
) (*models.Approval, error) {
	until := t.Now.Add(window)
	v.UndoUntil, v.BudgetSet, v.BudgetDelta = &until, change.Set, change.Delta
	if err := t.Changes("votes", v.ID); err != nil {
		return nil, err
	}
	if err := t.Gorm().Exec(keepUndo, v.UndoUntil, v.BudgetSet, v.BudgetDelta, v.ID).Error; err != nil {
		return nil, fmt.Errorf("store undo window: %w", err)
	}
	return t.hold(actor, a, v, window)
}

// Undo undoes an approval in its undo window, by the person who gave it and before anyone hears of it: of an outside
// approval, before the first attempt to send it to the other system. The request is pending again as before; if its
// deadline has passed meanwhile it expires at once (I3), and comes back expired. A repeat changes nothing.
//
// Codes: forbidden, not_found, conflict (nothing is held); with the current row: already_decided, expired,
// being_decided (another person approved it, or it is too late).
func (s *Store) Undo(ctx context.Context, actor models.Actor, id models.ResponseID) (*models.Approval, error) {
	if !actor.IsPerson() {
		return nil, models.Errorf(models.CodeForbidden, "Only the person who approved can undo it.")
	}
	var out *models.Approval
	err := s.writeAnyway(ctx, func(t *Tx) error {
		a, err := t.Approval(actor, id)
		if err != nil {
			return err
		}
		out = a
		vote, err := t.toTakeBack(actor, a)
		switch {
		case err != nil || vote == nil:
			return err
		case vote.UserID != actor.UserID():
			return t.unsign(actor, a, vote)
		}
		return t.takeBack(actor, a, vote)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// toTakeBack is the approval that the actor may take back; nil if it was already. Of a request that several people
// sign it may be another's, that holds it: without the actor's signature it waits again.
func (t *Tx) toTakeBack(actor models.Actor, a *models.Approval) (*models.Vote, error) {
	if a.HeldUntil == nil || a.Status() != models.StatusPending {
		return nil, t.nothingHeld(actor, a)
	}
	vote, err := t.heldVote(a.ID)
	if err != nil {
		return nil, err
	}
	switch {
	case vote == nil:
		return nil, t.conflict(a)
	case vote.UserID != actor.UserID() || vote.UndoUntil == nil:
		if may, err := t.mayUnsign(actor, a); err != nil || !may || vote.BrokeGlass() {
			return nil, errors.Join(err, t.conflict(a))
		}
	}
	if a.UpstreamID == nil && vote.UndoUntil != nil && !t.Now.Before(*vote.UndoUntil) {
		return nil, windowOver(a, vote, t.Now)
	}
	return vote, nil
}

// nothingHeld answers an undo of a request that is not held: nil if it was undone before.
func (t *Tx) nothingHeld(actor models.Actor, a *models.Approval) error {
	if err := t.conflict(a); err != nil {
		return err
	}
	if dropped, err := t.dropEdit(actor, a); err != nil || dropped {
		return err
	}
	var found []int
	if err := t.Gorm().Raw(hasVoted, a.ID, actor.UserID()).Scan(&found).Error; err != nil {
		return fmt.Errorf("read decision: %w", err)
	}
	if len(found) > 0 {
		return nil
	}
	return &models.Error{Code: models.CodeConflict, Text: "There is no approval to undo.", Approval: a}
}

func (t *Tx) takeBack(actor models.Actor, a *models.Approval, vote *models.Vote) error {
	if err := t.overrule(a); err != nil {
		return err
	}
	return t.waitsAgain(actor, a, vote)
}

// waitsAgain has a request wait that a verdict held until now.
func (t *Tx) waitsAgain(actor models.Actor, a *models.Approval, vote *models.Vote) error {
	if err := t.Changes("responses", a.ID); err != nil {
		return err
	}
	res := t.Gorm().Exec(unhold, a.ID)
	if res.Error != nil {
		return fmt.Errorf("undo approval: %w", res.Error)
	}
	if !db.ExactlyOne(res.RowsAffected) {
		return fmt.Errorf("undo approval of %s: nothing held it", a.ID)
	}
	a.HeldUntil, a.Vote = nil, nil
	if err := t.leftWhileHeld(actor, a, vote.UserID); err != nil {
		return err
	}
	if err := t.reroute(actor, a); err != nil {
		return err
	}
	readers, err := t.tellDeciders(a)
	if err != nil {
		return err
	}
	if err := t.Record(actor, "approval.taken_back", ledger.SubjectOf(&a.Response, readers), settledEntry{
		Digest: a.Digest, Status: models.StatusPending, Verdict: vote.Verdict, Edited: vote.InputDigest,
	}); err != nil {
		return err
	}
	if a.PastDeadline(t.Now) {
		err = t.expireNow(a)
	} else {
		t.deadlineStored(a.ApprovalTimeoutAt) // the expirer has not watched it while the verdict held
		err = t.endIfStranded(a)              // other approvers may be disabled meanwhile
	}
	if err != nil {
		return err
	}
	return t.wakeBySaid(actor, a)
}

// wakeBySaid tells the built-in agent of the words that came with a held approval:
// it hears of both together.
func (t *Tx) wakeBySaid(actor models.Actor, a *models.Approval) error {
	var said int64
	if err := t.Gorm().Raw(saidWith, a.ConversationID, a.Sequence, a.ID).Scan(&said).Error; err != nil {
		return fmt.Errorf("look for a message: %w", err)
	}
	if said == 0 {
		return nil
	}
	return t.Wake(actor, a.ConversationID)
}
