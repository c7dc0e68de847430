package store

import (
	"context"
	"fmt"
	"slices"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
	"countersign/models/people"
)

var (
	handOverOf   = `SELECT * FROM handovers WHERE response_id = ? AND from_user = ? AND to_user = ? AND taken_back_at IS NULL`
	handOverBy   = `SELECT * FROM handovers WHERE id = ? AND from_user = ?`
	takeOverBack = `UPDATE handovers SET taken_back_at = ? WHERE id = ? AND taken_back_at IS NULL`
	handOversOf  = `SELECT h.*, f.name AS from_name, u.name AS to_name FROM handovers h JOIN users f ON f.id = h.from_user JOIN users u ON u.id = h.to_user
 WHERE h.response_id = ? AND h.taken_back_at IS NULL ORDER BY h.at, h.id`
	handOverTargets = `SELECT id FROM users WHERE ` + people.MayDecide(`users`) + ` AND id <> ?1
 AND (role = 'admin' OR id = ?2 OR id IN (SELECT v.user_id FROM reviewers v WHERE v.response_id = ?3 AND NOT v.for_others)
 OR id IN (SELECT s.substitute_id FROM substitutes s WHERE s.user_id = ?1 AND s.removed_at IS NULL AND s.accepted_at IS NOT NULL)) ORDER BY name, id`
)

// HandOver gives a pending request to another person as well, with a note: both have it then. The actor must be able
// to approve it in their own right. The other must be too, or be accepted by an admin as their substitute, if the rule
// lets substitutes act. Handing it to the same person again changes nothing, and returns the existing hand-over.
//
// Codes: forbidden (people only), not_found, not_a_reviewer, invalid (to, note); with the current row:
// already_decided, expired, being_decided.
func (s *Store) HandOver(
	ctx context.Context, actor models.Actor, id models.ResponseID, to models.UserID, note string,
) (*models.HandOver, error) {
	if !actor.IsPerson() {
		return nil, models.Errorf(models.CodeForbidden, "Only a person may hand a request over.")
	}
	if err := models.CheckText("note", note, models.MaxHandOverNote); err != nil {
		return nil, err
	}
	var out *models.HandOver
	err := s.write(ctx, func(t *Tx) error {
		a, err := t.Approval(actor, id)
		if err != nil {
			return err
		}
		if err := t.conflict(a); err != nil {
			return err
		}
		if err := t.mayHandOver(actor, a, to); err != nil {
			return err
		}
		var there []models.HandOver
		if err := t.Gorm().Raw(handOverOf, id, actor.UserID(), to).Scan(&there).Error; err != nil {
			return fmt.Errorf("read hand-over: %w", err)
		}
		if len(there) > 0 {
			out = &there[0]
			return nil
		}
		out = &models.HandOver{
			ID: models.NewID[models.HandOverID](), ResponseID: id, FromUser: actor.UserID(), ToUser: to, Note: note, At: t.Now,
		}
		return t.handOver(actor, a, out)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// mayHandOver refuses an actor who may not hand the request over, and a person who can't receive it.
func (t *Tx) mayHandOver(actor models.Actor, a *models.Approval, to models.UserID) error {
	c, err := t.rightsReader()
	if err != nil {
		return err
	}
	from, err := c.relation(actor.UserID(), &a.Response)
	if err != nil {
		return err
	}
	if may, err := c.mayApprove(from, &a.Response); err != nil {
		return err
	} else if !may {
		return notAReviewer(a.Approvers(),
			"You can't hand this request over, because you can't approve it in your own right. ")
	}
	may := false
	if to != actor.UserID() {
		if may, err = c.takes(to, actor.UserID(), &a.Response); err != nil {
			return err
		}
	}
	switch {
	case may:
		return nil
	case a.NoSubstitutes:
		return models.Invalid("to", "must be somebody who may approve this request: its rule lets nobody act for others")
	}
	return models.Invalid("to",
		"must be somebody who may approve this request, or whom an admin has accepted as your substitute, and who doesn't own the agent or the conversation")
}

// takes reports whether a request can be handed to somebody by somebody else.
func (c rightsReader) takes(to, from models.UserID, r *models.Response) (bool, error) {
	sub, err := c.relation(to, r)
	if err != nil {
		return false, err
	}
	if may, err := c.mayApprove(sub, r); err != nil || may {
		return may, err
	}
	return c.actsFor(sub, from, r)
}

func (t *Tx) handOver(actor models.Actor, a *models.Approval, h *models.HandOver) error {
	if err := t.Gorm().Create(h).Error; err != nil {
		return fmt.Errorf("store hand-over: %w", err)
	}
	t.Adds("handovers", h.ID)
	readers, err := t.tellDeciders(a)
	if err != nil {
		return err
	}
	if err := t.Record(actor, "approval.handed_over", ledger.SubjectOf(&a.Response, readers), handOverEntry{
		Digest: a.Digest, HandOver: h.ID, To: h.ToUser, Note: models.DigestOfText(h.Note),
	}); err != nil {
		return err
	}
	if w, err := t.recipients(); err != nil {
		return err
	} else if err := t.awaitsFor(w, &a.Response, models.RecipientID(h.ToUser)); err != nil {
		return err
	}
	return t.reroute(actor, a)
}

// handOverEntry is what the ledger says of a request that was handed over, or taken back.
type handOverEntry struct {
	Digest   string            `json:"digest"`
	HandOver models.HandOverID `json:"handover"`
	To       models.UserID     `json:"to"`
	Note     string            `json:"handover_note_digest,omitempty"`
}

// TakeBackHandOver ends a hand-over of a pending request, by the person who made it. A second call changes nothing.
//
// Codes: forbidden (people only), not_found; with the current row: already_decided, expired, being_decided.
func (s *Store) TakeBackHandOver(ctx context.Context, actor models.Actor, id models.HandOverID) error {
	if !actor.IsPerson() {
		return models.Errorf(models.CodeForbidden, "Only a person may take back what they handed over.")
	}
	return s.write(ctx, func(t *Tx) error {
		var found []models.HandOver
		if err := t.Gorm().Raw(handOverBy, id, actor.UserID()).Scan(&found).Error; err != nil {
			return fmt.Errorf("read hand-over: %w", err)
		}
		if len(found) == 0 {
			return models.NotFound("hand-over")
		}
		h := &found[0]
		a, err := t.Request(h.ResponseID)
		if err != nil || h.TakenBackAt != nil {
			return err
		}
		if err := t.conflict(a); err != nil {
			return err
		}
		return t.takeOverBack(actor, a, h)
	})
}

func (t *Tx) takeOverBack(actor models.Actor, a *models.Approval, h *models.HandOver) error {
	if err := t.Changes("handovers", h.ID); err != nil {
		return err
	}
	res := t.Gorm().Exec(takeOverBack, t.Now, h.ID)
	if res.Error != nil {
		return fmt.Errorf("take back hand-over: %w", res.Error)
	}
	if !db.ExactlyOne(res.RowsAffected) {
		return fmt.Errorf("take back hand-over %s: it was before", h.ID)
	}
	readers, err := t.tellDeciders(a)
	if err != nil {
		return err
	}
	if err := t.Record(actor, "approval.hand_over_taken_back", ledger.SubjectOf(&a.Response, readers),
		handOverEntry{Digest: a.Digest, HandOver: h.ID, To: h.ToUser}); err != nil {
		return err
	}
	return t.rerouteOne(actor, a)
}

// MayHandOverTo lists the people to whom the actor may hand a pending request over, by name; none if the actor may not
// hand it over.
//
// Codes: forbidden (people only), not_found.
func (s *Store) MayHandOverTo(
	ctx context.Context, actor models.Actor, id models.ResponseID,
) ([]models.PersonRef, error) {
	if !actor.IsPerson() {
		return nil, models.Errorf(models.CodeForbidden, "Only a person may hand a request over.")
	}
	a, err := s.Requests.Approval(ctx, actor, id)
	if err != nil || a.Status() != models.StatusPending || a.HeldUntil != nil {
		return nil, err
	}
	var out []models.PersonRef
	err = s.db.Snapshot(ctx, func(ctx context.Context) error {
		c, err := s.rightsReader(ctx)
		if err != nil {
			return err
		}
		from, err := c.relation(actor.UserID(), &a.Response)
		if err != nil {
			return err
		}
		if may, err := c.mayApprove(from, &a.Response); err != nil || !may {
			return err
		}
		var ids []models.UserID
		if err := c.q.Raw(handOverTargets, actor.UserID(), a.OwnerID, id).Scan(&ids).Error; err != nil {
			return fmt.Errorf("read people: %w", err)
		}
		if err := c.gather([]*models.Approval{a}, append(ids, actor.UserID())...); err != nil {
			return err
		}
		for _, to := range ids {
			if may, err := c.takes(to, actor.UserID(), &a.Response); err != nil {
				return err
			} else if !may {
				continue
			}
			p, err := c.relation(to, &a.Response)
			if err != nil {
				return err
			}
			out = append(out, p.PersonRef)
		}
		return nil
	})
	return slices.Clip(out), err
}
