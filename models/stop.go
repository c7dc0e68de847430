package models

import "time"

// MaxStopNote is how long the note of a stop may be, in bytes: pages show it as a warning.
const MaxStopNote = 500

// Stop is that a person stopped an agent, or all of them: new requests are rejected, and pending ones were cancelled,
// until it is lifted.
type Stop struct {
	ID         StopID  `gorm:"primaryKey"`
	AgentID    AgentID // empty: all agents
	Note       string  // why
	At         time.Time
	ByID       UserID // empty: the command line
	ByName     string
	LiftedAt   *time.Time // nil: it is in force
	LiftedID   UserID
	LiftedName string
	LiftedNote string

	// What became of approvals on their way to other systems, told to the person who stopped:
	// so many were withdrawn, and so many were being sent at that moment.
	Withdrawn int `gorm:"-"`
	InFlight  int `gorm:"-"`

	// Read beside the row; empty for all agents.
	AgentName  string `gorm:"->"`
	AgentOwner UserID `gorm:"->"`
}

// All reports whether it is for every agent.
func (s *Stop) All() bool { return s.AgentID == "" }

// Stops reports whether it stops an agent.
func (s *Stop) Stops(agent AgentID) bool { return s.All() || s.AgentID == agent }

// ConcernsUser reports whether a person hears of it: admins of each, others of those of all agents and of their own.
func (s *Stop) ConcernsUser(user UserID, admin bool) bool {
	return admin || s.All() || s.AgentOwner == user
}

// Text says in a sentence what it does to an agent.
func (s *Stop) Text() string {
	who := "This agent is"
	if s.All() {
		who = "All agents are"
	}
	return who + " stopped by " + s.ByName + ": " + s.Note
}
