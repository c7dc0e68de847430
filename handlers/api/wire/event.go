package wire

import (
	"encoding/json"
	"time"
)

// ApprovalRequired tells that a request waits for a person.
type ApprovalRequired struct {
	ApprovalID  ResponseID      `json:"approvalId"`
	Agent       Asker           `json:"agent"`
	Kind        Kind            `json:"kind"`
	ToolName    string          `json:"toolName"`
	Input       json.RawMessage `json:"input"`
	Reported    json.RawMessage `json:"reportedInput,omitempty"` // only where another input runs
	Content     string          `json:"content,omitempty"`
	Description string          `json:"description"`
	Digest      string          `json:"digest"`
	Risk        Risk            `json:"risk"`
	Timestamp   time.Time       `json:"timestamp"`
	TimeoutAt   *time.Time      `json:"timeoutAt"`
}

// ApprovalSettled tells how a request ended.
type ApprovalSettled struct {
	ApprovalID ResponseID `json:"approvalId"`
	Kind       Kind       `json:"kind"`
	ToolName   string     `json:"toolName"`
	Status     Status     `json:"status"`
	Cause      Cause      `json:"cause"`
	Advice     string     `json:"advice"`
	Decision   *Decision  `json:"decision"`
	Timestamp  time.Time  `json:"timestamp"`
	Approved   bool       `json:"approved"`
	Reason     string     `json:"reason"`
	Response   Responded  `json:"response"`
}

// ApprovalAskedBack tells that a reviewer asks something about a request, and how
// its clock runs now.
type ApprovalAskedBack struct {
	ApprovalID ResponseID `json:"approvalId"`
	OpenNote   *OpenNote  `json:"openNote"` // null: it was answered meanwhile
	TimeoutAt  *time.Time `json:"timeoutAt"`
}

// NewApproval tells of requests of one run that wait.
type NewApproval struct {
	Approvals []RunApproval `json:"approvals"`
	RunID     *string       `json:"run_id"`
}

// RunApproval is a request that waits, in the words of /v1/events: those of the
// specification, and ours beside them.
type RunApproval struct {
	ID           ResponseID      `json:"id"` // as approval_resolved.approval_id
	CallID       *string         `json:"call_id"`
	RunID        *string         `json:"run_id"`
	Type         string          `json:"type"`   // function_call, or human_contact for a question
	Status       Status          `json:"status"` // as of the event
	FunctionName string          `json:"function_name"`
	FunctionArgs json.RawMessage `json:"function_args"`
	RequestedAt  time.Time       `json:"requested_at"`

	ApprovalID  ResponseID      `json:"approval_id"`
	SessionID   ConversationID  `json:"session_id"`
	Agent       Asker           `json:"agent"`
	Kind        Kind            `json:"kind"`
	ToolName    string          `json:"tool_name"`
	ToolInput   json.RawMessage `json:"tool_input"`
	Reported    json.RawMessage `json:"reported_input,omitempty"` // only where another input runs
	Content     string          `json:"content,omitempty"`
	Description string          `json:"description"`
	CreatedAt   time.Time       `json:"created_at"`
	TimeoutAt   *time.Time      `json:"timeout_at"`
}

// ApprovalResolved tells how a request ended, in the words of /v1/events.
type ApprovalResolved struct {
	ApprovalID ResponseID     `json:"approval_id"`
	CallID     *string        `json:"call_id"`
	RunID      *string        `json:"run_id"`
	Decision   string         `json:"decision"` // approved, denied, or resolved: settled at another system
	Approved   *bool          `json:"approved"` // null: resolved, so that only the other system knows
	Status     Status         `json:"status"`
	Cause      Cause          `json:"cause"`
	SessionID  ConversationID `json:"session_id"`
}

// SessionStatusChanged gives the old and new status of a conversation.
type SessionStatusChanged struct {
	SessionID ConversationID     `json:"session_id"`
	OldStatus ConversationStatus `json:"old_status"`
	NewStatus ConversationStatus `json:"new_status"`
}
