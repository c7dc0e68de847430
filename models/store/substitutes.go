package store

import (
	"context"
	"fmt"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
)

const (
	substituteOf = `SELECT * FROM substitutes WHERE user_id = ? AND substitute_id = ? AND removed_at IS NULL`
	substituteBy = `SELECT * FROM substitutes WHERE id = ? AND removed_at IS NULL`
	// substitutesOf are those of one person (?1), and for whom they are one; all where ?1 is
	// empty.
	substitutesOf = `SELECT s.*, u.name AS user_name, u.email AS user_email, x.name AS substitute_name, x.email AS substitute_email FROM substitutes s JOIN users u ON u.id = s.user_id JOIN users x ON x.id = s.substitute_id
 WHERE s.removed_at IS NULL AND (?1 = '' OR ?1 IN (s.user_id, s.substitute_id)) ORDER BY u.name, x.name, s.id`
	acceptSubstitute = `UPDATE substitutes SET accepted_at = ?, accepted_by = ? WHERE id = ? AND removed_at IS NULL AND accepted_at IS NULL`
	removeSubstitute = `UPDATE substitutes SET removed_at = ? WHERE id = ? AND removed_at IS NULL`
)

// substituteEntry is what the ledger says of a substitute.
type substituteEntry struct {
	ID         models.SubstituteID `json:"substitute"`
	User       models.UserID       `json:"userId"`
	Substitute models.UserID       `json:"substitute_id"`
}

// AskSubstitute names somebody who is to act for a person once an admin has accepted it. The
// person does it themselves, or an admin. Who was named before stays so.
//
// Codes: forbidden, invalid (substitute), not_found.
func (s *Store) AskSubstitute(
	ctx context.Context, actor models.Actor, user, substitute models.UserID,
) (*models.Substitute, error) {
	if err := needsThemselves(actor, user); err != nil {
		return nil, err
	}
	var out *models.Substitute
	err := s.write(ctx, func(t *Tx) error {
		if there, err := t.personIs(user); err != nil || !there {
			return orNotFound(err, "user")
		}
		if there, err := t.Enabled(substitute); err != nil {
			return err
		} else if !there || substitute == user {
			return models.Invalid("substitute", "must be another person who may sign in")
		}
		var found []models.Substitute
		if err := t.Gorm().Raw(substituteOf, user, substitute).Scan(&found).Error; err != nil {
			return fmt.Errorf("read substitute: %w", err)
		}
		if len(found) > 0 {
			out = &found[0]
			return nil
		}
		out = &models.Substitute{
			ID: models.NewID[models.SubstituteID](), UserID: user, SubstituteID: substitute, AskedAt: t.Now,
			AskedBy: actor.UserID(),
		}
		if err := t.Gorm().Create(out).Error; err != nil {
			return fmt.Errorf("store substitute: %w", err)
		}
		t.Adds("substitutes", out.ID)
		return t.Record(actor, "substitute.asked", ledger.Subject{Owner: user}, substituteEntry{out.ID, user, substitute})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// AcceptSubstitute lets a substitute act. For admins and the operator, and never by the
// substitute, unless there is no other admin.
//
// Codes: forbidden, not_found.
func (s *Store) AcceptSubstitute(ctx context.Context, actor models.Actor, id models.SubstituteID) error {
	if err := actor.NeedAdmin(); err != nil {
		return err
	}
	return s.write(ctx, func(t *Tx) error {
		sub, err := t.substitute(id)
		if err != nil || sub.AcceptedAt != nil {
			return err
		}
		if err := t.acceptedByOther(actor, sub); err != nil {
			return err
		}
		if err := t.Changes("substitutes", id); err != nil {
			return err
		}
		if err := t.changeSubstitute(acceptSubstitute, t.Now, actor.UserID(), id); err != nil {
			return err
		}
		if err := t.Record(actor, "substitute.accepted", ledger.Subject{Owner: sub.UserID},
			substituteEntry{id, sub.UserID, sub.SubstituteID}); err != nil {
			return err
		}
		return t.rerouteAll(actor)
	})
}

const otherAdmins = `SELECT count(*) FROM users WHERE role = 'admin' AND disabled_at IS NULL AND id <> ?`

// acceptedByOther refuses an admin who would let themselves act, while there is another.
func (t *Tx) acceptedByOther(actor models.Actor, sub *models.Substitute) error {
	if me := actor.UserID(); me == "" || me != sub.SubstituteID {
		return nil
	}
	var others int
	if err := t.Gorm().Raw(otherAdmins, sub.SubstituteID).Scan(&others).Error; err != nil {
		return fmt.Errorf("count admins: %w", err)
	}
	if others > 0 {
		return models.Errorf(models.CodeForbidden, "You would act for somebody else by this: another admin has to accept it.")
	}
	return nil
}

// OtherAdmins counts the admins who may sign in, but for one person. It tells pages what
// acceptedByOther will say.
func (s *Store) OtherAdmins(ctx context.Context, but models.UserID) (int, error) {
	var n int
	if err := s.db.Gorm(ctx).Raw(otherAdmins, but).Scan(&n).Error; err != nil {
		return 0, fmt.Errorf("count admins: %w", err)
	}
	return n, nil
}

// RemoveSubstitute ends that a person may act for another, or was to: at once, for pending requests too. By the
// person, the substitute, or an admin. Needs no space on the disk.
//
// Codes: forbidden, not_found.
func (s *Store) RemoveSubstitute(ctx context.Context, actor models.Actor, id models.SubstituteID) error {
	if !actor.IsPerson() && actor.NeedAdmin() != nil {
		return models.Errorf(models.CodeForbidden, "Only a person may remove a substitute.")
	}
	return s.writeAnyway(ctx, func(t *Tx) error {
		sub, err := t.substitute(id)
		if err != nil {
			return err
		}
		if actor.NeedAdmin() != nil && actor.UserID() != sub.UserID && actor.UserID() != sub.SubstituteID {
			return models.NotFound("substitute")
		}
		if err := t.Changes("substitutes", id); err != nil {
			return err
		}
		if err := t.changeSubstitute(removeSubstitute, t.Now, id); err != nil {
			return err
		}
		if err := t.Record(actor, "substitute.removed", ledger.Subject{Owner: sub.UserID},
			substituteEntry{id, sub.UserID, sub.SubstituteID}); err != nil {
			return err
		}
		return t.rerouteAll(actor)
	})
}

// Substitutes are those of a person and those for whom they are one, or all for an admin who names no person.
//
// Codes: forbidden.
func (s *Store) Substitutes(ctx context.Context, actor models.Actor, user models.UserID) ([]models.Substitute, error) {
	if err := needsThemselves(actor, user); err != nil && !actor.Oversees() {
		return nil, err
	}
	var out []models.Substitute
	if err := s.db.Gorm(ctx).Raw(substitutesOf, user).Scan(&out).Error; err != nil {
		return nil, fmt.Errorf("read substitutes: %w", err)
	}
	return out, nil
}

func (t *Tx) substitute(id models.SubstituteID) (*models.Substitute, error) {
	var found []models.Substitute
	if err := t.Gorm().Raw(substituteBy, id).Scan(&found).Error; err != nil {
		return nil, fmt.Errorf("read substitute: %w", err)
	}
	if len(found) == 0 {
		return nil, models.NotFound("substitute")
	}
	return &found[0], nil
}

func (t *Tx) changeSubstitute(query string, args ...any) error {
	res := t.Gorm().Exec(query, args...)
	if res.Error != nil {
		return fmt.Errorf("change substitute: %w", res.Error)
	}
	if !db.ExactlyOne(res.RowsAffected) {
		return models.NotFound("substitute")
	}
	return nil
}

// needsThemselves refuses all but a person for themselves, admins and the operator.
func needsThemselves(actor models.Actor, user models.UserID) error {
	if actor.NeedAdmin() == nil || actor.IsPerson() && user != "" && actor.UserID() == user {
		return nil
	}
	return models.Errorf(models.CodeForbidden, "Only the person themselves and admins may do this.")
}

func (t *Tx) personIs(user models.UserID) (bool, error) {
	var n int64
	if err := t.Gorm().Model(&models.User{}).Where("id = ?", user).Count(&n).Error; err != nil {
		return false, fmt.Errorf("read person: %w", err)
	}
	return n > 0, nil
}

func orNotFound(err error, what string) error {
	if err != nil {
		return err
	}
	return models.NotFound(what)
}
