package store

import (
	"context"
	"fmt"

	"countersign/models"
	"countersign/models/db"
)

// release makes the decision that holds a request its outcome. False: it is settled already, or
// the decision may not take effect and was withdrawn.
func (t *tx) release(id models.ResponseID) (bool, error) {
	a, err := t.existing(id)
	if err != nil {
		return false, err
	}
	if a.Status() != models.StatusPending || a.HeldUntil == nil {
		return false, nil // another release, in the same batch, has settled it with its own
	}
	vote, err := t.heldVote(id)
	if err != nil {
		return false, err
	}
	if vote == nil {
		return false, fmt.Errorf("release %s: no decision is held", id)
	}
	barrier, err := t.releaseBarrier(a, vote)
	switch {
	case err != nil:
		return false, err
	case barrier != nil && barrier.stop != nil:
		return t.cancelFor(barrier.stop, models.System("stop"), id)
	case barrier != nil:
		return false, t.takeBack(models.System("release"), a, vote)
	}
	actor := voter(vote)
	if _, err := t.settleByVote(actor, a, vote); err != nil {
		return false, err
	}
	return true, t.released(actor, a, vote)
}

// barrier is why a held decision may not take effect any more.
type barrier struct {
	stop   *models.Stop // nil: another reason
	byName string       // who is to be named for it
	text   string
}

// releaseBarrier is the one place that says whether a held decision may take effect: the agent
// is not stopped, the digest is that of the vote, and whoever gave it may still give it. Each way from
// held to settled calls it: the end of an undo window, and each attempt to tell another system.
// Nil: it may. A rejection always may, for it lets nothing run.
func (t *tx) releaseBarrier(a *models.Approval, vote *models.Vote) (*barrier, error) {
	if vote.Verdict == models.VerdictReject {
		return nil, nil //nolint:nilnil // nothing is in its way
	}
	stop, err := t.stopOf(a.AgentID)
	if err != nil {
		return nil, err
	}
	if stop != nil {
		return &barrier{stop: stop, byName: stop.ByName, text: stop.Text()}, nil
	}
	if vote.Digest != a.Digest {
		return &barrier{byName: models.SystemAuthor, text: "What was approved is not what the request contains."}, nil
	}
	if _, edited := vote.ApprovedInput(); edited && !a.TakesEdits() {
		return &barrier{byName: models.SystemAuthor, text: "Another input was approved than was sent, which whoever asked does not take."}, nil
	}
	gone, err := t.disabledGiver(a, vote)
	if err != nil {
		return nil, err
	}
	if gone != "" {
		return &barrier{byName: models.SystemAuthor, text: gone + " approved it and was disabled before the decision was delivered."}, nil
	}
	able, err := t.stillMayApprove(a, vote)
	if able || err != nil {
		return nil, err
	}
	return &barrier{byName: models.SystemAuthor, text: vote.UserName + " approved it and was no longer allowed to when the decision was to be delivered."}, nil
}

// stillMayApprove judges a held approval as the vote was judged, by the roles, groups and
// substitutes of now: its voter may approve in their own right, for whom they voted, or because
// somebody who may has signed the same edit.
func (t *tx) stillMayApprove(a *models.Approval, vote *models.Vote) (bool, error) {
	c, err := t.rightsReader()
	if err != nil {
		return false, err
	}
	voter, err := c.relation(vote.UserID, &a.Response)
	if err != nil {
		return false, err
	}
	if able, err := c.mayApprove(voter, &a.Response); able || err != nil {
		return able, err
	}
	if vote.BehalfOf != "" {
		return c.actsFor(voter, vote.BehalfOf, &a.Response)
	}
	if vote.InputDigest == nil {
		return false, nil
	}
	return t.signedBefore(c, a, vote)
}

// disabledGiver names who was disabled of those without whom an approval could not have been
// given: its voter, for whom they voted, and who else had to sign an edit. Empty: nobody.
func (t *tx) disabledGiver(a *models.Approval, vote *models.Vote) (string, error) {
	for _, giver := range [...]struct {
		id   models.UserID
		name string
	}{{vote.UserID, vote.UserName}, {vote.BehalfOf, vote.BehalfName}} {
		if giver.id == "" {
			continue
		}
		if able, err := t.enabled(giver.id); err != nil || !able {
			return giver.name, err
		}
	}
	if vote.InputDigest == nil || vote.BehalfOf != "" {
		return "", nil
	}
	if alone, err := t.allows(a.Approvers(), a.OwnerID, vote.UserID); alone || err != nil {
		return "", err
	}
	var signers []models.Vote
	if err := t.Gorm().Raw(signersOfEdit, a.ID, *vote.InputDigest, vote.UserID).Scan(&signers).Error; err != nil {
		return "", fmt.Errorf("read who signed an edit: %w", err)
	}
	gone := ""
	for i := range signers {
		able, err := t.enabled(signers[i].UserID)
		if able || err != nil {
			return "", err // one of them is enough
		}
		gone = signers[i].UserName
	}
	return gone, nil
}

// signersOfEdit are those beside its voter who signed the same edit, see proposeEdit.
const signersOfEdit = `SELECT * FROM votes WHERE response_id = ? AND input_digest = ? AND user_id <> ? AND withdrawn_at IS NULL AND waits_for <> '' ORDER BY at, id`

// heldOutside asks for the decisions that are on their way to other systems, behind an id, of
// one agent or, with an empty id, of all.
const heldOutside = `SELECT d.response_id FROM deliveries d` + db.ByDeliveriesDue + ` CROSS JOIN responses r ON r.id = d.response_id
 WHERE d.done_at IS NULL AND d.response_id > ?1 AND (?2 = '' OR r.agent_id = ?2) AND r.approval_status = 'pending' ORDER BY d.response_id LIMIT ?3`

// withdrawOutside withdraws the approvals that a stop finds on their way to another system. It
// counts them in the stop, and those that are being sent at this moment: the other system's
// answer decides about these.
func (s *Store) withdrawOutside(ctx context.Context, stop *models.Stop) error {
	for last := models.ResponseID(""); ; {
		var ids []models.ResponseID
		var withdrawn, sending int
		err := s.writeAnyway(ctx, func(t *tx) error {
			withdrawn, sending = 0, 0
			if err := t.Gorm().Raw(heldOutside, last, stop.AgentID, stopAtOnce).Scan(&ids).Error; err != nil {
				return fmt.Errorf("read what is on its way: %w", err)
			}
			for _, id := range ids {
				row, err := t.openDelivery(id)
				if err != nil {
					return err
				}
				a, err := t.existing(id)
				if err != nil {
					return err
				}
				flies := row.InFlight(t.Now)
				switch barred, err := t.withdrawBarred(a, row); {
				case err != nil:
					return err
				case barred && flies:
					sending++
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
		stop.InFlight += sending
		if len(ids) < stopAtOnce {
			return nil
		}
		last = ids[len(ids)-1]
	}
}

// withdrawBarred withdraws a decision on its way to another system that may not take effect. One
// that is being sent is looked at again when that attempt is over, and not sent again. False: it
// may take effect, or holds nothing.
func (t *tx) withdrawBarred(a *models.Approval, row *models.Delivery) (bool, error) {
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
		return true, t.deliverAt(row, row.InFlightAt.Add(models.AttemptEnds))
	}
	w := &models.Withdrawal{Kind: models.WithdrawalByAdmin, ByName: why.byName, Said: why.text, Lost: row.Lost || row.InFlightAt != nil}
	if err := t.deliveryDone(row, "withdrawn"); err != nil {
		return false, err
	}
	return true, t.withdrawDecision(models.System("release"), a, "approval.withdrawn", w)
}
