package models

import "time"

// MaxContent is how long a message, reply or proposal may be, in bytes.
const MaxContent = 64 << 10

// Message is one message in a conversation.
type Message struct {
	ID             MessageID `gorm:"primaryKey"`
	ConversationID ConversationID
	Sequence       int64
	AuthorKind     ActorKind // user; system for the notices of the loop itself
	AuthorID       string
	AuthorName     string
	Content        string
	ContentBytes   *int64      // its true length, where it is kept cut
	ResponseID     *ResponseID // the decision together with it
	CreatedAt      time.Time   `gorm:"autoCreateTime:false"`
	Removed        *string     // the mark in place of the content; nil: it is kept
}

// BudgetStep is one change of a conversation's budget.
type BudgetStep struct {
	ConversationID ConversationID `gorm:"primaryKey"`
	Sequence       int64          `gorm:"primaryKey"`
	At             time.Time
	ActorKind      ActorKind
	ActorID        string
	ActorName      string
	Old            *int64 // nil: there was none
	New            int64
	Reason         string
	ResponseID     *ResponseID // the request whose decision brought it
	Removed        *string     // the mark in place of the reason; nil: it is kept
}

// HistoryEntry is one thing in a conversation's history: exactly one of the
// three is set.
type HistoryEntry struct {
	Sequence int64
	At       time.Time
	Message  *Message
	Response *Approval
	Budget   *BudgetStep
}

// History is one page of a conversation's history, oldest first.
type History struct {
	Conversation *ConversationView // of the same moment
	Entries      []HistoryEntry
	Before       int64 // for the page before this one; 0: this is the beginning
	After        int64 // the last sequence that was read; later ones follow
}

// EnergyPoint is one expense or change of budget, for the burn chart: the sums
// after it.
type EnergyPoint struct {
	Sequence int64
	At       time.Time
	Used     int64  // in all
	Budget   *int64 // that stood then; nil: none
}

// MessageInput is what a person says into a conversation, with what they decide
// and change together with it.
type MessageInput struct {
	ConversationID ConversationID // empty: one begins
	Content        string
	EnergyBudget   *int64 // of a conversation that begins
	Decision       *ConversationDecision
}

// ConversationDecision decides a proposal or budget request in a conversation,
// changes its budget, or both.
type ConversationDecision struct {
	Approved   *bool      // nil: only the budget changes
	ResponseID ResponseID // empty: the most recent pending proposal or budget request
	Digest     string
	Feedback   string
	Budget     BudgetChange
	Checked    []int     // as in DecisionInput
	Page       *PageView // what the decider has looked at; NoPage where they decide on no page
}

// MessageResult is what a message brought about.
type MessageResult struct {
	Conversation *Conversation
	Message      *Message
	Approval     *Approval // the decided request; nil: none
}

// WaitingRequest names a request of a conversation that waits for a person.
type WaitingRequest struct {
	ID   ResponseID
	Kind Kind
}

// ResponseInput is what an agent says in a conversation.
type ResponseInput struct {
	ConversationID ConversationID // unknown anywhere: the agent's own is opened
	ResponseID     string         // a UUID of the agent's choice, its key, or empty
	Kind           Kind           // reply or proposal
	Content        string
	Energy         *int64
	ModelUsed      string
	EnergyBudget   *int64 // proposed; stored and shown, not applied
	Preview        string // of a proposal: what the agent says that will happen
}

// BudgetResult is what became of an agent's or a person's wish for a budget.
type BudgetResult struct {
	Budget   Budget    // as it is now
	Approval *Approval // the request that it became; nil: it was applied at once
}

// EnergyShare is what one kind of thing cost a conversation, or, with Before, all that was
// spent before that entry.
type EnergyShare struct {
	Kind     Kind
	ToolName string
	Count    int
	Before   int64
	Energy   int64
}
