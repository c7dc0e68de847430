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

// FloodAlike is how many requests of an agent that look alike may wait before they are a flood.
const FloodAlike = 10

// Flood is that an agent asks for more than people can look at: more requests of it wait than the policy allows for an
// hour, or FloodAlike that look alike.
type Flood struct {
	AgentID AgentID `gorm:"primaryKey"`
	BeganAt time.Time
	Above   int       // if more of its requests of low and medium risk wait, the inbox shows them in one line
	SeenAt  time.Time // to the minute, when it last asked while so many waited
}

// FloodLife is how long after its last ask an agent is looked at as one that floods.
const FloodLife = time.Hour

// Aside is what an inbox shows in lines of their own, so that it hides nothing else.
type Aside struct {
	Together int // requests of low risk that came while everybody was busy; counting stops at StatsCap
	Floods   []AgentFlood
}

// AgentFlood is an agent that asks for more than people can look at.
type AgentFlood struct {
	Flood

	AgentName string
	OwnerID   UserID
	Count     int     // its requests of low and medium risk that wait for the reader
	Cap       bool    // there are more, which were not looked at
	Alike     int     // of them, those that look like FloodAlike others or more
	Differ    []Brief `gorm:"-"` // the others, the rarest first; of many the first
	Differs   int     // how many others there are
}

// Empty reports whether there is nothing aside.
func (a *Aside) Empty() bool { return a.Together == 0 && len(a.Floods) == 0 }
