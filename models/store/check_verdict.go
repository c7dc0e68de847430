package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"countersign/models"
	"countersign/models/policy"
)

// checkVerdict checks a verdict against the row and the signatures on it, and makes the vote.
func (t *Tx) checkVerdict(
	actor models.Actor, a *models.Approval, in models.DecisionInput, s *ballot,
) (*models.Vote, error) {
	seen := in.Digest
	in, err := s.asSigned(a, in)
	if err != nil {
		return nil, err
	}
	if err := models.CheckText("reason", in.Reason, models.MaxReason); err != nil {
		return nil, err
	}
	verdict, err := verdictOf(a, in)
	if err != nil {
		return nil, err
	}
	if err := checkBulk(a, in, verdict); err != nil {
		return nil, err
	}
	if err := checkOutside(a, in, verdict); err != nil {
		return nil, err
	}
	if in.Digest != "" && in.Digest != a.Digest {
		return nil, &models.Error{
			Code: models.CodeDigestMismatch, Text: "This is not the request that was shown: its digest differs.", Approval: a,
		}
	}
	if verdict != models.VerdictReject && a.InputBytes != nil {
		return nil, models.Errorf(models.CodeWrongDecisionKind,
			"Only the beginning of this call's input is kept, of %d bytes: it can be rejected, not approved.", *a.InputBytes)
	}
	if verdict != models.VerdictReject {
		if err := t.checkRunning(a); err != nil {
			return nil, err
		}
	}
	if verdict != models.VerdictReject && in.Digest == "" && a.Risk.NeedsDigest() {
		return nil, &models.Error{
			Code:   models.CodeDigestRequired,
			Text:   fmt.Sprintf("Approving a request of %s risk needs the digest that was shown.", a.Risk),
			Fields: map[string]string{"digest": "is required to approve this request"},
		}
	}
	vote := &models.Vote{
		ID: models.NewID[models.VoteID](), ResponseID: a.ID, UserID: actor.UserID(), UserName: actor.Name, Verdict: verdict,
		Reason: in.Reason, Digest: a.Digest, SeenDigest: seen, Answer: in.Answer, Option: in.Option, At: t.Now,
	}
	j, err := t.checkEdit(a, in, vote)
	if err != nil {
		return nil, err
	}
	switch {
	case in.BreakGlass:
		err = t.checkGlass(actor, a, s, vote, j)
	case s != nil:
		err = t.checkSigner(actor, a, s, vote, j)
	default:
		err = t.checkApprover(actor, a, vote, j)
	}
	if err != nil {
		return nil, err
	}
	if err := checkBehalf(in, vote); err != nil || verdict == models.VerdictReject {
		return vote, err
	}
	if err := checkTicks(a, in, vote); err != nil {
		return nil, err
	}
	err = t.checkViewed(actor, a, in.Page)
	if u, ok := errors.AsType[*models.UnconfirmedError](err); ok {
		u.Input = in.Input
	}
	return vote, err
}

// checkBehalf refuses a verdict that would count for another person than the page said (I6). A person who rejects in
// their own right needs no one else for that.
func checkBehalf(in models.DecisionInput, vote *models.Vote) error {
	if in.Behalf == nil || *in.Behalf == vote.BehalfOf || vote.Verdict == models.VerdictReject && vote.BehalfOf == "" {
		return nil
	}
	return models.Errorf(models.CodeInvalid,
		"Nothing was decided: for whom you would decide has changed since it was shown. Look again, then decide.")
}

// checkViewed judges what the person has viewed on the page that they decide on.
func (t *Tx) checkViewed(actor models.Actor, a *models.Approval, page *models.PageView) error {
	if !a.MustView(page) {
		return nil
	}
	opened, err := t.openedParts(actor, a.ID)
	if err != nil {
		return err
	}
	return a.CheckViewed(page, opened)
}

// verdictOf is what the input means for this kind of request.
func verdictOf(a *models.Approval, in models.DecisionInput) (models.Verdict, error) {
	answers := in.Answer != nil || in.Option != nil
	if a.Kind != models.KindQuestion {
		rejects := in.Approved != nil && !*in.Approved
		switch {
		case rejects && in.Answer == nil && in.Option != nil:
			return models.VerdictReject, checkRejectOption(a, in)
		case answers:
			return "", models.Errorf(models.CodeWrongDecisionKind,
				"This is a %s: approve or reject it. Only a question is answered.", a.Kind.Word())
		case in.Approved == nil:
			return "", models.Invalid("approved", "must be true or false")
		case *in.Approved:
			return models.VerdictApprove, nil
		}
		return models.VerdictReject, rejectsPlainly(in)
	}
	switch {
	case in.Approved != nil && !*in.Approved:
		if answers {
			return "", models.Invalid("approved", "must not be false beside an answer")
		}
		return models.VerdictReject, rejectsPlainly(in)
	case !answers || in.Input != nil:
		return "", models.Errorf(models.CodeWrongDecisionKind,
			"This is a question: answer it, choose an option, or decline it with approved: false.")
	}
	return models.VerdictAnswer, checkAnswer(a, in)
}

func rejectsPlainly(in models.DecisionInput) error {
	if in.Input != nil {
		return models.Invalid("input", "can only be edited when approving")
	}
	return nil
}

// checkRejectOption refuses a way to reject that the call's client does not know.
func checkRejectOption(a *models.Approval, in models.DecisionInput) error {
	options, err := a.RejectOptions()
	if err != nil {
		return err
	}
	if err := rejectsPlainly(in); err != nil {
		return err
	}
	return checkOption(options, *in.Option)
}

func checkOption(options []models.Option, name string) error {
	if !slices.ContainsFunc(options, func(o models.Option) bool { return o.Name == name }) {
		return models.Invalid("option", "must be the name of one of the options that were offered")
	}
	return nil
}

func checkAnswer(a *models.Approval, in models.DecisionInput) error {
	if in.Answer != nil {
		if strings.TrimSpace(*in.Answer) == "" {
			return &models.Error{
				Code: models.CodeResponseRequired, Text: "A question needs an answer that is not empty.",
				Fields: map[string]string{"answer": "must not be empty"},
			}
		}
		if err := models.CheckText("answer", *in.Answer, models.MaxAnswer); err != nil {
			return err
		}
	}
	if in.Option == nil {
		return nil
	}
	options, err := a.OptionList()
	if err != nil {
		return err
	}
	return checkOption(options, *in.Option)
}

// checkBulk refuses to bulk-approve requests that must be reviewed one by one. Bulk rejection does no harm and is not
// limited.
func checkBulk(a *models.Approval, in models.DecisionInput, verdict models.Verdict) error {
	switch {
	case !in.Bulk || verdict == models.VerdictReject:
	case a.Kind == models.KindQuestion:
		return models.Errorf(models.CodeWrongDecisionKind, "Questions can't be answered in bulk.")
	case a.ChecklistJSON != "":
		return models.Errorf(models.CodeWrongDecisionKind, "Requests with a checklist can't be bulk-approved.")
	case a.Risk.NeedsDigest():
		return models.Errorf(models.CodeWrongDecisionKind, "Requests of %s risk can't be bulk-approved.", a.Risk)
	case a.DrawnInPart():
		return models.Errorf(models.CodeWrongDecisionKind,
			"Requests with an input as long as this can't be bulk-approved: no page shows all of it.")
	}
	return nil
}

// unknownTemplate tells an agent which templates it may name.
func unknownTemplate(p *policy.Policy) *models.Error {
	names := p.TemplateNames()
	if len(names) == 0 {
		return models.Invalid("template", "names no template: the policy has none")
	}
	return models.Invalid("template", "must be the name of a template of the policy: %s", strings.Join(names, ", "))
}

// decidedBefore reports whether a grant may allow a call that would otherwise need approval. The maker of a grant has
// ticked nothing for this call, and an agent that names a template asks for a person.
func decidedBefore(q *asked, j policy.Judgement) bool {
	return q.Template == "" && len(j.Checklist) == 0 && !j.Signed()
}

// checkTicks keeps with a vote what its voter ticked; CodeInvalid unless that is all.
func checkTicks(a *models.Approval, in models.DecisionInput, vote *models.Vote) (err error) {
	if vote.Verdict != models.VerdictReject {
		vote.Checked, err = a.Ticks(in.Checked)
	}
	return err
}

// CheckTicksName refuses to approve whatever is newest in a conversation where that has a
// checklist: ticks are numbers, and may have been made for the request before it.
func CheckTicksName(a *models.Approval, d models.ConversationDecision) error {
	if d.Approved == nil || !*d.Approved || d.ResponseID != "" || d.Digest != "" || len(a.Checklist()) == 0 {
		return nil
	}
	return &models.Error{
		Code:   models.CodeDigestRequired,
		Text:   "This request has a checklist. Send the responseId or the digest of the request whose items you ticked.",
		Fields: map[string]string{"digest": "is required to approve a request with a checklist, unless responseId is sent"},
	}
}

// checkEditTicks refuses an edit that brings the call under checklist items that its approver was not shown.
func checkEditTicks(a *models.Approval, j policy.Judgement) error {
	shown := a.Checklist()
	for _, item := range j.Checklist {
		if !slices.Contains(shown, item) {
			return models.Invalid("input",
				"the edited call falls under the rule “%s”, whose checklist is not shown here: reject the request, and have the agent ask for this input", j.Rule)
		}
	}
	return nil
}
