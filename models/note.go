package models

import "time"

// Limits of notes.
const (
	MaxNote  = 4000 // bytes
	MaxNotes = 50   // on one request
	// MaxEvidence is how many there may be for an agent to add one unasked: the rest is for questions and their
	// answers.
	MaxEvidence = 30
)

// Note is something said about a request without deciding it: a question that a
// reviewer asks back, or what the agent or its owner says to it.
type Note struct {
	ID         NoteID `gorm:"primaryKey"`
	ResponseID ResponseID
	Number     int64 // 1, 2, 3 for each request
	AuthorKind ActorKind
	AuthorID   string
	AuthorName string
	Asks       bool // somebody wants an answer
	Escalates  bool // the agent asks for more attention
	Content    string
	At         time.Time
}
