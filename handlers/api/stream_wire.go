package api

import (
	"cmp"
	"encoding/json"
	"time"

	"countersign/models"
	"countersign/models/store"
)

// ApprovalRequired tells that a request waits for a person.
type ApprovalRequired struct {
	ApprovalID  models.ResponseID `json:"approvalId"`
	Kind        models.Kind       `json:"kind"`
	ToolName    string            `json:"toolName"`
	Input       json.RawMessage   `json:"input"`
	Reported    json.RawMessage   `json:"reportedInput,omitempty"` // only where another input runs
	Content     string            `json:"content,omitempty"`
	Description string            `json:"description"`
	Digest      string            `json:"digest"`
	Risk        models.Risk       `json:"risk"`
	Timestamp   time.Time         `json:"timestamp"`
	TimeoutAt   *time.Time        `json:"timeoutAt"`
}

// ApprovalSettled tells how a request ended.
type ApprovalSettled struct {
	ApprovalID models.ResponseID `json:"approvalId"`
	Kind       models.Kind       `json:"kind"`
	ToolName   string            `json:"toolName"`
	Status     models.Status     `json:"status"`
	Cause      models.Cause      `json:"cause"`
	Advice     string            `json:"advice"`
	Decision   *Decision         `json:"decision"`
	Timestamp  time.Time         `json:"timestamp"`
	Approved   bool              `json:"approved"`
	Reason     string            `json:"reason"`
	Response   Responded         `json:"response"`
}

// ApprovalAskedBack tells that a reviewer asks something about a request, and how
// its clock runs now.
type ApprovalAskedBack struct {
	ApprovalID models.ResponseID `json:"approvalId"`
	OpenNote   *OpenNote         `json:"openNote"` // null: it was answered meanwhile
	TimeoutAt  *time.Time        `json:"timeoutAt"`
}

// NewApproval tells of requests of one run that wait.
type NewApproval struct {
	Approvals []RunApproval `json:"approvals"`
	RunID     *string       `json:"run_id"`
}

// RunApproval is a request that waits, in the words of /v1/events: those of the
// specification, and ours beside them.
type RunApproval struct {
	ID           models.ResponseID `json:"id"` // as approval_resolved.approval_id
	CallID       *string           `json:"call_id"`
	RunID        *string           `json:"run_id"`
	Type         string            `json:"type"`   // function_call, or human_contact for a question
	Status       models.Status     `json:"status"` // as of the event
	FunctionName string            `json:"function_name"`
	FunctionArgs json.RawMessage   `json:"function_args"`
	RequestedAt  time.Time         `json:"requested_at"`

	ApprovalID  models.ResponseID     `json:"approval_id"`
	SessionID   models.ConversationID `json:"session_id"`
	Kind        models.Kind           `json:"kind"`
	ToolName    string                `json:"tool_name"`
	ToolInput   json.RawMessage       `json:"tool_input"`
	Reported    json.RawMessage       `json:"reported_input,omitempty"` // only where another input runs
	Content     string                `json:"content,omitempty"`
	Description string                `json:"description"`
	CreatedAt   time.Time             `json:"created_at"`
	TimeoutAt   *time.Time            `json:"timeout_at"`
}

// ApprovalResolved tells how a request ended, in the words of /v1/events.
type ApprovalResolved struct {
	ApprovalID models.ResponseID     `json:"approval_id"`
	CallID     *string               `json:"call_id"`
	RunID      *string               `json:"run_id"`
	Decision   string                `json:"decision"` // approved or denied
	Status     models.Status         `json:"status"`
	Cause      models.Cause          `json:"cause"`
	SessionID  models.ConversationID `json:"session_id"`
}

// SessionStatusChanged tells where a conversation stands now.
type SessionStatusChanged struct {
	SessionID models.ConversationID     `json:"session_id"`
	OldStatus models.ConversationStatus `json:"old_status"`
	NewStatus models.ConversationStatus `json:"new_status"`
}

func approvalRequired(h *store.Happening) any {
	a := h.Approval
	input, reported := inputOf(a)
	return &ApprovalRequired{
		ApprovalID: a.ID, Kind: a.Kind, ToolName: a.ToolName, Input: input, Reported: reported, Content: a.Content, Description: a.Description,
		Digest: a.Digest, Risk: a.Risk, Timestamp: requestedAt(a), TimeoutAt: timeoutOf(a),
	}
}

func approvalSettled(h *store.Happening) any {
	a := h.Approval
	status := a.Status()
	out := &ApprovalSettled{
		ApprovalID: a.ID, Kind: a.Kind, ToolName: a.ToolName, Status: shown(status), Cause: a.Cause,
		Advice: a.Advice(status), Decision: decisionOf(a, status), Timestamp: requestedAt(a),
	}
	if d := out.Decision; d != nil {
		out.Approved, out.Reason, out.Response = d.Approved, d.Reason, Responded{Approved: d.Approved, Reason: d.Reason, Timestamp: d.At}
	}
	return out
}

func approvalAskedBack(h *store.Happening) any {
	return &ApprovalAskedBack{ApprovalID: h.Approval.ID, OpenNote: openNoteOf(h.Approval), TimeoutAt: timeoutOf(h.Approval)}
}

func invocationNow(h *store.Happening) any { return invocationOf(h.Approval, "") }

func newApproval(h *store.Happening) any {
	a := h.Approval
	asked := a.CreatedAt
	if a.ApprovalRequestedAt != nil {
		asked = *a.ApprovalRequestedAt
	}
	kind, name, args := functionOf(a)
	input, reported := inputOf(a)
	return &NewApproval{RunID: a.RunID, Approvals: []RunApproval{{
		ID: a.ID, Type: kind, Status: models.StatusPending, FunctionName: name, FunctionArgs: args, RequestedAt: asked,
		ApprovalID: a.ID, CallID: callID(a), RunID: a.RunID, SessionID: a.ConversationID, Kind: a.Kind,
		ToolName: a.ToolName, ToolInput: input, Reported: reported, Content: a.Content, Description: a.Description, CreatedAt: a.CreatedAt, TimeoutAt: timeoutOf(a),
	}}}
}

func approvalResolved(h *store.Happening) any {
	a := h.Approval
	decision := "denied"
	if shown(a.Status()) == models.StatusApproved {
		decision = "approved"
	}
	return &ApprovalResolved{
		ApprovalID: a.ID, CallID: callID(a), RunID: a.RunID, Decision: decision, Status: shown(a.Status()), Cause: a.Cause, SessionID: a.ConversationID,
	}
}

// functionOf is a request as a function and its arguments. A question is a contact
// with a message; what is no call has its kind for a name.
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
	return &SessionStatusChanged{SessionID: c.Conversation, OldStatus: c.Old, NewStatus: c.New}
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
