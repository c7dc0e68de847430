package api

import (
	"countersign/handlers/api/wire"
	"countersign/models"
)

// toolStatuses is the only table from the states of an approval to these words. They have no word for a request that
// was settled elsewhere or that ran without an answer: reason and cause say so.
var toolStatuses = map[models.Status]wire.ToolStatus{
	models.StatusNone:      wire.ToolApproved,
	models.StatusPending:   wire.ToolPending,
	models.StatusApproved:  wire.ToolApproved,
	models.StatusRejected:  wire.ToolRejected,
	models.StatusExpired:   wire.ToolTimedOut,
	models.StatusCancelled: wire.ToolCancelled,
	models.StatusResolved:  wire.ToolCancelled,
	models.StatusRan:       wire.ToolCancelled,
}

// toolAnswerOf is the short form of a call.
func toolAnswerOf(i *wire.Invocation) *wire.ToolAnswer {
	return &wire.ToolAnswer{
		RequiresApproval: i.RequiresApproval, Status: i.Status, Cause: i.Cause, ToolUseID: i.ToolUseID,
		ToolCallID: i.ToolCallID,
		JobID:      i.JobID, SessionID: i.SessionID, TimeoutAt: i.TimeoutAt, Reason: i.Reason, EditedInput: i.EditedInput,
		SuggestedInput: i.SuggestedInput, Reviewers: i.Reviewers, WaitingFor: i.WaitingFor, Held: i.Held, Signatures: i.Signatures,
		OpenNote: i.OpenNote, Removed: i.Removed,
	}
}

// invocationOf is the only mapping from an approval's current state to this surface. session is the caller's name for
// the session; empty if it gave none.
func invocationOf(a *models.Approval, session string) *wire.Invocation {
	status := a.Status()
	input, reported := inputOf(a)
	out := &wire.Invocation{
		ToolCallID: wire.ResponseID(a.ID), Agent: askerOf(a), JobID: a.JobID, SessionID: session, ToolName: a.ToolName,
		ToolInput: input, ReportedInput: reported,
		Content: a.Content, Explained: wire.Explained(a.AgentExplanation()), RequiresApproval: a.NeedsApproval(),
		Status: toolStatuses[status], Cause: wire.Cause(a.Cause),
		Risk: wire.Risk(a.Risk), Digest: a.Digest, Checklist: a.Checklist(), RequestedAt: requestedAt(a),
		Reason: a.Feedback(), Held: heldOf(a), OpenNote: openNoteOf(a), Removed: a.RemovedText(),
	}
	if a.Kind != models.KindToolCall {
		out.Kind = wire.Kind(a.Kind)
	}
	if a.ToolUseID != nil {
		out.ToolUseID = *a.ToolUseID
	}
	if out.SessionID == "" {
		out.SessionID = string(a.ConversationID)
		if a.RunID != nil {
			out.SessionID = *a.RunID
		}
	}
	if a.HasDeadline() {
		out.TimeoutAt = &a.ApprovalTimeoutAt
	}
	if d := decisionOf(a, status); d != nil {
		out.DecidedAt, out.DecidedBy, out.OnBehalfOf, out.Reason = &d.At, d.By, d.Behalf, d.Reason
		if out.SuggestedInput = d.Suggestion; d.Edited {
			out.EditedInput = d.Input
		}
	} else {
		out.Reason = a.PolicyReason
	}
	if shown(a) == wire.StatusResolved {
		out.Status = wire.ToolCancelled
	}
	if status == models.StatusResolved && out.Reason == "" {
		if out.Reason = "settled elsewhere"; a.Cause == models.CauseGone {
			out.Reason = "no longer known to the system that asked"
		}
	}
	return out
}

// toolInput translates the body to the use case's words. The policy alone says
// whether approval is needed.
func toolInput(r *wire.ToolRequest) (models.AskInput, error) {
	if r.ToolUseID == "" {
		return models.AskInput{}, models.Invalid("tool_use_id", "must name the call")
	}
	if r.SessionID == "" {
		return models.AskInput{}, models.Invalid("session_id", "must name the session")
	}
	return models.AskInput{
		ToolUseID: r.ToolUseID, JobID: r.JobID, ToolName: r.ToolName, Input: r.ToolInput, Session: r.SessionID,
		Explanation: models.Explanation(r.Explanation), Template: r.Template, AcceptsEdits: r.AcceptsEdits,
	}, nil
}

// toolDecision translates the body to the use case's words.
func toolDecision(r *wire.ToolDecision) (models.DecisionInput, error) {
	in := models.DecisionInput{Reason: r.Reason, Digest: r.Digest, Checked: r.Checked, Page: models.NoPage}
	if len(r.SuggestedInput) > 0 && string(r.SuggestedInput) != "null" {
		in.Suggestion = r.SuggestedInput
	}
	switch wire.ToolStatus(r.Decision) {
	case wire.ToolApproved:
		in.Approved = new(true)
	case wire.ToolRejected:
		in.Approved = new(false)
	case wire.ToolPending, wire.ToolTimedOut, wire.ToolCancelled:
		return in, errDecision()
	default:
		return in, errDecision()
	}
	return in, nil
}

func errDecision() error { return models.Invalid("decision", "must be APPROVED or REJECTED") }
