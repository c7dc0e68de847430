package wire

import (
	"encoding/json"
	"time"
)

// Budget is what a conversation may spend and has spent, in units of energy.
type Budget struct {
	Total     *int64 `json:"total" doc:"Null: unlimited"`
	Used      int64  `json:"used"`
	Reserved  int64  `json:"reserved" doc:"For model calls that are under way"`
	Remaining *int64 `json:"remaining" doc:"Null: unlimited"`
}

// Named is an agent or a person.
type Named[T ~string] struct {
	ID   T      `json:"id"`
	Name string `json:"name"`
}

// Conversation is one agent's run.
type Conversation struct {
	ID          ConversationID     `json:"id"`
	Title       string             `json:"title"`
	Status      ConversationStatus `json:"status" enum:"running,waiting_input,completed,failed"`
	Agent       Named[AgentID]     `json:"agent"`
	Owner       Named[UserID]      `json:"owner"`
	RunID       *string            `json:"runId"`
	ParentRunID *string            `json:"parentRunId" doc:"The run that started this one; null: none did"`
	OnReject    string             `json:"onReject" enum:"cascade,continue" doc:"What a rejection does to the rest of its batch"`
	Pending     int                `json:"pending" doc:"Requests that wait for a person, at most 1,000"`
	PausedAt    *time.Time         `json:"pausedAt" doc:"Null: not paused"`
	ArchivedAt  *time.Time         `json:"archivedAt" doc:"Null: not archived"`
	CreatedAt   time.Time          `json:"createdAt"`
	UpdatedAt   time.Time          `json:"updatedAt"`
	Budget      Budget             `json:"budget"`
}

// ConversationResponse is one response of an agent, and the state of its approval.
type ConversationResponse struct {
	ResponseID    ResponseID      `json:"responseId" doc:"The approvalId of /v1/approvals"`
	RequestID     ConversationID  `json:"requestId" doc:"The conversation"`
	Sequence      int64           `json:"sequence" doc:"Its place in the conversation"`
	Kind          Kind            `json:"kind" enum:"all"`
	Content       string          `json:"content" doc:"The text of a reply or proposal"`
	ToolName      string          `json:"toolName"`
	ToolUseID     *string         `json:"toolUseId" doc:"The agent's own name for a call; null: none"`
	BatchID       *string         `json:"batchId" doc:"Shared by the calls that the agent queued at once; null: none"`
	IsCompleted   bool            `json:"isCompleted" doc:"A call: it has a result, or the run went on without"`
	Input         json.RawMessage `json:"input" doc:"As sent; of a budget request, the budget it asks for; null where there is none. Where another system asks with another input than its agent reported, that input, which runs: as a text where it is kept cut or may be read in two ways"`
	ReportedInput json.RawMessage `json:"reportedInput,omitempty" doc:"What the agent reported, only where another system asks with another input, and runs that. The digest is over this one"`
	Options       []Option        `json:"options,omitempty"`
	Explained

	Energy           int64       `json:"energy" doc:"What it cost"`
	EnergyBudget     *int64      `json:"energyBudget" doc:"The budget that it proposes; not applied"`
	ModelUsed        string      `json:"modelUsed"`
	Digest           string      `json:"digest" doc:"SHA-256 over the canonical JSON of what is decided; where there is a reportedInput, over that instead of the input"`
	Risk             Risk        `json:"risk" enum:"all"`
	Checklist        []string    `json:"checklist,omitempty" doc:"Items that the approver has to tick"`
	RequiresApproval bool        `json:"requiresApproval"`
	Status           *Status     `json:"status" enum:"all" doc:"Null: a reply, which needs no approval, or a call that was only reported"`
	Cause            Cause       `json:"cause"`
	Advice           string      `json:"advice" doc:"One sentence for the model"`
	Timestamp        time.Time   `json:"timestamp"`
	TimeoutAt        *time.Time  `json:"timeoutAt" doc:"Null: no deadline"`
	Decision         *Decision   `json:"decision" doc:"Null while pending, and with a reply"`
	Reviewers        []string    `json:"reviewers,omitempty" doc:"While pending, who may approve or answer: people by name, groups as group:NAME, and admins"`
	WaitingFor       string      `json:"waitingFor,omitempty" doc:"While pending, what it waits for, in a few words"`
	Signatures       *Signatures `json:"signatures,omitempty" doc:"While pending, of a request that several people sign: how far it has come. For people, and for the agent where the rule says so"`
	Waiting          *bool       `json:"waiting,omitempty" doc:"For people, while pending: whether its agent waits for the outcome now"`
	Held             *Held       `json:"held,omitempty" doc:"Set while a decision is stored but not yet the outcome"`
	OpenNote         *OpenNote   `json:"openNote,omitempty" doc:"A reviewer's question, answered at /v1/approvals/{responseId}/notes"`
	URL              string      `json:"url,omitempty" doc:"The page on which a person decides; not with a reply"`
	Removed          string      `json:"removed,omitempty" doc:"Set when the contents were removed, by whom and when: the input is null, and an approval counts no more"`
}

// ConversationPage is one page of conversations; Next, if not empty, is the
// cursor of the next.
type ConversationPage struct {
	Conversations []Conversation `json:"conversations"`
	Next          string         `json:"next"`
}

// ConversationHistory is a conversation with one page of its messages and responses, oldest first.
type ConversationHistory struct {
	Conversation

	Entries []ConversationEntry `json:"entries"`
	Before  *int64              `json:"before" doc:"For the page before this one; null: this is the beginning"`
	After   int64               `json:"after" doc:"The last sequence that was read: for what comes after"`
}

// ConversationEntry is one thing in a conversation: the member that Type names
// is set.
type ConversationEntry struct {
	Sequence  int64                 `json:"sequence"`
	Type      string                `json:"type" enum:"message,response,budget"`
	Timestamp time.Time             `json:"timestamp"`
	Author    Author                `json:"author"`
	Message   *ConversationMessage  `json:"message,omitempty"`
	Response  *ConversationResponse `json:"response,omitempty"`
	Budget    *BudgetStep           `json:"budget,omitempty"`
}

// Author is who said or did something.
type Author struct {
	Kind ActorKind `json:"kind" enum:"user,agent,system,operator"`
	ID   string    `json:"id"`
	Name string    `json:"name"`
}

// ConversationMessage is a message of a person or the system.
type ConversationMessage struct {
	ID         MessageID   `json:"id"`
	Content    string      `json:"content"`
	ResponseID *ResponseID `json:"responseId" doc:"What was decided together with it; null: nothing"`
	Removed    *string     `json:"removed,omitempty" doc:"Set when the content was removed: the text in its place"`
}

// BudgetStep is one change of the budget.
type BudgetStep struct {
	Old        *int64      `json:"old" doc:"Null: there was none"`
	New        int64       `json:"new"`
	Reason     string      `json:"reason"`
	ResponseID *ResponseID `json:"responseId" doc:"The request whose decision brought it; null: none"`
}
