package models

import "time"

// ConversationStatus is the status of one agent's run.
type ConversationStatus string

// The states of a conversation.
const (
	ConversationRunning      ConversationStatus = "running"
	ConversationWaitingInput ConversationStatus = "waiting_input"
	ConversationCompleted    ConversationStatus = "completed"
	ConversationFailed       ConversationStatus = "failed"
)

// Shown is the status that readers see: while a request waits for a person, a running
// conversation is shown as waiting.
func (s ConversationStatus) Shown(waits bool) ConversationStatus {
	if waits && s == ConversationRunning {
		return ConversationWaitingInput
	}
	return s
}

// StatusChange is a change of the status that readers see.
type StatusChange struct {
	Conversation ConversationID     `json:"-"`
	Old          ConversationStatus `json:"old"`
	New          ConversationStatus `json:"new"`
}

// BuiltIn is the name of the system's own agent; no other may bear it.
const BuiltIn = "built-in"

// Conversation is one agent's run and everything in it.
type Conversation struct {
	ID          ConversationID `gorm:"primaryKey"`
	OwnerID     UserID
	AgentID     AgentID
	RunID       *string
	ParentRunID *string
	Title       string
	// Status is as stored, in a view and from use cases as shown (Shown).
	Status         ConversationStatus
	Standing       bool   // the agent's own, for asks that name no conversation
	OnReject       string // OnRejectContinue or OnRejectCascade
	OnRejectBy     string // who chose it last: empty, OnRejectByAgent or OnRejectByPerson
	NextSequence   int64
	EnergyBudget   *int64
	EnergyUsed     int64
	EnergyReserved int64
	// BudgetAdded is what the system has added to the budget since a person last
	// set or decided it (policy: auto_budget_increase).
	BudgetAdded int64
	// BudgetRefused is the budget request that was rejected last: until the budget
	// changes or a person writes, no other is made.
	BudgetRefused *ResponseID
	// WaitsForRequest marks a stored waiting_input of an earlier version that ends
	// with the request that caused it.
	WaitsForRequest bool
	CreatedAt       time.Time `gorm:"autoCreateTime:false"`
	UpdatedAt       time.Time `gorm:"autoUpdateTime:false"`
	// ActiveAt is UpdatedAt to the minute, by which lists are ordered.
	ActiveAt   time.Time
	PausedAt   *time.Time // no model call until somebody resumes; decisions are possible
	ArchivedAt *time.Time
	Removed    *string // the mark in place of its title; nil: it is kept
}

// Budget is what the conversation may spend and has spent.
func (c *Conversation) Budget() Budget {
	return Budget{Total: c.EnergyBudget, Used: c.EnergyUsed, Reserved: c.EnergyReserved}
}

// ConversationView is a conversation with what its readers need around it.
type ConversationView struct {
	Conversation
	AgentName string
	OwnerName string
	BuiltIn   bool // run by the system's own agent, not by one outside
	Pending   int  // requests that wait for a person, capped at StatsCap

	Reader Voter // the person for whom it was read; the zero Voter: an agent
}

// Steering is what an owner or admin does to a conversation as a whole.
type Steering string

// The ways to steer.
const (
	SteerPause     Steering = "pause"
	SteerResume    Steering = "resume"
	SteerStop      Steering = "stop" // failed; pending requests are cancelled, cause stopped
	SteerArchive   Steering = "archive"
	SteerUnarchive Steering = "unarchive"
)

// NameOfConversation is what its agent calls a conversation that is stored.
func NameOfConversation(id ConversationID, run *string) string {
	if run != nil {
		return *run
	}
	return string(id)
}
