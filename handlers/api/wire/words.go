package wire

// Ids are UUIDs in lower case, of a type for each thing.
type (
	// ResponseID names a request: the approvalId, responseId and tool_call_id.
	ResponseID string
	// ConversationID names a conversation.
	ConversationID string
	// MessageID names a message.
	MessageID string
	// NoteID names a note on a request.
	NoteID string
	// GrantID names a grant.
	GrantID string
	// AgentID names an agent.
	AgentID string
	// UserID names a person.
	UserID string
)

// Words of the API. Those that a program decides by have their list here; the
// OpenAPI document lists the others.
type (
	// Risk is how much harm a request could do.
	Risk string
	// Cause says why a request has its status.
	Cause string
	// SelfApproval says whether an agent's owner may approve.
	SelfApproval string
	// ConversationStatus is the status of a conversation.
	ConversationStatus string
	// ActorKind is what kind of sender said or did something.
	ActorKind string
	// MatchedBy says how a call of another system was found.
	MatchedBy string
	// Verdict is a decision as sent to another system.
	Verdict string
	// WithdrawalKind says who took a decision back.
	WithdrawalKind string
)

// Kind is what a request is.
type Kind string

// The kinds.
const (
	KindReply    Kind = "reply"
	KindProposal Kind = "proposal"
	KindToolCall Kind = "tool_call"
	KindQuestion Kind = "question"
	KindBudget   Kind = "budget"
)

// Status is the status of a request.
type Status string

// The states of a request. All but pending are final.
const (
	StatusPending   Status = "pending"
	StatusApproved  Status = "approved"
	StatusRejected  Status = "rejected"
	StatusExpired   Status = "expired"
	StatusCancelled Status = "cancelled"
	StatusResolved  Status = "resolved" // settled elsewhere
	StatusRan       Status = "ran"      // its client ran it without an answer: no approval
)

// RunEventOutcome says what became of a reported event.
type RunEventOutcome string

// The outcomes.
const (
	RunEventStored   RunEventOutcome = "stored"
	RunEventRepeated RunEventOutcome = "repeated" // known already; nothing changed
	RunEventConflict RunEventOutcome = "conflict" // it contradicts the stored event; the conflict is recorded
	RunEventError    RunEventOutcome = "error"    // not taken; Error says why
)
