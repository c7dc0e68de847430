package api

import (
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

// RunApproval is a request that waits, in the words of /v1/events.
type RunApproval struct {
	ApprovalID  models.ResponseID     `json:"approval_id"`
	CallID      *string               `json:"call_id"`
	RunID       *string               `json:"run_id"`
	SessionID   models.ConversationID `json:"session_id"`
	Kind        models.Kind           `json:"kind"`
	ToolName    string                `json:"tool_name"`
	ToolInput   json.RawMessage       `json:"tool_input"`
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
	Decision   models.Status         `json:"decision"`
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
	return &ApprovalRequired{
		ApprovalID: a.ID, Kind: a.Kind, ToolName: a.ToolName, Input: rawOf(a.ToolInputJSON), Content: a.Content, Description: a.Description,
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
	return &NewApproval{RunID: a.RunID, Approvals: []RunApproval{{
		ApprovalID: a.ID, CallID: callID(a), RunID: a.RunID, SessionID: a.ConversationID, Kind: a.Kind,
		ToolName: a.ToolName, ToolInput: rawOf(a.ToolInputJSON), Content: a.Content, Description: a.Description, CreatedAt: a.CreatedAt, TimeoutAt: timeoutOf(a),
	}}}
}

func approvalResolved(h *store.Happening) any {
	a := h.Approval
	return &ApprovalResolved{ApprovalID: a.ID, CallID: callID(a), RunID: a.RunID, Decision: shown(a.Status()), Cause: a.Cause, SessionID: a.ConversationID}
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
