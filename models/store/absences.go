package store

import (
	"context"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/ledger"
)

// While a person is away, requests routed to them are routed to their substitute as well, if the substitute may act on
// them. An absence begins and ends by the clock: votes and asks check the clock, and the rows follow later
// (TakeAbsences).

const (
	openAbsences = `SELECT * FROM absences` + db.ByAbsencesOpen + ` WHERE ended_at IS NULL ORDER BY user_id`
	openOf       = openOfAll + ` AND user_id = ?`
	openOfAll    = `SELECT * FROM absences` + db.ByAbsencesOpen + ` WHERE ended_at IS NULL`
	absenceByID  = openOfAll + ` AND id = ?`
	dueAbsences  = openOfAll + ` AND (began_at IS NULL AND from_at <= ?1 OR until_at <= ?1) ORDER BY from_at, id`
	beginAbsence = `UPDATE absences SET began_at = ? WHERE id = ? AND began_at IS NULL AND ended_at IS NULL`
	endAbsence   = `UPDATE absences SET ended_at = ? WHERE id = ? AND ended_at IS NULL`
	withNames    = `SELECT a.*, u.name AS user_name, u.email AS user_email, coalesce(x.name, '') AS substitute_name, coalesce(x.email, '') AS substitute_email,
 EXISTS (SELECT 1 FROM substitutes s WHERE s.user_id = a.user_id AND s.substitute_id = a.substitute_id AND s.removed_at IS NULL AND s.accepted_at IS NOT NULL) AS accepted
 FROM absences a` + db.ByAbsencesOpen + ` JOIN users u ON u.id = a.user_id LEFT JOIN users x ON x.id = a.substitute_id
 WHERE a.ended_at IS NULL`
	absencesFor = withNames + ` AND (?1 OR ?2 IN (a.user_id, a.substitute_id)) ORDER BY a.from_at, a.id`
	absencesNow = withNames +
		` AND a.from_at <= ?1 AND a.until_at > ?1 AND ?2 IN (a.user_id, a.substitute_id) ORDER BY a.until_at, a.id`
)

// absenceEntry is what the ledger says of an absence.
type absenceEntry struct {
	ID         models.AbsenceID `json:"absence"`
	User       models.UserID    `json:"userId"`
	From       string           `json:"from_at,omitempty"`
	Until      string           `json:"until_at,omitempty"`
	Substitute models.UserID    `json:"substitute_id,omitempty"`
}

// PlanAbsence notes when a person is away, and who acts for them meanwhile. The person does it
// themselves, or an admin. One that is planned or runs is ended first. A substitute whom no
// admin has accepted gets only what the rules let them approve anyway.
//
// Codes: forbidden, not_found, invalid (from, until, substitute), conflict.
func (s *Store) PlanAbsence(ctx context.Context, actor models.Actor, in models.AbsenceInput) (*models.Absence, error) {
	if err := needsThemselves(actor, in.UserID); err != nil {
		return nil, err
	}
	var out *models.Absence
	err := s.write(ctx, func(t *Tx) error {
		a, err := t.checkAbsence(in)
		if err != nil {
			return err
		}
		a.ID, a.CreatedAt, a.CreatedBy = models.NewID[models.AbsenceID](), t.Now, actor.UserID()
		out = a
		if err := t.Gorm().Create(a).Error; err != nil {
			return fmt.Errorf("store absence: %w", err)
		}
		t.Adds("absences", a.ID)
		if err := t.Record(actor, "absence.planned", ledger.Subject{Owner: a.UserID}, absenceEntry{
			a.ID, a.UserID, a.FromAt.Format(db.TimeFormat), a.UntilAt.Format(db.TimeFormat), a.SubstituteID,
		}); err != nil {
			return err
		}
		t.deadlineStored(a.FromAt)
		if a.FromAt.After(t.Now) {
			return nil
		}
		if err := t.beginAbsence(actor, a); err != nil {
			return err
		}
		return t.rerouteAll(actor)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (t *Tx) checkAbsence(in models.AbsenceInput) (*models.Absence, error) {
	if there, err := t.personIs(in.UserID); err != nil || !there {
		return nil, orNotFound(err, "user")
	}
	a := &models.Absence{
		UserID: in.UserID, FromAt: db.Stamp(in.From), UntilAt: db.Stamp(in.Until), SubstituteID: in.Substitute,
	}
	if a.FromAt.Before(t.Now) {
		a.FromAt = t.Now
	}
	switch {
	case a.FromAt.After(t.Now.Add(models.MaxAbsence)):
		return nil, models.Invalid("from", "must be within a year")
	case !a.UntilAt.After(a.FromAt):
		return nil, models.Invalid("until", "must be later than the beginning, and in the future")
	case a.UntilAt.After(a.FromAt.Add(models.MaxAbsence)):
		return nil, models.Invalid("until", "must be within a year of the beginning")
	}
	if in.Substitute != "" {
		if there, err := t.Enabled(in.Substitute); err != nil {
			return nil, err
		} else if !there || in.Substitute == in.UserID {
			return nil, models.Invalid("substitute", "must be another person who may sign in")
		}
	}
	var open []models.Absence
	if err := t.Gorm().Raw(openOf, in.UserID).Scan(&open).Error; err != nil {
		return nil, fmt.Errorf("read absence: %w", err)
	}
	if len(open) > 0 {
		return nil, models.Errorf(models.CodeConflict, "An absence is planned already, or runs: end it first.")
	}
	return a, nil
}

func (t *Tx) beginAbsence(actor models.Actor, a *models.Absence) error {
	if err := t.Changes("absences", a.ID); err != nil {
		return err
	}
	if err := t.changeAbsence(beginAbsence, t.Now, a.ID); err != nil {
		return err
	}
	a.BeganAt = new(t.Now)
	t.deadlineStored(a.UntilAt)
	return t.Record(actor, "absence.begun", ledger.Subject{Owner: a.UserID}, absenceEntry{ID: a.ID, User: a.UserID})
}

func (t *Tx) endAbsence(actor models.Actor, a *models.Absence) error {
	if err := t.Changes("absences", a.ID); err != nil {
		return err
	}
	if err := t.changeAbsence(endAbsence, t.Now, a.ID); err != nil {
		return err
	}
	return t.Record(actor, "absence.ended", ledger.Subject{Owner: a.UserID}, absenceEntry{ID: a.ID, User: a.UserID})
}

func (t *Tx) changeAbsence(query string, args ...any) error {
	res := t.Gorm().Exec(query, args...)
	if res.Error != nil {
		return fmt.Errorf("change absence: %w", res.Error)
	}
	if !db.ExactlyOne(res.RowsAffected) {
		return models.NotFound("absence")
	}
	return nil
}

// EndAbsence ends an absence that is planned or runs: what the substitute has only by it
// leaves their inbox at once. By the person, or an admin.
//
// Codes: forbidden, not_found.
func (s *Store) EndAbsence(ctx context.Context, actor models.Actor, id models.AbsenceID) error {
	if !actor.IsPerson() && actor.NeedAdmin() != nil {
		return models.Errorf(models.CodeForbidden, "Only a person may end an absence.")
	}
	return s.writeAnyway(ctx, func(t *Tx) error {
		var found []models.Absence
		if err := t.Gorm().Raw(absenceByID, id).Scan(&found).Error; err != nil {
			return fmt.Errorf("read absence: %w", err)
		}
		if len(found) == 0 || needsThemselves(actor, found[0].UserID) != nil {
			return models.NotFound("absence")
		}
		if err := t.endAbsence(actor, &found[0]); err != nil {
			return err
		}
		return t.rerouteEach(actor)
	})
}

// Absences are those that are planned or run: for admins all, for others their own and those
// in which they are the substitute.
//
// Codes: forbidden (people and the operator).
func (s *Store) Absences(ctx context.Context, actor models.Actor) ([]models.Absence, error) {
	admin := actor.NeedOversight() == nil
	if !actor.IsPerson() && !admin {
		return nil, models.Errorf(models.CodeForbidden, "Only people read who is away.")
	}
	var out []models.Absence
	if err := s.db.Gorm(ctx).Raw(absencesFor, admin, actor.UserID()).Scan(&out).Error; err != nil {
		return nil, fmt.Errorf("read absences: %w", err)
	}
	return out, nil
}

// AwayNow are the absences that run and concern a person: their own, and those in which they
// are the substitute. Nothing for others.
func (s *Store) AwayNow(ctx context.Context, actor models.Actor) ([]models.Absence, error) {
	if !actor.IsPerson() {
		return nil, nil
	}
	var out []models.Absence
	if err := s.db.Gorm(ctx).Raw(absencesNow, s.db.Now(), actor.UserID()).Scan(&out).Error; err != nil {
		return nil, fmt.Errorf("read absences: %w", err)
	}
	return out, nil
}

// NextAbsence is when an absence begins or ends next; false: none does.
func (s *Store) NextAbsence(ctx context.Context) (time.Time, bool, error) {
	var open []models.Absence
	if err := s.db.Gorm(context.WithoutCancel(ctx)).Raw(openAbsences).Scan(&open).Error; err != nil {
		return time.Time{}, false, fmt.Errorf("read absences: %w", err)
	}
	var next time.Time
	for i := range open {
		at := open[i].FromAt
		if open[i].BeganAt != nil {
			at = open[i].UntilAt
		}
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next, len(open) > 0, nil
}

// TakeAbsences updates the rows of pending requests for the absences that have begun or ended by now, and returns how
// many absences those are.
func (s *Store) TakeAbsences(ctx context.Context) (int, error) {
	n := 0
	err := s.writeAnyway(ctx, func(t *Tx) error {
		var due []models.Absence
		if err := t.Gorm().Raw(dueAbsences, t.Now).Scan(&due).Error; err != nil {
			return fmt.Errorf("read due absences: %w", err)
		}
		worker := models.System("absences")
		for i := range due {
			a := &due[i]
			if a.BeganAt == nil {
				if err := t.beginAbsence(worker, a); err != nil {
					return err
				}
			}
			if !t.Now.Before(a.UntilAt) {
				if err := t.endAbsence(worker, a); err != nil {
					return err
				}
			}
		}
		if n = len(due); n == 0 {
			return nil
		}
		return t.rerouteEach(worker)
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}
