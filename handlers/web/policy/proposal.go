package policy

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/drafts"
	"countersign/models/policy"
	"countersign/views"
	"countersign/views/pages/policies"
)

// showProposal shows the change of the policy that waits for admins to agree.
func (s *Screens) showProposal(c echo.Context) error {
	return s.proposalPage(c, http.StatusOK, policies.ProposalInput{})
}

func (s *Screens) proposalPage(c echo.Context, status int, in policies.ProposalInput) (err error) {
	ctx, actor, work := c.Request().Context(), site.ActorOf(c), drafts.New(s.Store)
	if in.Proposal, err = work.Proposal(ctx, actor); err != nil {
		return err
	}
	standing, err := s.Store.CurrentPolicy(ctx)
	if err != nil {
		return err
	}
	in.Reader, in.Standing, in.Before, in.Now = actor, standing.Version, standing.Program.Document(), s.Store.Now()
	if in.Proposal.Waits() {
		next, err := policy.ParseStored([]byte(in.Proposal.Document))
		if err != nil {
			return err
		}
		in.After = next.Document()
		if actor.MayDraft() {
			usage, err := work.Usage(ctx, actor)
			if err != nil {
				return err
			}
			in.Warnings = policy.LintIn(in.After, usage)
			in.Replay = s.replayedOf(c, standing.Program, next)
		}
	}
	frame, err := s.Frame(c, "Proposed policy", -1)
	if err != nil {
		return err
	}
	return handlers.Render(c, status, policies.ProposalPage(frame, policies.NewProposal(in)), nil)
}

// actOnProposal agrees to the proposal that the form was about, or ends it.
func (s *Screens) actOnProposal(c echo.Context) error {
	form := c.Request().PostForm
	in := policies.ProposalInput{Step: form.Get("step"), Reason: strings.TrimSpace(form.Get("reason"))}
	flash, err := s.proposalStep(c.Request().Context(), site.ActorOf(c), in.Step, form.Get(policies.DigestField), in.Reason)
	if failed := site.AsError(err, models.CodeInvalid, models.CodeConflict); failed != nil {
		in.Errors = failed.Fields
		if in.Error = failed.Text; failed.Fields["reason"] != "" {
			in.Error = ""
		}
		return s.proposalPage(c, handlers.Status(failed.Code), in)
	}
	if err != nil {
		return err
	}
	s.SetFlash(c, flash)
	if flash == "policy-saved" {
		return c.Redirect(http.StatusSeeOther, views.PolicyURL())
	}
	return c.Redirect(http.StatusSeeOther, views.PolicyProposalURL())
}

func (s *Screens) proposalStep(ctx context.Context, actor models.Actor, step, digest, reason string) (flash string, err error) {
	work := drafts.New(s.Store)
	switch step {
	case policies.StepConfirm:
		version, err := work.Confirm(ctx, actor, digest)
		if version > 0 {
			return "policy-saved", err
		}
		return "policy-confirmed", err
	case policies.StepReject, policies.StepTakeBack:
		return "proposal-ended", work.Reject(ctx, actor, digest, reason)
	case policies.StepAlone:
		return "alone-begun", work.BeginAlone(ctx, actor, digest, reason)
	case policies.StepSave:
		_, err := work.SaveAlone(ctx, actor, digest)
		return "policy-saved", err
	}
	return "", models.Invalid("step", "must be confirm, reject, take-back, alone or save")
}
