package models

import "time"

// Stop is that a person stopped an agent, or all of them: what they ask is rejected, and
// what waits was cancelled, until it is lifted.
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

	AgentName string `gorm:"->"` // read beside the row; empty: all agents
}

// All reports whether it is for every agent.
func (s *Stop) All() bool { return s.AgentID == "" }

// Text says in a sentence what it does to an agent.
func (s *Stop) Text() string {
	who := "This agent is"
	if s.All() {
		who = "All agents are"
	}
	return who + " stopped by " + s.ByName + ": " + s.Note
}
