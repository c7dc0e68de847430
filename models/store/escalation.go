package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
	"countersign/models/policy"
	"countersign/models/requests"
)

// A rule may ask further people as time runs. Whom, and when, is frozen at the ask (I12); the
// time is a row of escalations, which the worker of workers/expire takes.

const (
	addEscalation   = `INSERT INTO escalations (response_id, step, due_at) VALUES (?, ?, ?)`
	dropEscalation  = `DELETE FROM escalations WHERE response_id = ?`
	dropStep        = `DELETE FROM escalations WHERE response_id = ? AND step = ?`
	pauseEscalation = `UPDATE escalations SET paused_at = ? WHERE response_id = ? AND paused_at IS NULL`
	moveEscalation  = `UPDATE escalations SET due_at = ?, paused_at = NULL WHERE response_id = ? AND step = ?`
	stepTaken       = `UPDATE responses SET escalation = ? WHERE id = ? AND approval_status = 'pending' AND escalation < ?`
	nextEscalation  = `SELECT due_at FROM escalations` + db.ByEscalationsDue +
		` WHERE paused_at IS NULL ORDER BY due_at LIMIT 1`
	dueEscalations = `SELECT * FROM escalations` + db.ByEscalationsDue +
		` WHERE paused_at IS NULL AND due_at <= ? ORDER BY due_at, response_id, step LIMIT ?`
)

// andSteps adds whom a rule asks later: people as they are now, groups by name.
func (t *Tx) andSteps(
	named []models.Approver, steps []policy.Escalation, as models.NamedAs,
) ([]models.Approver, error) {
	for i, s := range steps {
		emails, groups := splitReviewers(s.To)
		people, err := t.named(emails)
		if err != nil {
			return nil, err
		}
		for _, a := range naming(people, groups, as) {
			a.Step, a.After = i+1, s.AfterMinutes
			named = append(named, a)
		}
	}
	return named, nil
}

// laterAble reports whether a later step of a request's escalation asks somebody who may
// approve it then.
func (t *Tx) laterAble(r *models.Response) (bool, error) {
	if !r.Escalates() {
		return false, nil
	}
	who := r.Later()
	able, err := t.enabledOf(who.Able())
	return slices.ContainsFunc(able,
		func(id models.UserID) bool { return id != r.OwnerID || who.SelfApproval != models.SelfNever }), err
}

// planEscalation notes when further people are asked about a request that has begun to wait.
func (t *Tx) planEscalation(r *models.Response) error {
	if r.Status() != models.StatusPending || !r.Escalates() {
		return nil
	}
	steps := r.Steps()
	for step, minutes := range steps {
		if minutes == 0 { // it comes when the one before it is signed
			continue
		}
		at := t.Now.Add(time.Duration(minutes) * time.Minute)
		if r.WhenBusy == models.BusyEscalate && steps[step-1] == 0 {
			at = t.Now // the first
		}
		if err := t.Gorm().Exec(addEscalation, r.ID, step, at).Error; err != nil {
			return fmt.Errorf("plan escalation: %w", err)
		}
		t.deadlineStored(at)
	}
	return nil
}

// escalationEnds: a settled request asks no further people.
func (t *Tx) escalationEnds(r *models.Response) error {
	if !r.Escalates() {
		return nil
	}
	if err := t.Gorm().Exec(dropEscalation, r.ID).Error; err != nil {
		return fmt.Errorf("end escalation: %w", err)
	}
	return nil
}

// escalationPauses stops the time until further people are asked while a question to the agent
// is open, and lets it run again with its answer.
func (t *Tx) escalationPauses(a *models.Approval, to clock) error {
	was, is := a.OpenNote != nil, to.open != nil
	if was == is || !a.Escalates() {
		return nil
	}
	if is {
		if err := t.Gorm().Exec(pauseEscalation, t.Now, a.ID).Error; err != nil {
			return fmt.Errorf("pause escalation: %w", err)
		}
		return nil
	}
	var steps []models.Escalation
	if err := t.Gorm().Where("response_id = ? AND paused_at IS NOT NULL", a.ID).Find(&steps).Error; err != nil {
		return fmt.Errorf("read escalation: %w", err)
	}
	for _, s := range steps {
		at := s.DueAt.Add(t.Now.Sub(*s.PausedAt))
		if err := t.Gorm().Exec(moveEscalation, at, a.ID, s.Step).Error; err != nil {
			return fmt.Errorf("resume escalation: %w", err)
		}
		t.deadlineStored(at)
	}
	return nil
}

// NextEscalation is when further people are asked about a request next; false: never, as far
// as is known.
func (s *Store) NextEscalation(ctx context.Context) (time.Time, bool, error) {
	var next []time.Time
	if err := s.db.Gorm(context.WithoutCancel(ctx)).Raw(nextEscalation).Scan(&next).Error; err != nil {
		return time.Time{}, false, fmt.Errorf("read next escalation: %w", err)
	}
	if len(next) == 0 {
		return time.Time{}, false, nil
	}
	return next[0], true, nil
}

// EscalateDue asks further people about at most limit requests whose time for that has come, and returns how many. A
// request that has expired asks no one.
func (s *Store) EscalateDue(ctx context.Context, limit int) (int, error) {
	n := 0
	err := s.write(ctx, func(t *Tx) error {
		n = 0
		var due []models.Escalation
		if err := t.Gorm().Raw(dueEscalations, t.Now, limit).Scan(&due).Error; err != nil {
			return fmt.Errorf("read due escalations: %w", err)
		}
		for _, d := range due {
			if err := t.Gorm().Exec(dropStep, d.ResponseID, d.Step).Error; err != nil {
				return fmt.Errorf("take escalation: %w", err)
			}
			n++
			a, err := t.Request(d.ResponseID)
			if err != nil {
				return err
			}
			if a == nil || a.Status() != models.StatusPending || a.PastDeadline(t.Now) {
				continue
			}
			if err := t.takeStep(a, d.Step); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// takeStep asks those whom one step of a request's escalation names.
func (t *Tx) takeStep(a *models.Approval, step int) error {
	if err := t.Changes("responses", a.ID); err != nil {
		return err
	}
	result := t.Gorm().Exec(stepTaken, step, a.ID, step)
	if result.Error != nil {
		return fmt.Errorf("take step: %w", result.Error)
	}
	if !db.ExactlyOne(result.RowsAffected) {
		return fmt.Errorf("take step %d of %s: it left pending, or took it before", step, a.ID)
	}
	a.Escalation = step
	who := a.Step(step)
	var reviewers []models.UserID
	for _, p := range who.Asked() {
		if p.Group == "" && p.ID != a.OwnerID {
			reviewers = append(reviewers, p.ID)
		}
	}
	reviewers, err := t.andMembers(&a.Response, reviewers, who.Groups())
	if err != nil {
		return err
	}
	if err := t.addDeciders(&a.Response, reviewers); err != nil {
		return err
	}
	if w, err := t.recipients(); err != nil {
		return err
	} else if err := t.awaitsGroups(w, &a.Response, who); err != nil {
		return err
	}
	readers, err := t.tellDeciders(a)
	if err != nil {
		return err
	}
	t.Publish(events.Approval(string(a.ID)))
	escalation := models.System("escalation")
	if err := t.Record(escalation, requests.StepAction, ledger.SubjectOf(&a.Response, readers),
		stepEntry{Digest: a.Digest, Step: step, Reviewers: reviewers}); err != nil {
		return err
	}
	return t.reroute(escalation, a)
}

// stepEntry is what the ledger says of further people whom a rule asks.
type stepEntry struct {
	Digest    string          `json:"digest"`
	Step      int             `json:"step"`
	Reviewers []models.UserID `json:"reviewers"` // whom it goes to, among them those who were asked before
}

const escalated = `UPDATE responses SET escalated_at = ? WHERE id = ? AND approval_status = 'pending'`

// Escalate stores that an agent asks for more attention to its own pending request. Those who may decide it see it on
// its page and in their inbox, and no one else does: naming a person gives them no right. Clock and digest stay. A
// repeat of the last note is that note.
//
// Codes: forbidden (agents only), not_found, invalid; with the current row: already_decided, expired.
func (s *Store) Escalate(
	ctx context.Context, actor models.Actor, id models.ResponseID, text string,
) (*models.Approval, error) {
	if !actor.IsAgent() {
		return nil, models.Errorf(models.CodeForbidden, "Only the agent that asked may escalate its request.")
	}
	a, _, err := s.withNote(ctx, actor, id, text, noteEscalates, func(t *Tx, a *models.Approval, last *models.Note) (*models.Note, error) {
		if a.Status() != models.StatusPending { // held or not: the agent is not to know
			return nil, conflictOf(a)
		}
		return t.escalate(actor, a, last, text)
	})
	return a, err
}

func (t *Tx) escalate(actor models.Actor, a *models.Approval, last *models.Note, text string) (*models.Note, error) {
	note, err := t.newNote(actor, a, last, text, models.MaxEvidence)
	if err != nil {
		return nil, err
	}
	note.Escalates = true
	res := t.Gorm().Exec(escalated, t.Now, a.ID)
	if res.Error != nil {
		return nil, fmt.Errorf("mark escalation: %w", res.Error)
	}
	if !db.ExactlyOne(res.RowsAffected) {
		return nil, fmt.Errorf("mark escalation of %s: it left pending meanwhile", a.ID)
	}
	a.EscalatedAt = new(t.Now)
	return note, t.storeNote(actor, a, note, "approval.escalated", a.ApprovalTimeoutAt)
}
