package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gorm.io/gorm"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/policy"
)

// FallbackFor says whether calls like a request may run without an answer from now on, and
// until when where that has an end: the policy has fallback on, and neither a stop of its
// agent, nor a rule for its tool, nor its own risk is against it (I11).
func (s *Store) FallbackFor(ctx context.Context, a *models.Approval) (on bool, until *time.Time, err error) {
	v, err := s.CurrentPolicy(ctx)
	if err != nil ||
		!v.Program.FallbackFor(policy.Call{Kind: a.Kind, ToolName: a.ToolName, Template: a.Template, At: s.Now()}) {
		return false, nil, err
	}
	isDenial := a.Status() == models.StatusRejected && a.Cause != models.CauseReviewer
	if isDenial || a.Cause == models.CauseStopped || !models.FallbackFor(a.Risk) {
		return false, nil, nil
	}
	stops, err := s.StopsInForce(ctx)
	stopped := slices.ContainsFunc(stops, func(stop models.Stop) bool { return stop.Stops(a.AgentID) })
	return !stopped && err == nil, v.Program.FallbackUntil(), err
}

// checkFallback checks a report that a client went on without an answer: the
// policy must have allowed it at that time, or within the ten minutes before. A
// fallback with an end is believed until that at most, for clients know it.
func (t *Tx) checkFallback(at time.Time) error {
	if at.After(t.Now.Add(time.Minute)) {
		return models.Invalid("fallback.at", "must not be in the future")
	}
	version, _, err := t.Policy()
	if err != nil {
		return err
	}
	until := t.Now
	for ; version > 0; version-- {
		var row models.Policy
		if err := t.Gorm().Where("version = ?", version).Take(&row).Error; err != nil {
			return fmt.Errorf("read policy: %w", err)
		}
		v, err := t.s.compile(row)
		if err != nil {
			return err
		}
		if v.Program.FallbackOn(at) && !at.Before(row.CreatedAt) && !at.After(until.Add(models.FallbackBelieved)) {
			return nil
		}
		if row.CreatedAt.Add(models.FallbackBelieved).Before(at) {
			break // every earlier version ended too long before
		}
		until = row.CreatedAt
	}
	return models.Errorf(models.CodeForbidden,
		"fallback_auto_approve was not on at that time: ask, and wait for the decision.")
}

// ranWithoutAnswer writes into the row what a client reports that it did without an answer.
// It has happened, so it is recorded, and nothing is released by it (I4): what a rule denies
// is rejected, and what a stopped agent ran says so.
func (t *Tx) ranWithoutAnswer(a *models.Approval, at time.Time, j policy.Judgement, standing *models.Stop) error {
	if err := t.checkFallback(at); err != nil {
		return err
	}
	stopped, err := t.stoppedAt(a.AgentID, at)
	if err != nil {
		return err
	}
	text := models.RanText(at, j.Risk)
	switch {
	case stopped != nil:
		text = models.RanStopped + ": " + stopped.Text()
	case standing != nil:
		text = text + ", and reported it while stopped: " + standing.Text()
	}
	if j.Effect == policy.EffectDeny {
		reason := models.RanDenied + ": " + j.Reason
		if stopped != nil {
			reason += " It also " + text
		}
		t.rejectAtOnce(a, models.CauseFallback, reason)
		return nil
	}
	a.Cause, a.PolicyReason = models.CauseFallback, text
	return nil
}

// ranBeside notes on a request which the server knew already that its client reports to have
// run it without an answer: the answer was lost. It changes no outcome, and is noted once.
func (t *Tx) ranBeside(q *asked, a *models.Approval) error {
	if q.fallback.IsZero() {
		return nil
	}
	again, err := t.ranAgain(q, a)
	if err != nil || !again && (a.Cause == models.CauseFallback || a.MayRun()) {
		return err
	}
	text := "Its client " + models.RanText(q.fallback, a.Risk) + "; it was " + string(a.Status()) +
		" here when that was reported."
	if again {
		text = "Its client " + models.RanText(q.fallback, a.Risk) + ", after the call had run before."
	}
	if _, err := t.Exec(t.s.hot.contradict, text, a.ID); err != nil {
		return fmt.Errorf("note that it ran: %w", err)
	}
	t.changed(a.ConversationID)
	t.Publish(events.Approval(string(a.ID)))
	return nil
}

// stoppedAt is what stopped an agent at a time, though it may have been lifted since; nil:
// nothing did.
func (t *Tx) stoppedAt(agent models.AgentID, at time.Time) (*models.Stop, error) {
	var stop models.Stop
	err := t.Gorm().Select("id", "agent_id", "note",
		"by_name").Where("agent_id IN ('', ?) AND at <= ? AND (lifted_at IS NULL OR lifted_at > ?)", agent, at,
		at).Order("at").Take(&stop).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil, nil //nolint:nilnil // nothing is an answer
	}
	if err != nil {
		return nil, fmt.Errorf("read stops: %w", err)
	}
	return &stop, nil
}
