package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
)

const (
	nextRelease = `SELECT held_until FROM responses` + db.ByResponsesHeld + `
 WHERE approval_status = 'pending' AND held_until IS NOT NULL AND upstream_id IS NULL ORDER BY held_until LIMIT 1`
	releasable = `SELECT id FROM responses` + db.ByResponsesHeld + `
 WHERE approval_status = 'pending' AND held_until IS NOT NULL AND upstream_id IS NULL AND held_until <= ? ORDER BY held_until LIMIT ?`
)

// release makes the decision that holds a request its outcome. False: it is settled already, or
// the decision may not take effect and was withdrawn.
func (t *Tx) release(id models.ResponseID) (bool, error) {
	a, err := t.Request(id)
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
	case barrier != nil && barrier.short:
		return false, t.reopen(models.System("release"), a, vote)
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
	short  bool // not enough signatures count: the last one waits with the others
}

// releaseBarrier is the one function that decides whether a held decision may take effect: the agent is not stopped,
// the digest is that of the vote, and the voter may still vote; where several people sign, their signatures still
// suffice. Each way from held to settled calls it: the end of an
// undo window, and each attempt to send it to another system. Nil: it may. A rejection always may, for it lets nothing
// run.
func (t *Tx) releaseBarrier(a *models.Approval, vote *models.Vote) (*barrier, error) {
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
		return &barrier{
			byName: models.SystemAuthor, text: "Another input was approved than was sent, which the agent does not take.",
		}, nil
	}
	if a.QuorumJSON != "" && vote.Verdict == models.VerdictApprove {
		text, err := t.short(a, vote)
		if err != nil || text == "" {
			return nil, err
		}
		return &barrier{byName: models.SystemAuthor, text: text, short: !vote.BrokeGlass()}, nil
	}
	gone, err := t.lostGiver(a, vote)
	if err != nil {
		return nil, err
	}
	if gone != "" {
		return &barrier{
			byName: models.SystemAuthor, text: gone + " approved it and could decide no more before the decision was delivered.",
		}, nil
	}
	able, err := t.stillMayApprove(a, vote)
	if able || err != nil {
		return nil, err
	}
	return &barrier{
		byName: models.SystemAuthor,
		text:   vote.UserName + " approved it and was no longer allowed to when the decision was to be delivered.",
	}, nil
}

// stillMayApprove judges a held approval as the vote was judged, by the roles, groups and
// substitutes of now: its voter may approve in their own right, for whom they voted, or because
// somebody who may has signed the same edit.
func (t *Tx) stillMayApprove(a *models.Approval, vote *models.Vote) (bool, error) {
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

// lostGiver names a person who may decide no more, without whom an approval could not have been given: its voter, the person they
// voted for, or the second signer of an edit. Empty: there is none.
func (t *Tx) lostGiver(a *models.Approval, vote *models.Vote) (string, error) {
	for _, giver := range [...]struct {
		id   models.UserID
		name string
	}{{vote.UserID, vote.UserName}, {vote.BehalfOf, vote.BehalfName}} {
		if giver.id == "" {
			continue
		}
		if able, err := t.Enabled(giver.id); err != nil || !able {
			return giver.name, err
		}
	}
	if vote.InputDigest == nil || vote.BehalfOf != "" {
		return "", nil
	}
	if suffices, err := t.allows(a.Approvers(), a.OwnerID, vote.UserID); suffices || err != nil {
		return "", err
	}
	var signers []models.Vote
	if err := t.Gorm().Raw(signersOfEdit, a.ID, *vote.InputDigest, vote.UserID).Scan(&signers).Error; err != nil {
		return "", fmt.Errorf("read who signed an edit: %w", err)
	}
	gone := ""
	for i := range signers {
		able, err := t.Enabled(signers[i].UserID)
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
const heldOutside = `SELECT d.response_id FROM deliveries d` + db.ByDeliveriesDue +
	` CROSS JOIN responses r ON r.id = d.response_id
 WHERE d.done_at IS NULL AND d.response_id > ?1 AND (?2 = '' OR r.agent_id = ?2) AND r.approval_status = 'pending' ORDER BY d.response_id LIMIT ?3`

// NextRelease is when the next undo window ends; false when none is open. Those
// of outside approvals end with their delivery.
func (s *Store) NextRelease(ctx context.Context) (time.Time, bool, error) {
	var next time.Time
	err := s.db.Reads().QueryRowContext(context.WithoutCancel(ctx), nextRelease).Scan(&next)
	if errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, false, nil
	}
	if err != nil {
		return time.Time{}, false, fmt.Errorf("read next release: %w", err)
	}
	return next, true, nil
}

// ReleaseDue makes at most limit approvals whose window is over the outcome of
// their requests, the longest over first, and says how many. Each is decided by
// who gave it; approval_timestamp is the time of the release, since which it
// holds, and the vote's own time is when it was given.
func (s *Store) ReleaseDue(ctx context.Context, limit int) (int, error) {
	n := 0
	err := s.writeAnyway(ctx, func(t *Tx) error {
		n = 0
		var ids []models.ResponseID
		if err := t.Gorm().Raw(releasable, t.Now, limit).Scan(&ids).Error; err != nil {
			return fmt.Errorf("read what is to be released: %w", err)
		}
		for _, id := range ids {
			ok, err := t.release(id)
			if err != nil {
				return err
			}
			if ok {
				n++
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// released does what waited for the release of an approval.
func (t *Tx) released(actor models.Actor, a *models.Approval, vote *models.Vote) error {
	if vote.UndoUntil == nil {
		return nil
	}
	if err := t.releaseBudget(actor, a, vote); err != nil {
		return err
	}
	return t.wakeBySaid(actor, a)
}
