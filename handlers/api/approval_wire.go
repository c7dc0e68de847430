package api

import (
	"cmp"
	"encoding/json"

	"countersign/handlers"
	"countersign/handlers/api/wire"
	"countersign/models"
)

// policyOf is the outcome of the policy, frozen at the ask (I12).
func policyOf(a *models.Approval) wire.Policy {
	return wire.Policy{
		Version: a.PolicyVersion, Rule: a.PolicyRule, Reason: a.PolicyReason,
		ReviewersOnly: a.ReviewersOnly, SelfApproval: wire.SelfApproval(cmp.Or(a.Approvers().SelfApproval, models.SelfAllowed)),
		Checklist: a.Checklist(), Text: a.TemplateText,
	}
}

// approvalOf is the one mapping from a stored approval, as it is now, to
// the wire.
func approvalOf(kit handlers.Kit, a *models.Approval) *wire.Approval {
	status := a.Status()
	input, reported := inputOf(a)
	out := &wire.Approval{
		ApprovalID: wire.ResponseID(a.ID), ConversationID: wire.ConversationID(a.ConversationID), Agent: askerOf(a),
		Sequence: a.Sequence,
		Kind:     wire.Kind(a.Kind), ToolName: a.ToolName, Input: input, ReportedInput: reported, Options: optionsOf(a.Options),
		Content: a.Content, EnergyBudget: a.EnergyBudget, Explained: wire.Explained(a.AgentExplanation()),
		ToolUseID: a.ToolUseID, JobID: a.JobID, RunID: a.AskedRun(),
		Digest: a.Digest, Risk: wire.Risk(a.Risk), Status: shown(a), Cause: wire.Cause(a.Cause),
		GrantID: (*wire.GrantID)(a.GrantID), Advice: a.Advice(status),
		RequiresApproval: a.NeedsApproval(), RequestedAt: requestedAt(a), Timestamp: requestedAt(a),
		ClaimedAt: a.ClaimedTime(),
		Decision:  decisionOf(a, status), Held: heldOf(a), OpenNote: openNoteOf(a), Policy: policyOf(a),
		AcceptsEdits: a.TakesEdits(), Template: a.Template,
		URL: kit.ApprovalURL(a.ID), Removed: a.RemovedText(),
	}
	if a.HasDeadline() {
		out.TimeoutAt = &a.ApprovalTimeoutAt
	}
	respond(out)
	return out
}

// askerOf names the agent that asks, and its owner.
func askerOf(a *models.Approval) wire.Asker {
	return wire.Asker{
		ID: wire.AgentID(a.AgentID), Name: a.AgentName,
		Owner: wire.Named[wire.UserID]{ID: wire.UserID(a.OwnerID), Name: a.OwnerName},
	}
}

// respond repeats the decision under the names that other clients read.
func respond(one *wire.Approval) {
	if d := one.Decision; d != nil {
		one.Response = &wire.Responded{Approved: d.Approved, Reason: d.Reason, Timestamp: d.At}
		one.Approved, one.Reason = &one.Response.Approved, &one.Response.Reason
	}
}

// shown is the word for a request's status. A call that needed no approval shows as approved, with requiresApproval
// false (I10). An approval that releases nothing shows as resolved: a client that reads only this word would otherwise
// run its own input.
func shown(a *models.Approval) wire.Status {
	switch status := a.Status(); {
	case status != models.StatusNone && status != models.StatusApproved:
		return wire.Status(status)
	case a.Withheld() != "":
		return wire.StatusResolved
	}
	return wire.StatusApproved
}

func decisionOf(a *models.Approval, status models.Status) *wire.Decision {
	if status == models.StatusPending {
		return nil
	}
	d := &wire.Decision{Approved: shown(a) == wire.StatusApproved, Reason: a.Feedback(), At: a.CreatedAt}
	if a.ApprovalTimestamp != nil {
		d.At = *a.ApprovalTimestamp
	}
	if (status == models.StatusNone || status == models.StatusRan) && d.Reason == "" {
		d.Reason = a.PolicyReason
	}
	if d.Approved && (a.Kind == models.KindToolCall || a.Kind == models.KindBudget) {
		d.Input, _ = inputOf(a)
		_, d.Edited = a.OtherInput()
	}
	if v := a.Vote; v != nil {
		d.By = &wire.Decider{ID: wire.UserID(v.UserID), Name: v.UserName}
		if v.BehalfOf != "" {
			d.Behalf = &wire.Decider{ID: wire.UserID(v.BehalfOf), Name: v.BehalfName}
		}
		d.Answer, d.Option, d.Checked = v.Answer, v.Option, v.Ticked()
		if text, edited := v.ApprovedInput(); edited && d.Approved {
			d.Edited, d.Input = true, rawOf(text)
		}
	}
	if a.IsRemoved() {
		d.Input, d.Answer, d.Option = nil, nil, nil
	}
	d.Signed = signedOf(a.Signatures)
	// Signatures are read for people only: an agent hears of no person's way.
	d.BrokeGlass = len(d.Signed) > 0 && a.Vote != nil && a.Vote.BrokeGlass()
	if text, ok := a.Suggested(); ok {
		d.Suggestion = rawOf(text)
	}
	if why := a.Withheld(); why != "" {
		d.Reason = why
	}
	return d
}

func rawOf(stored string) json.RawMessage {
	if stored == "" {
		return nil
	}
	return json.RawMessage(stored)
}

func optionsOf(stored string) []wire.Option {
	if stored == "" {
		return nil
	}
	var options []wire.Option
	if err := json.Unmarshal([]byte(stored), &options); err != nil {
		return nil // the store wrote it
	}
	return options
}

func optionsIn(sent []wire.Option) []models.Option {
	if sent == nil {
		return nil
	}
	options := make([]models.Option, 0, len(sent))
	for _, o := range sent {
		options = append(options,
			models.Option{Name: o.Name, Title: o.Title, Description: o.Description, PromptFill: o.PromptFill})
	}
	return options
}

// askInput translates the body to the use case's words.
func askInput(r *wire.AskRequest) models.AskInput {
	in := models.AskInput{
		ApprovalID: r.ApprovalID, ConversationID: r.ConversationID, RunID: r.RunID, ToolUseID: r.ToolUseID, JobID: r.JobID,
		Kind: models.Kind(r.Kind), ToolName: r.ToolName, Input: r.Input, Options: optionsIn(r.Options),
		Explanation: models.Explanation(r.Explanation), Join: r.Join, AcceptsEdits: r.AcceptsEdits,
		TimeoutSeconds: r.TimeoutSeconds, Template: r.Template, Energy: r.Energy, Explicit: true, ClaimedAt: r.Timestamp,
	}
	if r.Fallback != nil {
		in.FallbackAt = r.Fallback.At
	}
	return in
}

// decisionInput translates the body to the use case's words. A null input is no
// edit: clients that send every member mean "not edited" by it.
func decisionInput(r *wire.RespondRequest) models.DecisionInput {
	in := models.DecisionInput{
		Approved: r.Approved, Reason: r.Reason, Digest: r.Digest, Answer: r.Answer, Option: r.Option, Checked: r.Checked,
		BreakGlass: r.BreakGlass,
		Page:       models.NoPage,
	}
	if len(r.Input) > 0 && string(r.Input) != "null" {
		in.Input = r.Input
	}
	if len(r.SuggestedInput) > 0 && string(r.SuggestedInput) != "null" {
		in.Suggestion = r.SuggestedInput
	}
	return in
}
