package models

// AdviceOtherInput is the advice to an asker where a person would allow another input than the one that it sent, and it
// takes no other.
const AdviceOtherInput = "approved with another input: ask again with it"

// AdviceStopped is the advice to a stopped agent about an approval: work that it has not done yet waits until the stop
// is lifted.
const AdviceStopped = "this agent is stopped: do not act on this approval before the stop is lifted"

// TakesEdits reports whether an approval can change the input that runs. A client that did not say so would run the
// input that it has, and another system runs the one that it asked about: there a person rejects, and suggests the
// other input. The server itself sets an approved budget.
func (r *Response) TakesEdits() bool {
	switch r.Kind {
	case KindBudget:
		return true
	case KindToolCall:
		return r.AcceptsEdits && r.Protocol == "" && r.UpstreamID == nil
	case KindReply, KindProposal, KindQuestion:
	}
	return false
}

// ApprovedInput is the input that was approved in the place of the one that was sent; false:
// that one was, or nothing.
func (v *Vote) ApprovedInput() (string, bool) {
	if v == nil || v.Input == nil || v.Verdict != VerdictApprove {
		return "", false
	}
	return *v.Input, true
}

// SuggestedInput is the input that the rejecting person would approve; false: they named none.
func (v *Vote) SuggestedInput() (string, bool) {
	if v == nil || v.Input == nil || v.Verdict != VerdictReject {
		return "", false
	}
	return *v.Input, true
}

// Withheld is why nothing may be done on account of an approval or an allowing rule, in words for its agent; empty: it
// may.
func (a *Approval) Withheld() string {
	status := a.Status()
	if status != StatusApproved && status != StatusNone {
		return ""
	}
	if a.ContentsGone() {
		return AdviceRemoved
	}
	if _, edit := a.Vote.ApprovedInput(); edit && !a.TakesEdits() {
		return AdviceOtherInput
	}
	if a.Stopped && a.Kind != KindQuestion { // an answer runs nothing
		return AdviceStopped
	}
	return ""
}

// MayRun is that of the Response, and looks at the decision: one that its client would not act
// on as it was made lets nothing run.
func (a *Approval) MayRun() bool { return a.Response.MayRun() && a.Withheld() == "" }

// NeedsApproval is that of the Response; an allowed call that may not run any more does need one, for a client may read
// this member alone.
func (a *Approval) NeedsApproval() bool {
	return a.Response.NeedsApproval() || a.LetThrough() && a.Withheld() != ""
}

// Advice is that of the Response, and looks at the decision.
func (a *Approval) Advice(status Status) string {
	if why := a.Withheld(); why != "" {
		return why
	}
	if _, suggests := a.Suggested(); suggests && status == StatusRejected {
		return "A person rejected this and would approve another input: do not run what was sent, and ask again under a new key with decision.suggestedInput; heed decision.reason if there is one."
	}
	return a.Response.Advice(status)
}

// Suggested is the input with which the agent may ask again: it was suggested beside a
// rejection, or approved where the agent takes no other than its own. False: there is none,
// or it is no longer kept.
func (a *Approval) Suggested() (string, bool) {
	if a.IsRemoved() {
		return "", false
	}
	switch a.Status() {
	case StatusRejected:
		return a.Vote.SuggestedInput()
	case StatusApproved:
		if !a.TakesEdits() {
			return a.Vote.ApprovedInput()
		}
	case StatusNone, StatusPending, StatusExpired, StatusCancelled, StatusResolved, StatusRan:
	}
	return "", false
}
