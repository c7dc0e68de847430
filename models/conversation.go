package models

import "time"

// ConversationStatus is where one agent's run stands.
type ConversationStatus string

// The states of a conversation.
const (
	ConversationRunning      ConversationStatus = "running"
	ConversationWaitingInput ConversationStatus = "waiting_input"
	ConversationCompleted    ConversationStatus = "completed"
	ConversationFailed       ConversationStatus = "failed"
)

// Conversation is one agent's run and everything in it.
type Conversation struct {
	ID             ConversationID `gorm:"primaryKey"`
	OwnerID        UserID
	AgentID        AgentID
	RunID          *string
	ParentRunID    *string
	Title          string
	Status         ConversationStatus
	Standing       bool // the agent's own, for asks that name no conversation
	OnReject       string
	NextSequence   int64
	EnergyBudget   *int64
	EnergyUsed     int64
	EnergyReserved int64
	CreatedAt      time.Time `gorm:"autoCreateTime:false"`
	UpdatedAt      time.Time `gorm:"autoUpdateTime:false"`
}
