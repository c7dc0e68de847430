package request

import (
	"context"
	"strings"

	"countersign/models"
	"countersign/views/pages/requests"
)

// Prefill puts what the button of an option fills in into the form, unless the person has
// written something there. It decides nothing.
func (s *Screens) Prefill(
	ctx context.Context, actor models.Actor, id models.ResponseID, f VerdictForm, form *requests.DecideForm,
) error {
	name := f.values.Get(requests.FillField)
	if name == "" {
		return nil
	}
	a, err := s.Store.Requests.Approval(ctx, actor, id)
	if err != nil {
		return err
	}
	into, options := &form.Answer, a.OptionList
	if a.Kind != models.KindQuestion {
		into, options = &form.Reason, a.RejectOptions
	}
	offered, err := options()
	if err != nil {
		return err
	}
	for _, o := range offered {
		if o.Name == name {
			form.Option = o.Name
			if strings.TrimSpace(*into) == "" {
				*into = models.RevealString(o.PromptFill, true)
			}
		}
	}
	return nil
}

// chosenOption is the option that goes with a text, or whose button rejects at once.
func (f VerdictForm) chosenOption(in *models.DecisionInput) {
	for _, field := range [...]string{requests.RejectOptionField, requests.WithOptionField} {
		if name := f.values.Get(field); name != "" && in.Option == nil {
			in.Option = &name
		}
	}
}

// wouldApprove begins the text to the agent of a rejection with another input.
var wouldApprove = strings.ToUpper(models.AdviceOtherInput[:1]) + models.AdviceOtherInput[1:] + "."

// describe puts an edit that the agent does not take into a rejection: it suggests the
// input, and its reason says in words what would be approved.
func (f VerdictForm) describe(a *models.Approval, in *models.DecisionInput) error {
	if a.TakesEdits() {
		return models.Errorf(models.CodeInvalid,
			"Nothing was decided: this agent takes an edited input. Press Approve as edited, or Reject.")
	}
	approval, edit := f, models.DecisionInput{}
	approval.Verdict, approval.edited = models.VerdictApprove, true
	if err := approval.edit(a, &edit); err != nil {
		return err
	}
	if edit.Input == nil {
		return models.Invalid("input", "is unchanged: change it first, or press Reject")
	}
	change, err := models.DescribeChange([]byte(a.ToolInputJSON), edit.Input)
	if err != nil {
		return err
	}
	short := strings.TrimSpace(in.Reason + "\n\n" + wouldApprove)
	in.Suggestion, in.Reason = edit.Input, short+" "+change
	if len(in.Reason) > models.MaxReason && a.Protocol == "" {
		in.Reason = short // the agent reads the input beside it
	}
	if len(in.Reason) > models.MaxReason {
		return models.Invalid("reason",
			"is %d bytes long with the change described, at most %d are allowed: describe it in your own words and press Reject",
			len(in.Reason), models.MaxReason)
	}
	return nil
}
