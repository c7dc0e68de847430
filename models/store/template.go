package store

import (
	"slices"
	"strings"

	"countersign/models"
	"countersign/models/policy"
)

// unknownTemplate tells an agent which templates it may name.
func unknownTemplate(p *policy.Policy) *models.Error {
	names := p.TemplateNames()
	if len(names) == 0 {
		return models.Invalid("template", "names no template: the policy has none")
	}
	return models.Invalid("template", "must be the name of a template of the policy: %s", strings.Join(names, ", "))
}

// decidedBefore reports whether a grant may let a call through that a person would be asked
// about. Whoever made one has ticked nothing for this call, and an agent that names a
// template asks for a person.
func decidedBefore(q *asked, j policy.Judgement) bool {
	return q.Template == "" && len(j.Checklist) == 0
}

// checkTicks keeps with a vote what its voter ticked; CodeInvalid unless that is all.
func checkTicks(a *models.Approval, in models.DecisionInput, vote *models.Vote) (err error) {
	if vote.Verdict != models.VerdictReject {
		vote.Checked, err = a.Ticks(in.Checked)
	}
	return err
}

// checkTicksName refuses to approve whatever is newest in a conversation where that has a
// checklist: ticks are numbers, and may have been made for the request before it.
func checkTicksName(a *models.Approval, d models.ConversationDecision) error {
	if d.Approved == nil || !*d.Approved || d.ResponseID != "" || d.Digest != "" || len(a.Checklist()) == 0 {
		return nil
	}
	return &models.Error{
		Code: models.CodeDigestRequired, Text: "This request has a checklist. Send the responseId or the digest of the request whose items you ticked.",
		Fields: map[string]string{"digest": "is required to approve a request with a checklist, unless responseId is sent"},
	}
}

// checkEditTicks refuses an edit that makes of a call one whose checklist has items that
// nobody was shown.
func checkEditTicks(a *models.Approval, j policy.Judgement) error {
	shown := a.Checklist()
	for _, item := range j.Checklist {
		if !slices.Contains(shown, item) {
			return models.Invalid("input", "the edited call falls under the rule “%s”, whose checklist is not shown here: reject the request, and have the agent ask for this input", j.Rule)
		}
	}
	return nil
}
