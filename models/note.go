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

// Paused is for how long questions have stopped the clock of their request, up to now. notes are all on it, in order: a
// question that takes the place of an open one goes on with the same pause, and what the agent or its owner says next
// ends it.
func Paused(notes []Note, now time.Time) (out time.Duration) {
	var since *time.Time
	for i, n := range notes {
		switch {
		case n.Asks && since == nil:
			since = &notes[i].At
		case !n.Asks && !n.Escalates && since != nil:
			out += n.At.Sub(*since)
			since = nil
		}
	}
	if since != nil {
		out += now.Sub(*since)
	}
	return out
}
