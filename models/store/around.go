package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"countersign/models"
	"countersign/models/policy"
)

// around reads what the policy says of a request by now, the edits that wait, and the notes.
func (s *Store) around(ctx context.Context, a *models.Approval, out *models.Around) (err error) {
	if err := s.aroundPolicy(ctx, a, out); err != nil {
		return err
	}
	if a.QuorumJSON == "" && a.Status() == models.StatusPending {
		if err := s.db.Gorm(ctx).Raw(waitingEdits, a.ID).Scan(&out.Proposals).Error; err != nil {
			return fmt.Errorf("read proposed edits: %w", err)
		}
	}
	out.Notes, err = s.notes(ctx, a.ID)
	return err
}

// aroundPolicy says what the policy allows with the request, and what it would say
// of it if it came now.
func (s *Store) aroundPolicy(ctx context.Context, a *models.Approval, out *models.Around) error {
	now, err := s.CurrentPolicy(ctx)
	if err != nil {
		return err
	}
	doc := now.Program.Document()
	if a.UpstreamID == nil {
		out.UndoFor = doc.UndoSeconds.For(a.Risk)
		out.MaxPause = time.Duration(doc.MaxPauseMinutes) * time.Minute
		out.MaxTimeout = time.Duration(doc.MaxTimeoutMinutes) * time.Minute
	}
	out.GrantsEnabled, out.GrantMaxHours, out.GrantMaxUses = doc.GrantsEnabled, doc.GrantMaxHours, doc.GrantMaxUses
	if a.PolicyVersion == 0 {
		return nil // nothing was judged
	}
	then := now
	if a.PolicyVersion != now.Version {
		var row models.Policy
		if err := s.db.Gorm(ctx).Where("version = ?", a.PolicyVersion).Take(&row).Error; err != nil {
			return fmt.Errorf("read policy: %w", err)
		}
		if then, err = s.compile(row); err != nil {
			return err
		}
	}
	out.RejectReasons = then.Program.RejectReasons(a.PolicyRule, a.Template)
	out.PolicyChange = then.Version != now.Version
	call, err := s.CallOf(ctx, a)
	if err != nil {
		return err
	}
	was := then.Program.Judge(call)
	if at := s.Now(); now.Program.GateOff(call.At) && !now.Program.GateOff(at) {
		call.At = at // it was off at the time of the ask, and is on by now
	}
	j := now.Program.Judge(call)
	out.Now = models.PolicyResult{
		Effect: string(j.Effect), Rule: j.Rule, Reason: j.Reason, Risk: j.Risk, Version: now.Version,
		Differs: j.Effect != was.Effect || j.Rule != was.Rule || j.Reason != was.Reason || j.Risk != was.Risk ||
			j.ReviewersOnly != was.ReviewersOnly || j.SelfApproval != was.SelfApproval ||
			j.ReviewersOnly && !slices.Equal(j.Reviewers, was.Reviewers) || !policy.SameEscalation(j.Escalate, was.Escalate) ||
			!j.Quorum.Same(was.Quorum) || j.NoSubstitutes != was.NoSubstitutes || !slices.Equal(j.Only, was.Only) ||
			!slices.Equal(j.Checklist, was.Checklist),
	}
	return nil
}
