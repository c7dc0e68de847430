package api

import (
	"cmp"
	"encoding/json"
	"time"

	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/requests"
)

func approvalRequired(h *requests.FeedEvent) any {
	a := h.Approval
	input, reported := inputOf(a)
	return &wire.ApprovalRequired{
		ApprovalID: wire.ResponseID(a.ID), Agent: askerOf(a), Kind: wire.Kind(a.Kind), ToolName: a.ToolName, Input: input,
		Reported: reported, Content: a.Content, Description: a.Description,
		Digest: a.Digest, Risk: wire.Risk(a.Risk), Timestamp: requestedAt(a), TimeoutAt: timeoutOf(a),
	}
}

func approvalSettled(h *requests.FeedEvent) any {
	a := h.Approval
	status := a.Status()
	out := &wire.ApprovalSettled{
		ApprovalID: wire.ResponseID(a.ID), Kind: wire.Kind(a.Kind), ToolName: a.ToolName, Status: shown(a),
		Cause:  wire.Cause(a.Cause),
		Advice: a.Advice(status), Decision: decisionOf(a, status), Timestamp: requestedAt(a),
	}
	if d := out.Decision; d != nil {
		out.Approved, out.Reason, out.Response = d.Approved, d.Reason, wire.Responded{
			Approved: d.Approved, Reason: d.Reason, Timestamp: d.At,
		}
	}
	return out
}

func approvalAskedBack(h *requests.FeedEvent) any {
	return &wire.ApprovalAskedBack{
		ApprovalID: wire.ResponseID(h.Approval.ID), OpenNote: openNoteOf(h.Approval), TimeoutAt: timeoutOf(h.Approval),
	}
}

func invocationNow(h *requests.FeedEvent) any { return invocationOf(h.Approval, "") }

func newApproval(h *requests.FeedEvent) any {
	a := h.Approval
	kind, name, args := functionOf(a)
	input, reported := inputOf(a)
	return &wire.NewApproval{RunID: a.AskedRun(), Approvals: []wire.RunApproval{{
		ID: wire.ResponseID(a.ID), Type: kind, Status: wire.StatusPending, FunctionName: name, FunctionArgs: args,
		RequestedAt: a.AskedTime(),
		ApprovalID:  wire.ResponseID(a.ID), CallID: callID(a), RunID: a.AskedRun(),
		SessionID: wire.ConversationID(a.ConversationID), Agent: askerOf(a), Kind: wire.Kind(a.Kind),
		ToolName: a.ToolName, ToolInput: input, Reported: reported, Content: a.Content, Description: a.Description,
		CreatedAt: a.CreatedAt, TimeoutAt: timeoutOf(a),
	}}}
}

func approvalResolved(h *requests.FeedEvent) any {
	a := h.Approval
	decision, approved := "denied", new(false)
	switch shown(a) { //nolint:exhaustive // all others are no approval
	case wire.StatusApproved:
		decision, approved = "approved", new(true)
	case wire.StatusResolved:
		decision, approved = "resolved", nil // how is known elsewhere only
	}
	return &wire.ApprovalResolved{
		ApprovalID: wire.ResponseID(a.ID), CallID: callID(a), RunID: a.AskedRun(), Decision: decision, Approved: approved,
		Status: shown(a), Cause: wire.Cause(a.Cause), SessionID: wire.ConversationID(a.ConversationID),
	}
}

// functionOf is a request as a function and its arguments. A question is a contact with a message; a request that is
// not a call has its kind as the name.
func functionOf(a *models.Approval) (kind, name string, args json.RawMessage) {
	const call, contact = "function_call", "human_contact"
	members := map[string]any{}
	switch a.Kind {
	case models.KindQuestion:
		members["message"] = a.Description
		if options, err := a.OptionList(); err == nil && len(options) > 0 {
			members["options"] = options
		}
		kind = contact
	case models.KindProposal, models.KindReply:
		members["content"] = a.Content
		kind = call
	case models.KindToolCall, models.KindBudget:
		input, _ := inputOf(a)
		return call, a.ToolName, input
	}
	args, err := json.Marshal(members)
	if err != nil {
		args = json.RawMessage(`{}`)
	}
	return kind, cmp.Or(a.ToolName, string(a.Kind)), args
}

// callID is what the one who asked calls a request: another system its own id,
// an agent its tool use.
func callID(a *models.Approval) *string {
	if a.CallID != nil {
		return a.CallID
	}
	return a.ToolUseID
}

func statusChanged(c *models.StatusChange) any {
	return &wire.SessionStatusChanged{
		SessionID: wire.ConversationID(c.Conversation), OldStatus: wire.ConversationStatus(c.Old),
		NewStatus: wire.ConversationStatus(c.New),
	}
}

// requestedAt is when approval was asked for.
func requestedAt(a *models.Approval) time.Time {
	if a.ApprovalRequestedAt != nil {
		return *a.ApprovalRequestedAt
	}
	return a.CreatedAt
}

func timeoutOf(a *models.Approval) *time.Time {
	if !a.HasDeadline() {
		return nil
	}
	return &a.ApprovalTimeoutAt
}
