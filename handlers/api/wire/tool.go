package wire

import (
	"encoding/json"
	"time"
)

// ToolRequest is what an orchestrator sends before a tool runs.
type ToolRequest struct {
	ToolUseID string          `json:"tool_use_id" doc:"The orchestrator's name for the call: the same in the same session is the same call"`
	JobID     string          `json:"job_id,omitempty"`
	ToolName  string          `json:"tool_name"`
	ToolInput json.RawMessage `json:"tool_input,omitzero" doc:"Any JSON value, kept exactly as sent; {} if left out"`
	SessionID string          `json:"session_id" doc:"Any string: the id of a conversation of the agent's own, or a run id; an unknown one opens a conversation with it as run id"`
	Explanation

	AcceptsEdits bool   `json:"accepts_edits,omitzero" doc:"True: the orchestrator runs edited_input where there is one. Without it nobody can approve another input: a reviewer who would is offered a rejection with suggested_input"`
	Template     string `json:"template,omitempty" doc:"The name of a template of the policy, which can only make the call stricter: it waits for a person"`
}

// ToolStatus is the state of a call, in the words of this surface.
type ToolStatus string

// The words.
const (
	ToolPending   ToolStatus = "PENDING"
	ToolApproved  ToolStatus = "APPROVED"
	ToolRejected  ToolStatus = "REJECTED"
	ToolTimedOut  ToolStatus = "TIMED_OUT"
	ToolCancelled ToolStatus = "CANCELLED"
)

// ToolAnswer tells an orchestrator whether its tool may run.
type ToolAnswer struct {
	RequiresApproval bool            `json:"requires_approval" doc:"False: the policy lets the call through without a person"`
	Status           ToolStatus      `json:"status" enum:"PENDING,APPROVED,REJECTED,TIMED_OUT,CANCELLED"`
	Cause            Cause           `json:"cause" doc:"What led to the status; empty while pending"`
	ToolUseID        string          `json:"tool_use_id"`
	ToolCallID       ResponseID      `json:"tool_call_id" doc:"The server's id of the call, which is the approvalId of /v1/approvals"`
	JobID            *string         `json:"job_id"`
	SessionID        string          `json:"session_id" doc:"As sent"`
	TimeoutAt        *time.Time      `json:"timeout_at" doc:"Null: no deadline"`
	Reason           string          `json:"reason" doc:"The decider's words, or why the policy requires approval, allows or denies"`
	EditedInput      json.RawMessage `json:"edited_input,omitempty" doc:"Only where another input was approved than the one that the agent sent: run this one"`
	SuggestedInput   json.RawMessage `json:"suggested_input,omitempty" doc:"Only where it may not run: an input that a person would approve; ask again with it under a new tool_use_id"`
	Reviewers        []string        `json:"reviewers,omitempty" doc:"While pending, who may approve or answer: people by name, groups as group:NAME, and admins"`
	WaitingFor       string          `json:"waiting_for,omitempty" doc:"While pending, what it waits for, in a few words"`
	Signatures       *Signatures     `json:"signatures,omitempty" doc:"While pending, of a request that several people sign: how far it has come. For people, and for the agent where the rule says so"`
	Held             *Held           `json:"held,omitempty" doc:"Set while a decision is stored but not yet the outcome"`
	OpenNote         *OpenNote       `json:"open_note,omitempty" doc:"A reviewer's question, answered at /v1/approvals/{tool_call_id}/notes"`
	Removed          string          `json:"removed,omitempty" doc:"Set when the contents were removed, by whom and when: the input is null, and an approval counts no more"`
}

// Invocation is a call, who decided it, and when.
type Invocation struct {
	ToolUseID      string          `json:"tool_use_id"`
	ToolCallID     ResponseID      `json:"tool_call_id" doc:"The server's id of the call, which is the approvalId of /v1/approvals"`
	Agent          Asker           `json:"agent" doc:"Who asks"`
	JobID          *string         `json:"job_id"`
	SessionID      string          `json:"session_id" doc:"As sent, else the run id, else the conversation's id"`
	ToolName       string          `json:"tool_name"`
	ToolInput      json.RawMessage `json:"tool_input" doc:"As sent. Where another system asks with another input than its agent reported, that input, which runs: as a text where it is kept cut or may be read in two ways"`
	ReportedInput  json.RawMessage `json:"reported_input,omitempty" doc:"What the agent reported, only where another system asks with another input, and runs that. The digest is over this one"`
	EditedInput    json.RawMessage `json:"edited_input,omitempty" doc:"Only where another input was approved than the one that the agent sent: run this one"`
	SuggestedInput json.RawMessage `json:"suggested_input,omitempty" doc:"Only where it may not run: an input that a person would approve; ask again with it under a new tool_use_id"`
	Kind           Kind            `json:"kind,omitempty" enum:"question,proposal,budget" doc:"Only where it is no tool call: the agent asked by another surface"`
	Content        string          `json:"content,omitempty" doc:"The text of a proposal"`
	Explained

	RequiresApproval bool        `json:"requires_approval"`
	Status           ToolStatus  `json:"status" enum:"PENDING,APPROVED,REJECTED,TIMED_OUT,CANCELLED"`
	Cause            Cause       `json:"cause" doc:"What led to the status; empty while pending"`
	Risk             Risk        `json:"risk" enum:"all"`
	Digest           string      `json:"digest" doc:"SHA-256 over the canonical JSON of kind, tool name and input; where there is a reported_input, over that instead of the input"`
	Checklist        []string    `json:"checklist,omitempty" doc:"Items that the approver has to tick"`
	RequestedAt      time.Time   `json:"requested_at"`
	TimeoutAt        *time.Time  `json:"timeout_at" doc:"Null: no deadline"`
	DecidedAt        *time.Time  `json:"decided_at" doc:"Null while pending"`
	DecidedBy        *Decider    `json:"decided_by" doc:"Null: no person did"`
	OnBehalfOf       *Decider    `json:"on_behalf_of,omitempty" doc:"For whom they decided, where the rule does not let them approve in their own right"`
	Reason           string      `json:"reason" doc:"The decider's words, or why the policy requires approval, allows or denies"`
	Reviewers        []string    `json:"reviewers,omitempty" doc:"While pending, who may approve or answer: people by name, groups as group:NAME, and admins"`
	WaitingFor       string      `json:"waiting_for,omitempty" doc:"While pending, what it waits for, in a few words"`
	Signatures       *Signatures `json:"signatures,omitempty" doc:"While pending, of a request that several people sign: how far it has come. For people, and for the agent where the rule says so"`
	Waiting          *bool       `json:"waiting,omitempty" doc:"For people, while pending: whether its agent waits for the outcome now"`
	Held             *Held       `json:"held,omitempty" doc:"Set while a decision is stored but not yet the outcome"`
	OpenNote         *OpenNote   `json:"open_note,omitempty" doc:"A reviewer's question, answered at /v1/approvals/{tool_call_id}/notes"`
	Removed          string      `json:"removed,omitempty" doc:"Set when the contents were removed, by whom and when: the input is null, and an approval counts no more"`
}

// PendingInvocations is one page of a session's pending requests; Next is the cursor of the next page, if there is
// one.
type PendingInvocations struct {
	Pending []*Invocation `json:"pending"`
	Next    string        `json:"next,omitempty"`
}

// ToolDecision is a reviewer's verdict on a call. Who decides is the token's
// person and never a member of the body.
type ToolDecision struct {
	ToolUseID      string          `json:"tool_use_id"`
	SessionID      string          `json:"session_id,omitempty" doc:"Required where several sessions have the name"`
	Decision       string          `json:"decision" enum:"APPROVED,REJECTED"`
	Reason         string          `json:"reason,omitempty"`
	Digest         string          `json:"digest,omitempty" doc:"The digest shown; required to approve high and critical risk"`
	SuggestedInput json.RawMessage `json:"suggested_input,omitzero" doc:"With REJECTED, the input that would be approved: the agent may ask again with it"`
	Checked        []int           `json:"checked,omitempty" doc:"Items of the checklist that were ticked, by their numbers from 0; approving needs all of them"`
}

// ApprovalConfig are the four fields of the policy that everyone may read, with their current values, and when a
// temporary value ends.
type ApprovalConfig struct {
	RequiredApprovalTools []string `json:"required_approval_tools" doc:"Tool names, or regular expressions between slashes"`
	DefaultTimeoutMinutes int      `json:"default_timeout_minutes"`
	FallbackAutoApprove   bool     `json:"fallback_auto_approve" doc:"Clients go on when no server answers"`
	ApprovalEnabled       bool     `json:"approval_enabled" doc:"False: no tool call is held"`

	ApprovalOffUntil *time.Time `json:"approval_off_until,omitempty" doc:"When approval_enabled is true again; left out where it is true, or false without an end"`
	FallbackUntil    *time.Time `json:"fallback_until,omitempty" doc:"When fallback_auto_approve is false again; left out where it is false, or true without an end"`
}

// CleanupResult says how many requests had expired and were not written down.
type CleanupResult struct {
	Expired int `json:"expired"`
}
