package drafts

import (
	"context"
	"fmt"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
	"countersign/models/store"
)

const (
	theProposal = `SELECT * FROM policy_proposals WHERE id = 1`
	// dropSaved drops the draft that was saved, unless more was written since it was proposed.
	dropSaved = `DELETE FROM policy_drafts WHERE user_id = ? AND changed_at <= ?`
)

// Proposal is the change of the policy that waits for admins to agree, or else the last one that did; nil: there was
// none. For those who see the whole policy, else CodeForbidden.
func (d *Drafts) Proposal(ctx context.Context, actor models.Actor) (*models.PolicyProposal, error) {
	if err := actor.NeedPolicy(); err != nil {
		return nil, err
	}
	var found []models.PolicyProposal
	if err := d.db.Gorm(ctx).Raw(theProposal).Scan(&found).Error; err != nil {
		return nil, fmt.Errorf("read the proposed policy: %w", err)
	}
	if len(found) == 0 {
		return nil, nil //nolint:nilnil // there was none
	}
	return &found[0], nil
}

// Propose has the actor's draft wait for admins to agree to it, and tells them. One who is an admin has agreed by that.
// The draft stays as it is.
//
// Codes: forbidden; conflict: the draft has another revision or began with another version, or another proposal waits;
// invalid names the members of the document that are wrong, or the note.
func (d *Drafts) Propose(ctx context.Context, actor models.Actor, revision int64, note string) error {
	draft, err := d.Draft(ctx, actor)
	if err != nil {
		return err
	}
	if err := models.CheckText("note", note, models.MaxReason); err != nil {
		return err
	}
	doc, err := d.store.CheckPolicy(ctx, []byte(draft.Document))
	if err != nil {
		return err
	}
	text, err := doc.Marshal()
	if err != nil {
		return fmt.Errorf("write the proposed policy: %w", err)
	}
	return d.store.Write(ctx, func(t *store.Tx) error {
		now, err := draftOf(t.Gorm(), actor)
		if err != nil {
			return err
		}
		if draft.Revision == 0 || now.Revision != revision || draft.Revision != revision {
			return draftMoved()
		}
		version, _, err := t.Policy()
		if err != nil {
			return err
		}
		if draft.Base != version {
			return models.Errorf(models.CodeConflict, "The policy was changed in the meantime: version %d is active.", version)
		}
		before, err := proposalIn(t.Tx)
		if err != nil {
			return err
		}
		if before.Waits() {
			return models.Errorf(models.CodeConflict, "%s has proposed a change already: it must be saved, rejected or cancelled first.", before.ByName)
		}
		p := &models.PolicyProposal{
			ID: 1, Document: string(text), Digest: models.Digest(text), Note: note, Base: version, ByID: actor.UserID(),
			ByName: actor.Name, At: t.Now,
		}
		if actor.MayAdminister() {
			p.SignedJSON = models.PolicySigned{Admins: []models.PersonRef{refOf(actor)}}.JSON()
		}
		if err := store.TellAdmins(t, models.NoticePolicyProposed, models.ChannelID(p.Digest), actor.UserID()); err != nil {
			return err
		}
		return d.keep(t, actor, "policy.proposed", p, note)
	})
}

// Confirm agrees to the proposal with a digest, which is that of the document that the actor looked at. With the last
// admin whose word it takes the policy is changed: then version is the new one, else 0. A repeat changes nothing.
//
// Codes: forbidden (admins only); conflict: another proposal waits or none, or the policy was changed meanwhile; invalid
// as for Store.ApplyPolicy.
func (d *Drafts) Confirm(ctx context.Context, actor models.Actor, digest string) (version int64, err error) {
	p, err := d.toSign(ctx, actor, digest)
	if err != nil || p.SignedBy(actor.UserID()) {
		return 0, err
	}
	active, err := d.store.CurrentPolicy(ctx)
	if err != nil {
		return 0, err
	}
	signed := models.PolicySigned{Admins: append(p.Signed(), refOf(actor))}
	if len(signed.Admins) >= active.Program.Document().SavedBy() {
		version, err := d.save(ctx, actor, p, signed)
		if models.ErrorCode(err) != models.CodeForbidden {
			return version, err
		} // one who has agreed is no admin any more: this word waits for another
	}
	return 0, d.changeProposal(ctx, p, func(t *store.Tx, now *models.PolicyProposal) error {
		now.SignedJSON = signed.JSON()
		return d.keep(t, actor, "policy.confirmed", now, "")
	})
}

// BeginAlone begins the time after which the actor may save a proposal without the other admins, who are told at once; a
// repeat changes nothing. It takes a reason of at least models.MinGlassReason letters.
//
// Codes: as for Confirm; invalid names "reason"; conflict: one admin may save it anyway, or another
// waits already.
func (d *Drafts) BeginAlone(ctx context.Context, actor models.Actor, digest, reason string) error {
	p, err := d.toSign(ctx, actor, digest)
	if err != nil {
		return err
	}
	if err := models.CheckText("reason", reason, models.MaxReason); err != nil {
		return err
	}
	if models.Letters(reason) < models.MinGlassReason {
		return models.Invalid("reason", "must have at least %d letters: why can't it wait for the others?", models.MinGlassReason)
	}
	switch {
	case p.AloneAt != nil && p.AloneBy == actor.UserID():
		return nil
	case p.AloneAt != nil:
		return models.Errorf(models.CodeConflict, "%s waits already to save it alone: confirm or reject it.", p.AloneName)
	}
	return d.changeProposal(ctx, p, func(t *store.Tx, now *models.PolicyProposal) error {
		_, standing, err := t.Policy()
		if err != nil {
			return err
		}
		if standing.Document().SavedBy() < 2 {
			return models.Errorf(models.CodeConflict, "One admin's word is enough here: confirm the proposal.")
		}
		at := t.Now
		now.AloneAt, now.AloneBy, now.AloneName, now.AloneReason = &at, actor.UserID(), actor.Name, reason
		if err := store.TellAdmins(t, models.NoticePolicyAlone, models.ChannelID(now.Digest), actor.UserID()); err != nil {
			return err
		}
		return d.keep(t, actor, "policy.alone_begun", now, reason)
	})
}

// SaveAlone saves a proposal by the word of one admin, after the time that BeginAlone began.
//
// Codes: as for Confirm; conflict also before that time is over.
func (d *Drafts) SaveAlone(ctx context.Context, actor models.Actor, digest string) (version int64, err error) {
	p, err := d.toSign(ctx, actor, digest)
	if err != nil {
		return 0, err
	}
	active, err := d.store.CurrentPolicy(ctx)
	if err != nil {
		return 0, err
	}
	if p.AloneAt == nil || p.AloneBy != actor.UserID() || d.db.Now().Before(p.AloneFrom(active.Program.Document().AloneAfter())) {
		return 0, models.Errorf(models.CodeConflict, "The time is not over in which the other admins can look at it.")
	}
	signed := models.PolicySigned{Admins: p.Signed(), Alone: p.AloneReason}
	if !p.SignedBy(actor.UserID()) {
		signed.Admins = append(signed.Admins, refOf(actor))
	}
	return d.save(ctx, actor, p, signed)
}

// Reject ends a proposal: by an admin with a reason, or by the person who proposed it, who takes it back. Nothing is saved.
//
// Codes: forbidden; conflict as for Confirm; invalid names "reason".
func (d *Drafts) Reject(ctx context.Context, actor models.Actor, digest, reason string) error {
	p, err := d.waits(ctx, actor, digest)
	if err != nil {
		return err
	}
	outcome := models.ProposalTakenBack
	if actor.UserID() != p.ByID {
		outcome = models.ProposalRejected
		if err := actor.NeedAdmin(); err != nil {
			return err
		}
		if err := models.CheckText("reason", reason, models.MaxReason); err != nil {
			return err
		}
		if reason == "" {
			return models.Invalid("reason", "must say why, for the person who proposed it")
		}
	}
	return d.changeProposal(ctx, p, func(t *store.Tx, now *models.PolicyProposal) error {
		at := t.Now
		now.Outcome, now.EndedName, now.EndedAt, now.EndedText = outcome, actor.Name, &at, reason
		return d.keep(t, actor, "policy.proposal_ended", now, reason)
	})
}

// save makes the proposal a version, if it still is as it was read.
func (d *Drafts) save(ctx context.Context, actor models.Actor, p *models.PolicyProposal, signed models.PolicySigned) (int64, error) {
	saved, err := d.store.ApplyPolicyAnd(ctx, actor, store.PolicyChange{
		Document: []byte(p.Document), Note: p.Note, Base: p.Base, Signed: signed,
		Author: models.PersonRef{ID: p.ByID, Name: p.ByName},
		Also: func(share *db.Tx) error {
			now, err := sameProposal(share, p)
			if err != nil {
				return err
			}
			at := share.Now
			now.Outcome, now.EndedName, now.EndedAt, now.SignedJSON = models.ProposalSaved, actor.Name, &at, signed.JSON()
			if err := d.store.Ledger.Changes(share, "policy_proposals", now.ID); err != nil {
				return err
			}
			if err := changeRow(share, now); err != nil {
				return err
			}
			if err := share.Gorm().Exec(dropSaved, p.ByID, p.At).Error; err != nil {
				return fmt.Errorf("drop the draft that was saved: %w", err)
			}
			return nil
		},
	})
	return saved.Version, err
}

// toSign is the proposal with a digest, for an admin.
func (d *Drafts) toSign(ctx context.Context, actor models.Actor, digest string) (*models.PolicyProposal, error) {
	if err := actor.NeedAdmin(); err != nil {
		return nil, err
	}
	if actor.UserID() == "" {
		return nil, models.Errorf(models.CodeForbidden, "Only people agree to a change of the policy.")
	}
	return d.waits(ctx, actor, digest)
}

// waits is the proposal with a digest, if that is the one that waits.
func (d *Drafts) waits(ctx context.Context, actor models.Actor, digest string) (*models.PolicyProposal, error) {
	p, err := d.Proposal(ctx, actor)
	if err != nil {
		return nil, err
	}
	if !p.Waits() || p.Digest != digest {
		return nil, proposalMoved()
	}
	return p, nil
}

func proposalMoved() error {
	return models.Errorf(models.CodeConflict, "That proposal is over, or another one waits now. Look at the policy again.")
}

// proposalIn is the one row; with no digest if there is none.
func proposalIn(t *db.Tx) (*models.PolicyProposal, error) {
	var p models.PolicyProposal
	if err := t.Gorm().Raw(theProposal).Scan(&p).Error; err != nil {
		return nil, fmt.Errorf("read the proposed policy: %w", err)
	}
	return &p, nil
}

// sameProposal is the row, if it is as it was read before.
func sameProposal(t *db.Tx, was *models.PolicyProposal) (*models.PolicyProposal, error) {
	now, err := proposalIn(t)
	if err != nil {
		return nil, err
	}
	if !now.Waits() || now.Digest != was.Digest || now.SignedJSON != was.SignedJSON || now.AloneBy != was.AloneBy {
		return nil, proposalMoved()
	}
	return now, nil
}

// changeProposal changes the proposal, if it still is as it was read.
func (d *Drafts) changeProposal(ctx context.Context, was *models.PolicyProposal, change func(*store.Tx, *models.PolicyProposal) error) error {
	return d.store.Write(ctx, func(t *store.Tx) error {
		now, err := sameProposal(t.Tx, was)
		if err != nil {
			return err
		}
		return change(t, now)
	})
}

// proposalEntry is what the ledger says of a proposal.
type proposalEntry struct {
	Digest string `json:"digest"`
	Base   int64  `json:"base"`
	Note   string `json:"note_digest,omitzero"` // of the note, or the reason

	Outcome models.ProposalOutcome `json:"outcome,omitzero"`
}

// keep stores the proposal with its entry.
func (d *Drafts) keep(t *store.Tx, actor models.Actor, action string, p *models.PolicyProposal, said string) error {
	if err := t.Changes("policy_proposals", p.ID); err != nil {
		return err
	}
	var err error
	if action == "policy.proposed" {
		err = replaceRow(t.Tx, p)
	} else {
		err = changeRow(t.Tx, p)
	}
	if err != nil {
		return err
	}
	t.Publish(events.Policy)
	return t.Record(actor, action, ledger.Subject{}, proposalEntry{
		Digest: p.Digest, Base: p.Base, Note: models.DigestOfText(said), Outcome: p.Outcome,
	})
}

// replaceRow puts a proposal in the place of the one before, which is over.
func replaceRow(t *db.Tx, p *models.PolicyProposal) error {
	if err := t.Gorm().Where("id = 1 AND outcome <> ''").Delete(&models.PolicyProposal{}).Error; err != nil {
		return fmt.Errorf("replace the proposed policy: %w", err)
	}
	if err := t.Gorm().Create(p).Error; err != nil {
		return fmt.Errorf("propose a policy: %w", err)
	}
	return nil
}

// changeRow stores who has agreed, who waits to save it alone, and how it ended.
func changeRow(t *db.Tx, p *models.PolicyProposal) error {
	res := t.Gorm().Model(&models.PolicyProposal{}).Where("id = 1 AND outcome = '' AND digest = ?", p.Digest).
		Select("signed", "alone_at", "alone_by", "alone_name", "alone_reason", "outcome", "ended_name", "ended_at", "ended_text").
		Updates(p)
	if res.Error != nil {
		return fmt.Errorf("keep the proposed policy: %w", res.Error)
	}
	if !db.ExactlyOne(res.RowsAffected) {
		return proposalMoved()
	}
	return nil
}

func refOf(actor models.Actor) models.PersonRef {
	return models.PersonRef{ID: actor.UserID(), Name: actor.Name}
}
