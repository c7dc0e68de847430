package store

import (
	"context"
	"fmt"
	"strings"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
)

// refused takes back a decision that the other system refused: the request waits again. A request that was settled
// meanwhile stays so, and is marked.
func (t *Tx) refused(a *models.Approval, row *models.Delivery, end models.DeliveryEnd) error {
	if err := t.deliveryDone(row, string(models.DeliveryRefused)); err != nil {
		return err
	}
	var name string
	if err := t.Gorm().Raw(`SELECT name FROM upstreams WHERE id = ?`, row.UpstreamID).Scan(&name).Error; err != nil {
		return fmt.Errorf("read who refused a decision: %w", err)
	}
	w := &models.Withdrawal{
		Kind: models.WithdrawalRefused, ByName: name, Status: end.Status, Said: end.Words, Lost: row.Lost,
	}
	if a.Status() != models.StatusPending {
		w.VoteID, w.ResponseID, w.At = row.VoteID, a.ID, t.Now
		return t.noteContradiction(a, refusalText(w))
	}
	return t.withdrawDecision(models.System("delivery"), a, "approval.refused", w)
}

// refusalText is a refusal in one sentence.
func refusalText(w *models.Withdrawal) string {
	text := fmt.Sprintf("%s refused the decision (%d)", w.ByName, w.Status)
	if w.Status == 0 {
		text = w.ByName + " can't take the decision"
	}
	if w.Said != "" {
		return text + " and said: “" + w.Said + "”"
	}
	return text + "."
}

// WithdrawDecision takes back the decision that holds an outside approval, whichever person gave it: an admin does so,
// with a reason, if the other system can't be reached. The request waits again; past its deadline it expires. It may
// run between attempts to send the decision, but not during one.
//
// Codes: forbidden, not_found, comment_required, invalid, conflict (nothing is held, or its undo window ends it); with
// the current row: already_decided, expired, being_decided.
func (s *Store) WithdrawDecision(
	ctx context.Context, actor models.Actor, id models.ResponseID, reason string,
) (*models.Approval, error) {
	if !actor.IsPerson() || !actor.Admin {
		return nil, models.Errorf(models.CodeForbidden, "Only an admin may undo another person's decision.")
	}
	if err := models.CheckText("reason", reason, models.MaxReason); err != nil {
		return nil, err
	}
	if strings.TrimSpace(reason) == "" {
		return nil, &models.Error{
			Code: models.CodeCommentRequired, Text: "Undoing another person's decision needs a reason.",
			Fields: map[string]string{"reason": "is required"},
		}
	}
	var out *models.Approval
	err := s.writeAnyway(ctx, func(t *Tx) error {
		a, err := t.Approval(actor, id)
		if err != nil {
			return err
		}
		out = a
		if a.HeldUntil == nil || a.Status() != models.StatusPending {
			if err := t.conflict(a); err != nil {
				return err
			}
		}
		if a.HeldUntil == nil || a.UpstreamID == nil {
			return &models.Error{
				Code: models.CodeConflict,
				Text: "No decision on this request is on its way to another system: there is nothing to undo.", Approval: a,
			}
		}
		row, err := t.openDelivery(a.ID)
		if err != nil {
			return err
		}
		if row.InFlight(t.Now) {
			return &models.Error{
				Code: models.CodeBeingDecided, Text: "The other system is being told right now. Try again in a moment.",
				Approval: a,
			}
		}
		w := &models.Withdrawal{
			Kind: models.WithdrawalByAdmin, ByName: actor.Name, Said: reason, Lost: row.Lost || row.InFlightAt != nil,
		}
		if err := t.deliveryDone(row, "withdrawn"); err != nil {
			return err
		}
		return t.withdrawDecision(actor, a, "approval.withdrawn", w)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (t *Tx) openDelivery(id models.ResponseID) (*models.Delivery, error) {
	var row models.Delivery
	if err := t.Gorm().Where("response_id = ? AND done_at IS NULL", id).Take(&row).Error; err != nil {
		return nil, fmt.Errorf("read delivery: %w", err)
	}
	return &row, nil
}

// withdrawDecision takes back the decision that holds a row, and has the request wait again
// or, past its deadline, expire: the decision was never delivered.
func (t *Tx) withdrawDecision(actor models.Actor, a *models.Approval, action string, w *models.Withdrawal) error {
	vote, err := t.heldVote(a.ID)
	if err != nil {
		return err
	}
	if vote == nil {
		return fmt.Errorf("undo the decision on %s: nothing is held", a.ID)
	}
	w.VoteID, w.ResponseID, w.At = vote.ID, a.ID, t.Now
	if err := t.Gorm().Create(w).Error; err != nil {
		return fmt.Errorf("keep why a decision was undone: %w", err)
	}
	if err := t.withdrawVotes(a.ID); err != nil {
		return err
	}
	t.Publish(events.Upstreams)
	expires := !t.Now.Before(a.ApprovalTimeoutAt)
	if !expires {
		if err := t.Changes("responses", a.ID); err != nil {
			return err
		}
		res := t.Gorm().Exec(unhold, a.ID)
		if res.Error != nil {
			return fmt.Errorf("undo a decision: %w", res.Error)
		}
		if !db.ExactlyOne(res.RowsAffected) {
			return fmt.Errorf("undo the decision on %s: nothing held it", a.ID)
		}
		a.HeldUntil = nil
	}
	readers, err := t.tellDeciders(a)
	if err != nil {
		return err
	}
	if err := t.Record(actor, action, ledger.SubjectOf(&a.Response, readers), settledEntry{
		Digest: a.Digest, Status: models.StatusPending, Verdict: vote.Verdict, Edited: vote.InputDigest,
		Reason: models.DigestOfText(w.Said), Vote: vote.ID,
	}); err != nil {
		return err
	}
	a.Vote = nil
	if expires {
		return t.expireUndelivered(a, "The decision could not be delivered, and the time to decide is over.")
	}
	t.deadlineStored(a.ApprovalTimeoutAt) // the expirer has not watched it while the decision held
	return t.wakeBySaid(voter(vote), a)
}

// expireUndelivered ends a request whose decision the other system never had.
func (t *Tx) expireUndelivered(a *models.Approval, text string) error {
	expired, when := models.StatusExpired, t.Now
	a.ApprovalStatus, a.ApprovalTimestamp, a.Cause, a.ApprovalFeedback = &expired, &when, models.CauseUndelivered, models.FeedbackOf(text)
	system := models.System("delivery")
	left, err := t.settleHeld(system, a)
	if err != nil {
		return err
	}
	return t.Record(system, "approval.expired", ledger.SubjectOf(&a.Response, left.readers), settledEntry{
		Digest: a.Digest, Status: expired, Cause: a.Cause, Reason: models.DigestOfText(text),
		Conversation: waitEnds(left.runs),
	})
}

// withdrawOutside withdraws the approvals that a stop finds on their way to another system. It
// counts them in the stop, and those that are being sent at this moment: the other system's
// answer decides about these.
func (s *Store) withdrawOutside(ctx context.Context, stop *models.Stop) error {
	for last := models.ResponseID(""); ; {
		var ids []models.ResponseID
		var withdrawn, inFlight int
		err := s.writeAnyway(ctx, func(t *Tx) error {
			withdrawn, inFlight = 0, 0
			if err := t.Gorm().Raw(heldOutside, last, stop.AgentID, stopAtOnce).Scan(&ids).Error; err != nil {
				return fmt.Errorf("read what is on its way: %w", err)
			}
			for _, id := range ids {
				row, err := t.openDelivery(id)
				if err != nil {
					return err
				}
				a, err := t.Request(id)
				if err != nil {
					return err
				}
				flies := row.InFlight(t.Now)
				switch barred, err := t.withdrawBarred(a, row); {
				case err != nil:
					return err
				case barred && flies:
					inFlight++
				case barred:
					withdrawn++
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		stop.Withdrawn += withdrawn
		stop.InFlight += inFlight
		if len(ids) < stopAtOnce {
			return nil
		}
		last = ids[len(ids)-1]
	}
}

// withdrawBarred withdraws a decision on its way to another system that may not take effect. One
// that is being sent is looked at again when that attempt is over, and not sent again. False: it
// may take effect, or holds nothing.
func (t *Tx) withdrawBarred(a *models.Approval, row *models.Delivery) (bool, error) {
	if a.Status() != models.StatusPending {
		return false, nil
	}
	vote, err := t.heldVote(a.ID)
	if vote == nil || err != nil {
		return false, err
	}
	why, err := t.releaseBarrier(a, vote)
	if why == nil || err != nil {
		return false, err
	}
	if row.InFlight(t.Now) {
		return true, t.DeliverAt(row, row.InFlightAt.Add(models.AttemptEnds))
	}
	w := &models.Withdrawal{
		Kind: models.WithdrawalByAdmin, ByName: why.byName, Said: why.text, Lost: row.Lost || row.InFlightAt != nil,
	}
	if err := t.deliveryDone(row, "withdrawn"); err != nil {
		return false, err
	}
	if why.short && !w.Lost { // the other system has not heard of it: the last signature waits with the others
		return true, t.reopen(models.System("release"), a, vote)
	}
	return true, t.withdrawDecision(models.System("release"), a, "approval.withdrawn", w)
}
