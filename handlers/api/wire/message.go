package wire

import (
	"encoding/json"
	"time"
)

// WholeNumber is a JSON number without a fraction: 5, 5.0 and 5e0 are one.
type WholeNumber int64

// MessageRequest is what a person says. Who says it is the token's person and
// never a member of the body.
type MessageRequest struct {
	Content          string            `json:"content" doc:"What to say, as Markdown; may be empty where something is decided or changed"`
	ID               string            `json:"id,omitempty" doc:"The conversation; left out, one begins"`
	EnergyBudget     *WholeNumber      `json:"energyBudget,omitzero" minimum:"0" maximum:"1000000000000" doc:"The budget of a new conversation; of an existing one, as approvalResponse.newBudget"`
	ApprovalResponse *ApprovalResponse `json:"approvalResponse,omitzero" doc:"What is decided or changed together with the message"`
}

// ApprovalResponse decides a proposal or budget request, changes the budget, or
// both. The change of the budget applies with either verdict.
type ApprovalResponse struct {
	RequestID    string       `json:"requestId,omitempty" doc:"The conversation, in place of id"`
	Approved     *bool        `json:"approved,omitzero" doc:"Left out, only the budget changes"`
	ResponseID   string       `json:"responseId,omitempty" doc:"What is decided; left out, the most recent pending proposal or budget request"`
	Digest       string       `json:"digest,omitempty" doc:"The digest shown; required to approve high and critical risk"`
	NewBudget    *WholeNumber `json:"newBudget,omitzero" minimum:"0" maximum:"1000000000000" doc:"The whole budget"`
	BudgetChange *WholeNumber `json:"budgetChange,omitzero" minimum:"-1000000000000" maximum:"1000000000000" doc:"A step from the current budget; one below zero stops at 0"`
	Feedback     string       `json:"feedback,omitempty" doc:"For the agent, which reads it"`
	Checked      []int        `json:"checked,omitempty" doc:"Items of the checklist that were ticked, by their numbers from 0; approving needs all of them, and responseId or digest to say which request they were ticked for"`
}

// MessageAnswer tells what a message brought about.
type MessageAnswer struct {
	ID        ConversationID     `json:"id" doc:"The conversation"`
	MessageID *MessageID         `json:"messageId" doc:"Null: nothing was said, only decided or changed"`
	Status    ConversationStatus `json:"status" enum:"running,waiting_input,completed,failed" doc:"Of the conversation"`
	Approval  *ApprovalState     `json:"approval" doc:"What was decided; null: nothing"`
	Budget    Budget             `json:"budget"`
}

// WaitingRequest names a request of a conversation that waits for a person.
type WaitingRequest struct {
	ResponseID ResponseID `json:"responseId"`
	Kind       Kind       `json:"kind" enum:"proposal,budget"`
}

// ApprovalState is the short form of a request's state.
type ApprovalState struct {
	ResponseID ResponseID `json:"responseId"`
	Kind       Kind       `json:"kind" enum:"proposal,budget,tool_call,question"`
	Status     Status     `json:"status" enum:"all"`
	Held       *Held      `json:"held,omitempty" doc:"Set while a decision is stored but not yet the outcome"`

	StillWaiting []WaitingRequest `json:"stillWaiting,omitempty" doc:"Where no responseId was sent: the proposals and budget requests that still wait, latest first"`
}

// ResponseRequest is what an agent says. Send responseId always: the same sent
// again is then the same response.
type ResponseRequest struct {
	Kind         Kind         `json:"kind" enum:"reply,proposal"`
	Content      string       `json:"content" doc:"What to say or what is proposed, as Markdown"`
	ResponseID   string       `json:"responseId,omitempty" doc:"A UUID of the agent's choice, which makes a repeat the same response"`
	Energy       *WholeNumber `json:"energy,omitzero" minimum:"0" maximum:"1000000000" doc:"What it costs; 1 if left out, and at least what a rule demands"`
	ModelUsed    string       `json:"modelUsed,omitempty"`
	EnergyBudget *WholeNumber `json:"energyBudget,omitzero" minimum:"0" maximum:"1000000000000" doc:"With a proposal, the budget that it asks for: shown to the person, not applied"`
	Preview      string       `json:"preview,omitempty" doc:"With a proposal, what the agent says that will happen: at most 16 KiB of text, shown to people as its claim. It is no part of the digest, and a repeat keeps the first one"`
}

// BudgetRequest sets the budget or changes it by a step: one of the two.
type BudgetRequest struct {
	Budget *WholeNumber `json:"budget,omitzero" minimum:"0" maximum:"1000000000000" doc:"The whole budget"`
	Delta  *WholeNumber `json:"delta,omitzero" minimum:"-1000000000000" maximum:"1000000000000" doc:"A step from the current budget; one below zero stops at 0"`
}

// BudgetAnswer tells what became of a wish for a budget.
type BudgetAnswer struct {
	RequestID  ConversationID `json:"requestId" doc:"The conversation"`
	Budget     Budget         `json:"budget" doc:"The budget now"`
	ApprovalID *ResponseID    `json:"approvalId" doc:"The request that it became; null: it was applied at once"`
	Approval   *ApprovalState `json:"approval" doc:"That request"`
}

// ConversationApprovals is one page of a conversation's requests; Next, if not
// empty, is the cursor of the next.
type ConversationApprovals struct {
	RequestID ConversationID         `json:"requestId"`
	Approvals []ConversationApproval `json:"approvals"`
	Next      string                 `json:"next"`
}

// ConversationApproval is one request in short.
type ConversationApproval struct {
	ID                ResponseID      `json:"id"`
	Agent             Asker           `json:"agent" doc:"Who asks"`
	Kind              Kind            `json:"kind" enum:"proposal,tool_call,question,budget"`
	Content           string          `json:"content" doc:"The text of a proposal; of others, a line that says what it is about; of a call that another system runs with another input than was reported, the beginning of that input"`
	ReportedInput     json.RawMessage `json:"reportedInput,omitempty" doc:"What the agent reported, only where another system asks with another input, and runs that. The digest is over this one"`
	Timestamp         time.Time       `json:"timestamp"`
	Status            Status          `json:"status" enum:"all"`
	ApprovalTimestamp *time.Time      `json:"approvalTimestamp" doc:"When it was settled; null while pending"`
	Feedback          *string         `json:"feedback" doc:"The reviewer's words, or why it ended without one; null: none were given"`
	Digest            string          `json:"digest" doc:"Of what is decided, or of the reportedInput where there is one: send it to approve high and critical risk"`
	Risk              Risk            `json:"risk" enum:"all"`
	Checklist         []string        `json:"checklist,omitempty" doc:"Items that the approver has to tick"`
	DecidableHere     *bool           `json:"decidableHere,omitempty" doc:"While it waits: whether a decision without responseId may be about it. False: a tool call or question, which is decided by its id"`
	Waiting           *bool           `json:"waiting,omitempty" doc:"For people, while pending: whether its agent waits for the outcome now"`
	Held              *Held           `json:"held,omitempty" doc:"Set while a decision is stored but not yet the outcome"`
}

// ApproveRequest approves a request of a conversation.
type ApproveRequest struct {
	ResponseID   string       `json:"responseId,omitempty" doc:"Left out, the most recent pending proposal or budget request"`
	Digest       string       `json:"digest,omitempty" doc:"The digest shown; required to approve high and critical risk"`
	Feedback     string       `json:"feedback,omitempty" doc:"For the agent, which reads it"`
	Checked      []int        `json:"checked,omitempty" doc:"Items of the checklist that were ticked, by their numbers from 0; approving needs all of them, and responseId or digest to say which request they were ticked for"`
	NewBudget    *WholeNumber `json:"newBudget,omitzero" minimum:"0" maximum:"1000000000000" doc:"The whole budget"`
	BudgetChange *WholeNumber `json:"budgetChange,omitzero" minimum:"-1000000000000" maximum:"1000000000000" doc:"A step from the current budget; one below zero stops at 0"`
}

// RejectRequest rejects a request of a conversation.
type RejectRequest struct {
	ResponseID string `json:"responseId,omitempty" doc:"Left out, the most recent pending proposal or budget request"`
	Digest     string `json:"digest,omitempty" doc:"The digest shown"`
	Feedback   string `json:"feedback,omitempty" doc:"For the agent, which reads it"`
}

// ApproveResult tells what an approval led to.
type ApproveResult struct {
	Status        Status     `json:"status" enum:"approved,pending"`
	ResponseID    ResponseID `json:"responseId"`
	BudgetUpdated bool       `json:"budgetUpdated"`
	NewBudget     *int64     `json:"newBudget" doc:"The budget that was set; null: none was, or not yet, while the approval may be undone"`
	Held          *Held      `json:"held,omitempty" doc:"With 202: the decision is not yet the outcome"`

	StillWaiting []WaitingRequest `json:"stillWaiting,omitempty" doc:"Where no responseId was sent: the proposals and budget requests that still wait, latest first"`
}

// RejectResult tells what a rejection led to.
type RejectResult struct {
	Status     Status     `json:"status" enum:"rejected,pending"`
	ResponseID ResponseID `json:"responseId"`
	Held       *Held      `json:"held,omitempty" doc:"With 202: the decision is not yet the outcome"`

	StillWaiting []WaitingRequest `json:"stillWaiting,omitempty" doc:"Where no responseId was sent: the proposals and budget requests that still wait, latest first"`
}
