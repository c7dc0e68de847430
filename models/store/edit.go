package store

import (
	"fmt"
	"slices"

	"countersign/models"
	"countersign/models/ledger"
	"countersign/models/people"
	"countersign/models/policy"
)

// checkEdit stores both versions with their digests (I6), and evaluates the edited one against the policy again: a
// deny rule refuses it. The judgement is nil if nothing was changed. It refuses an edit where an approval can't change
// the input that runs: it is the one guard for every surface.
func (t *Tx) checkEdit(a *models.Approval, in models.DecisionInput, vote *models.Vote) (*policy.Judgement, error) {
	if in.Suggestion != nil {
		return nil, t.checkSuggested(a, in, vote)
	}
	if in.Input == nil {
		return nil, nil //nolint:nilnil // no edit, no judgement
	}
	digest, err := otherDigest("input", a, in.Input)
	if err != nil || digest == a.Digest {
		return nil, err // nothing was changed
	}
	if !a.TakesEdits() {
		return nil, takesNoEdits(a)
	}
	j, err := t.judgeEdit("input", a, in.Input, digest)
	if err != nil {
		return nil, err
	}
	if err := checkEditTicks(a, *j); err != nil {
		return nil, err
	}
	text := string(in.Input)
	vote.Input, vote.InputDigest = &text, &digest
	return j, nil
}

// checkSuggested keeps with a rejection the input that would be approved. It is no approval: the agent asks again with
// it, and a person is asked again.
func (t *Tx) checkSuggested(a *models.Approval, in models.DecisionInput, vote *models.Vote) error {
	const field = "suggestedInput"
	switch {
	case vote.Verdict != models.VerdictReject || in.Input != nil:
		return models.Invalid(field, "can only be sent with approved: false")
	case a.Kind != models.KindToolCall:
		return models.Invalid(field, "is for a tool call")
	}
	digest, err := otherDigest(field, a, in.Suggestion)
	if err != nil {
		return err
	}
	if digest == a.Digest {
		return models.Invalid(field, "is the input that was sent")
	}
	if _, err := t.judgeEdit(field, a, in.Suggestion, digest); err != nil {
		return err
	}
	text := string(in.Suggestion)
	vote.Input, vote.InputDigest = &text, &digest
	return nil
}

// otherDigest checks another input of a request and makes its digest.
func otherDigest(field string, a *models.Approval, input []byte) (string, error) {
	if a.Kind != models.KindToolCall && a.Kind != models.KindBudget {
		return "", models.Errorf(models.CodeWrongDecisionKind,
			"Only the input of a tool call or a budget request can be edited.")
	}
	if err := models.CheckEditSize(field, len(input)); err != nil {
		return "", err
	}
	canonical, err := models.Canonical(a.Kind, a.ToolName, input)
	if err != nil {
		return "", err
	}
	switch {
	case a.AsksForAllowance():
		_, err = a.EditedAllowance(input)
	case a.Kind == models.KindBudget:
		_, err = models.BudgetAsked(input)
	}
	return models.Digest(canonical), err
}

// judgeEdit has the policy judge another input of a request.
func (t *Tx) judgeEdit(field string, a *models.Approval, input []byte, digest string) (*policy.Judgement, error) {
	version, p, err := t.Policy()
	if err != nil {
		return nil, err
	}
	edited := judgedRow(a, string(input), t.Now)
	edited.digest = digest
	j, err := t.judge(version, p,
		policy.Call{Kind: a.Kind, ToolName: a.ToolName, Explicit: true, Template: a.Template, Pending: true}, edited)
	if err != nil {
		return nil, err
	}
	if j.Effect == policy.EffectDeny {
		return nil, models.Invalid(field, "the edited call is denied by the policy: %s", j.Reason)
	}
	return &j, nil
}

// takesNoEdits refuses an edited approval that the agent would not act on.
func takesNoEdits(a *models.Approval) error {
	text, field := "The agent would run the input that it sent: reject the request, and suggest the other input.", "can't be edited: the agent would run what it sent"
	if a.UpstreamID != nil {
		text, field = "The other system runs the call as it was sent: approve or reject it.", "can't be edited: the other system runs the call as it was sent"
	}
	return &models.Error{Code: models.CodeTakesNoEdits, Text: text, Fields: map[string]string{"input": field}}
}

var (
	waitingEdits = `SELECT v.* FROM votes v JOIN users u ON u.id = v.user_id
 WHERE v.response_id = ? AND v.withdrawn_at IS NULL AND v.waits_for <> '' AND ` + people.MayDecide(`u`) + ` ORDER BY v.at, v.id`
	waitingOf = `SELECT id FROM votes WHERE response_id = ? AND user_id = ? AND withdrawn_at IS NULL AND waits_for <> ''`
)

const keepWaiting = `UPDATE votes SET waits_for = ? WHERE id = ?`

// checkApprover refuses an approval or answer by somebody whom the request's rule
// does not let give one (not_a_reviewer). An edit is also under the rule that the
// policy has for the edited call now: where that rule wants others, the vote waits
// for them. They may approve the same edit though the request's own rule does not
// name them, since somebody whom it lets has approved it.
func (t *Tx) checkApprover(actor models.Actor, a *models.Approval, vote *models.Vote, edited *policy.Judgement) error {
	if vote.Verdict == models.VerdictReject {
		return t.mayReject(actor, a, vote)
	}
	if edited != nil && edited.Signed() {
		return signedByOthers(edited)
	}
	if edited == nil || !edited.ReviewersOnly && edited.SelfApproval != models.SelfNever {
		if err := t.mayApprove(actor, a, vote); err != nil || edited == nil || !edited.NoSubstitutes || vote.BehalfOf == "" {
			return err
		}
		return models.Invalid("input", "the edited call falls under the rule “%s”, which lets nobody act for others",
			edited.Rule)
	}
	now := models.Response{ID: a.ID, OwnerID: a.OwnerID}
	edited.Escalate, edited.Readers = nil, nil // the request's own steps go on, and its own readers see it
	_, able, err := t.whoDecides(&now, *edited)
	if err != nil {
		return err
	}
	if !able {
		return models.Invalid("input", "the edited call falls under the rule “%s”, and nobody can approve it there",
			edited.Rule)
	}
	if err := t.mayApprove(actor, a, vote); err != nil {
		return err
	}
	suffices, err := t.allows(now.Approvers(), now.OwnerID, actor.UserID())
	if err == nil && !suffices {
		vote.WaitFor(now.Approvers())
	}
	return err
}

// mayApprove judges by the request's own rule.
func (t *Tx) mayApprove(actor models.Actor, a *models.Approval, vote *models.Vote) error {
	right, err := t.rightOf(actor, a)
	if err != nil {
		return err
	}
	if right.OnBehalf != nil {
		vote.BehalfOf, vote.BehalfName = right.OnBehalf.ID, right.OnBehalf.Name
	}
	if right.MayApprove {
		return nil
	}
	if right.Own && vote.InputDigest != nil {
		c, err := t.rightsReader()
		if err != nil {
			return err
		}
		if able, err := t.signedBefore(c, a, vote); err != nil || able {
			return err
		}
	}
	if !right.Own && right.OnBehalf == nil {
		return notAReviewer(a.Approvers(), "You only see this request. ")
	}
	return notAReviewer(a.Approvers(), "You can't approve this request; you may reject it. ")
}

// signedBefore reports whether somebody else, who may approve a request, has signed the same edit.
func (t *Tx) signedBefore(c rightsReader, a *models.Approval, vote *models.Vote) (bool, error) {
	edits, err := t.waitingEdits(a.ID)
	if err != nil {
		return false, err
	}
	for i := range edits {
		v := &edits[i]
		if v.UserID == vote.UserID || *v.InputDigest != *vote.InputDigest {
			continue
		}
		if able, err := c.proposalCounts(a, v); err != nil || able {
			return able, err
		}
	}
	return false, nil
}

// waitingEdits are the edits of a request that wait for somebody's approval.
func (t *Tx) waitingEdits(id models.ResponseID) ([]models.Vote, error) {
	var votes []models.Vote
	if err := t.Gorm().Raw(waitingEdits, id).Scan(&votes).Error; err != nil {
		return nil, fmt.Errorf("read proposed edits: %w", err)
	}
	return votes, nil
}

// proposeEdit keeps an approval with an edit until somebody whom the policy wants
// has approved the same edit. The request stays pending for everybody, and goes to
// their inboxes. It takes the place of what its voter proposed before.
func (t *Tx) proposeEdit(actor models.Actor, a *models.Approval, vote *models.Vote) (*models.Approval, error) {
	if _, err := t.withdrawEach(waitingOf, a.ID, vote.UserID); err != nil {
		return nil, err
	}
	if err := t.addVote(vote); err != nil {
		return nil, err
	}
	if err := t.Gorm().Exec(keepWaiting, vote.WaitsFor, vote.ID).Error; err != nil {
		return nil, fmt.Errorf("keep proposed edit: %w", err)
	}
	who, _ := vote.Waits()
	var reviewers []models.UserID
	var groups []string
	for _, p := range who.Asked() {
		switch {
		case p.Group != "":
			groups = append(groups, p.Group)
		case p.ID != a.OwnerID:
			reviewers = append(reviewers, p.ID)
		}
	}
	reviewers, err := t.andMembers(&a.Response, reviewers, groups)
	if err != nil {
		return nil, err
	}
	if err := t.addDeciders(&a.Response, reviewers); err != nil {
		return nil, err
	}
	if err := t.reroute(actor, a); err != nil {
		return nil, err
	}
	if err := t.editAwaits(a, vote); err != nil {
		return nil, err
	}
	readers, err := t.tellDeciders(a)
	if err != nil {
		return nil, err
	}
	a.Vote = vote
	return a, t.Record(actor, "approval.voted", ledger.SubjectOf(&a.Response, readers), settledEntry{
		Digest: a.Digest, Status: models.StatusPending, Verdict: vote.Verdict, Edited: vote.InputDigest,
		Reason: models.DigestOfText(vote.Reason),
		Seen:   vote.SeenDigest != "", Checked: vote.Ticked(), Behalf: vote.BehalfOf, ForName: vote.BehalfName, Vote: vote.ID,
		WaitsFor: models.DigestOfText(vote.WaitsFor), Reviewers: slices.Sorted(slices.Values(readers)),
	})
}

// dropEdit withdraws what a person proposed; false: there was nothing.
func (t *Tx) dropEdit(actor models.Actor, a *models.Approval) (bool, error) {
	verdict := models.VerdictApprove
	if s, err := t.ballot(&a.Response); err != nil {
		return false, err
	} else if s != nil && s.own(actor.UserID()) != nil {
		verdict = s.own(actor.UserID()).Verdict
	}
	if n, err := t.withdrawEach(waitingOf, a.ID, actor.UserID()); err != nil || n == 0 {
		return false, err
	}
	readers, err := t.tellDeciders(a)
	if err != nil {
		return false, err
	}
	return true, t.Record(actor, "approval.taken_back", ledger.SubjectOf(&a.Response, readers), settledEntry{
		Digest: a.Digest, Status: models.StatusPending, Verdict: verdict,
	})
}
