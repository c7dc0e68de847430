package wire

import "time"

// OpenNote is a question about a request that waits for an answer.
type OpenNote struct {
	ID   NoteID    `json:"id"`
	Text string    `json:"text"`
	By   Author    `json:"by"`
	At   time.Time `json:"at"`
}

// Note is something said about a request without deciding it.
type Note struct {
	OpenNote

	Asks bool `json:"asks" doc:"It is a question"`
}

// NoteRequest is the text of a note. Its author comes from the token, never from the body.
type NoteRequest struct {
	Text string `json:"text" doc:"1 to 4,000 bytes"`
}

// NoteResult is the note as kept, and the clock as it runs from now on.
type NoteResult struct {
	ApprovalID ResponseID `json:"approvalId"`
	Note       Note       `json:"note"`
	OpenNote   *OpenNote  `json:"openNote" doc:"Null: no question waits for an answer"`
	TimeoutAt  *time.Time `json:"timeoutAt" doc:"Null: no deadline"`
}

// Notes are all that was said about a request, in order; there are at most 50.
type Notes struct {
	Notes []Note `json:"notes"`
}
