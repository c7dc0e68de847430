package store

import (
	"context"
	"errors"
	"fmt"

	"gorm.io/gorm"

	"countersign/models"
	"countersign/models/policy"
)

// PolicyDraft is what the admin is writing; its Revision is 0 if nothing. Admins only.
func (s *Store) PolicyDraft(ctx context.Context, actor models.Actor) (models.PolicyDraft, error) {
	if err := mayDraft(actor); err != nil {
		return models.PolicyDraft{}, err
	}
	return draftOf(s.db.Gorm(ctx), actor)
}

// mayDraft refuses whoever is no person with an account: a draft is somebody's.
func mayDraft(actor models.Actor) error {
	if !actor.MayAdminister() || actor.UserID() == "" {
		return models.AdminsOnly()
	}
	return nil
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

// KeepDraft stores what the admin has written so far, valid or not. base is the version
// that it began with, revision that of the draft that was changed (0: there was none); with
// another it is CodeConflict, and CodeInvalid if it is too large. Admins only.
func (s *Store) KeepDraft(ctx context.Context, actor models.Actor, base, revision int64, document string) (models.PolicyDraft, error) {
	if len(document) > policy.MaxDocument {
		return models.PolicyDraft{}, models.Invalid("document", "is too large; at most %d KiB are allowed", policy.MaxDocument>>10)
	}
	return s.changeDraft(ctx, actor, revision, func(d *models.PolicyDraft) {
		d.Base, d.Document, d.PreviousBase, d.Previous = base, document, d.Base, d.Document
	})
}

// UndoDraft goes back to what the draft was before it was last kept, and forth again.
// CodeConflict as for KeepDraft; without anything to go back to it changes nothing.
func (s *Store) UndoDraft(ctx context.Context, actor models.Actor, revision int64) (models.PolicyDraft, error) {
	return s.changeDraft(ctx, actor, revision, func(d *models.PolicyDraft) {
		if d.Previous != "" {
			d.Base, d.Document, d.PreviousBase, d.Previous = d.PreviousBase, d.Previous, d.Base, d.Document
		}
	})
}

func (s *Store) changeDraft(ctx context.Context, actor models.Actor, revision int64, change func(*models.PolicyDraft)) (models.PolicyDraft, error) {
	if err := mayDraft(actor); err != nil {
		return models.PolicyDraft{}, err
	}
	var d models.PolicyDraft
	err := s.write(ctx, func(t *tx) error {
		var err error
		if d, err = draftOf(t.Gorm(), actor); err != nil {
			return err
		}
		if d.Revision != revision {
			return draftMoved()
		}
		change(&d)
		d.UserID, d.Revision, d.ChangedAt = actor.UserID(), revision+1, t.Now
		if revision == 0 {
			err = t.Gorm().Create(&d).Error
		} else {
			err = t.Gorm().Model(&d).Select("base", "revision", "document", "previous", "previous_base", "changed_at").Updates(&d).Error
		}
		if err != nil {
			return fmt.Errorf("keep the draft of the policy: %w", err)
		}
		return nil
	})
	if err != nil {
		return models.PolicyDraft{}, err
	}
	return d, nil
}

// DropDraft throws away what the admin is writing. Admins only.
func (s *Store) DropDraft(ctx context.Context, actor models.Actor) error {
	if err := mayDraft(actor); err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error { return t.dropDraft(actor) })
}

func (t *tx) dropDraft(actor models.Actor) error {
	if err := t.Gorm().Where("user_id = ?", actor.UserID()).Delete(&models.PolicyDraft{}).Error; err != nil {
		return fmt.Errorf("drop the draft of the policy: %w", err)
	}
	return nil
}

// ApplyDraft makes a new version of what the admin has written, as ApplyPolicy does, and
// the draft is gone. CodeConflict: another version stands than the draft began with, or
// the draft has another revision. Admins only.
func (s *Store) ApplyDraft(ctx context.Context, actor models.Actor, revision int64, note string) (PolicyVersion, error) {
	d, err := s.PolicyDraft(ctx, actor)
	if err != nil {
		return PolicyVersion{}, err
	}
	return s.applyPolicy(ctx, actor, []byte(d.Document), note, d.Base, func(t *tx) error {
		now, err := draftOf(t.Gorm(), actor)
		if err != nil {
			return err
		}
		if d.Revision == 0 || now.Revision != revision || d.Revision != revision {
			return draftMoved()
		}
		return t.dropDraft(actor)
	})
}
