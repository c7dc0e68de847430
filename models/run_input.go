package models

// What becomes of the calls after one that is rejected.
const (
	OnRejectContinue = "continue" // each is asked for separately
	OnRejectCascade  = "cascade"  // those after it in the same batch are rejected too
)

// Who chose what becomes of them. What a person chose, the agent does not change.
const (
	OnRejectByAgent  = "agent"
	OnRejectByPerson = "person"
)

// RunInput opens an agent's run as a conversation, or finds it again.
type RunInput struct {
	ID           string // a UUID of the agent's choice, or empty
	RunID        string
	ParentRunID  string // of the run that started this one
	Title        string
	EnergyBudget *int64 // of one that is opened
	OnReject     string // cascade or continue; empty leaves it as it is
	// OnRejectDefault applies as long as no one has chosen; empty is continue.
	OnRejectDefault string
}
