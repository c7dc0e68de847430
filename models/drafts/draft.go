package drafts

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/policy"
	"countersign/models/store"
)

// Draft is what the actor is writing; its Revision is 0 if nothing. Admins and policy editors only.
func (d *Drafts) Draft(ctx context.Context, actor models.Actor) (models.PolicyDraft, error) {
	if err := mayDraft(actor); err != nil {
		return models.PolicyDraft{}, err
	}
	return draftOf(d.db.Gorm(ctx), actor)
}

// mayDraft refuses all but people with an account: a draft is somebody's.
func mayDraft(actor models.Actor) error {
	if actor.UserID() == "" {
		return models.Errorf(models.CodeForbidden, "Only a person has a draft of the policy.")
	}
	return actor.NeedDrafting()
}

func draftMoved() error {
	return models.Errorf(models.CodeConflict, "Your draft was changed in another window in the meantime.")
}

func draftOf(g *gorm.DB, actor models.Actor) (models.PolicyDraft, error) {
	var d models.PolicyDraft
	err := g.Where("user_id = ?", actor.UserID()).Take(&d).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return models.PolicyDraft{}, nil
	}
	if err != nil {
		return models.PolicyDraft{}, fmt.Errorf("read the draft of the policy: %w", err)
	}
	return d, nil
}

// Keep stores what the admin has written so far, valid or not. base is the version
// that it began with, revision that of the draft that was changed (0: there was none); with
// another it is CodeConflict, and CodeInvalid if it is too large. Admins only.
func (d *Drafts) Keep(
	ctx context.Context, actor models.Actor, base, revision int64, document string,
) (models.PolicyDraft, error) {
	if len(document) > policy.MaxDocument {
		return models.PolicyDraft{}, models.Invalid("document", "is too large; at most %d KiB are allowed",
			policy.MaxDocument>>10)
	}
	return d.change(ctx, actor, revision, func(p *models.PolicyDraft) {
		p.Base, p.Document, p.PreviousBase, p.Previous = base, document, p.Base, p.Document
	})
}

// Undo goes back to what the draft was before it was last kept, and forth again.
// CodeConflict as for Keep; without anything to go back to it changes nothing.
func (d *Drafts) Undo(ctx context.Context, actor models.Actor, revision int64) (models.PolicyDraft, error) {
	return d.change(ctx, actor, revision, func(p *models.PolicyDraft) {
		if p.Previous != "" {
			p.Base, p.Document, p.PreviousBase, p.Previous = p.PreviousBase, p.Previous, p.Base, p.Document
		}
	})
}

func (d *Drafts) change(
	ctx context.Context, actor models.Actor, revision int64, change func(*models.PolicyDraft),
) (models.PolicyDraft, error) {
	if err := mayDraft(actor); err != nil {
		return models.PolicyDraft{}, err
	}
	var out models.PolicyDraft
	err := d.db.Write(ctx, func(t *db.Tx) error {
		var err error
		if out, err = draftOf(t.Gorm(), actor); err != nil {
			return err
		}
		if out.Revision != revision {
			return draftMoved()
		}
		change(&out)
		out.UserID, out.Revision, out.ChangedAt = actor.UserID(), revision+1, t.Now
		if revision == 0 {
			err = t.Gorm().Create(&out).Error
		} else {
			err = t.Gorm().Model(&out).Select("base", "revision", "document", "previous", "previous_base",
				"changed_at").Updates(&out).Error
		}
		if err != nil {
			return fmt.Errorf("keep the draft of the policy: %w", err)
		}
		return nil
	})
	if err != nil {
		return models.PolicyDraft{}, err
	}
	return out, nil
}

// Drop throws away what the admin is writing. Admins only.
func (d *Drafts) Drop(ctx context.Context, actor models.Actor) error {
	if err := mayDraft(actor); err != nil {
		return err
	}
	return d.db.Write(ctx, func(t *db.Tx) error { return drop(t, actor) })
}

func drop(t *db.Tx, actor models.Actor) error {
	if err := t.Gorm().Where("user_id = ?", actor.UserID()).Delete(&models.PolicyDraft{}).Error; err != nil {
		return fmt.Errorf("drop the draft of the policy: %w", err)
	}
	return nil
}

// Apply makes a new version of what the admin has written, as Store.ApplyPolicy does, and
// the draft is gone. CodeConflict: another version is active than the draft began with, or
// the draft has another revision. Admins only; CodeForbidden also where the policy wants several to agree.
func (d *Drafts) Apply(
	ctx context.Context, actor models.Actor, revision int64, note string,
) (store.PolicyVersion, error) {
	draft, err := d.Draft(ctx, actor)
	if err != nil {
		return store.PolicyVersion{}, err
	}
	also := func(t *db.Tx) error {
		now, err := draftOf(t.Gorm(), actor)
		if err != nil {
			return err
		}
		if draft.Revision == 0 || now.Revision != revision || draft.Revision != revision {
			return draftMoved()
		}
		return drop(t, actor)
	}
	return d.store.ApplyPolicyAnd(ctx, actor, store.PolicyChange{Document: []byte(draft.Document), Note: note, Base: draft.Base, Also: also})
}
