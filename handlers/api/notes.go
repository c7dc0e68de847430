package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"countersign/models"
	"countersign/models/store"
)

const notesPath = "/v1/approvals/{id}/notes"

func (a *API) registerNotes() {
	register(a, Anyone, huma.Operation{
		OperationID: "add-note", Method: http.MethodPost, Path: notesPath,
		Summary: "Ask back about a request, or answer",
		Description: "With a reviewer's or an admin's token it is a question to the agent and its owner, which stops the clock until it is answered, for the policy's max_pause_minutes at most. " +
			"With the token of the agent that asked it is the answer, from which on the clock runs with what was left, or evidence where nothing was asked. " +
			"The same text sent again is the same note.",
		DefaultStatus: http.StatusCreated, Errors: []int{401, 403, 404, 409, 413, 422},
	}, a.addNote)
	register(a, Anyone, huma.Operation{
		OperationID: "list-notes", Method: http.MethodGet, Path: notesPath,
		Summary: "Read what was said about a request", Errors: []int{401, 404},
	}, a.listNotes)
}

// OpenNote is a question about a request that waits for an answer.
type OpenNote struct {
	ID   models.NoteID `json:"id"`
	Text string        `json:"text"`
	By   Author        `json:"by"`
	At   time.Time     `json:"at"`
}

// Note is something said about a request without deciding it.
type Note struct {
	OpenNote

	Asks bool `json:"asks" doc:"It is a question"`
}

// NoteRequest is what is to be said. Who says it is the token's and never a member
// of the body.
type NoteRequest struct {
	Text string `json:"text" doc:"1 to 4,000 bytes"`
}

// NoteResult is the note as kept, and the clock as it runs from now on.
type NoteResult struct {
	ApprovalID models.ResponseID `json:"approvalId"`
	Note       Note              `json:"note"`
	OpenNote   *OpenNote         `json:"openNote" doc:"Null: no question waits for an answer"`
	TimeoutAt  *time.Time        `json:"timeoutAt" doc:"Null: no deadline"`
}

// Notes are all that was said about a request, in order; there are at most 50.
type Notes struct {
	Notes []Note `json:"notes"`
}

type addNoteIn struct {
	caller

	ID   string `path:"id" doc:"The approvalId"`
	Body NoteRequest
}

type noteOut struct {
	Body *NoteResult
}

func (a *API) addNote(ctx context.Context, in *addNoteIn) (*noteOut, error) {
	id, err := approvalID(in.ID)
	if err != nil {
		return nil, err
	}
	var got *models.Approval
	var note *models.Note
	if in.actor.IsAgent() {
		got, note, err = a.store.AnswerNote(ctx, in.actor, id, in.Body.Text)
	} else if got, err = a.store.AskBack(ctx, in.actor, id, in.Body.Text); err == nil {
		note = got.Note
	}
	if err != nil {
		return nil, naming(in.ID, err)
	}
	return &noteOut{Body: &NoteResult{ApprovalID: got.ID, Note: noteOf(note), OpenNote: openNoteOf(got), TimeoutAt: timeoutOf(got)}}, nil
}

type listNotesIn struct {
	caller

	ID string `path:"id" doc:"The approvalId"`
}

type notesOut struct {
	Body *Notes
}

func (a *API) listNotes(ctx context.Context, in *listNotesIn) (*notesOut, error) {
	id, err := approvalID(in.ID)
	if err != nil {
		return nil, err
	}
	got, err := a.store.Notes(ctx, in.actor, id)
	if err != nil {
		return nil, naming(in.ID, err)
	}
	out := &Notes{Notes: make([]Note, 0, len(got))}
	for i := range got {
		out.Notes = append(out.Notes, noteOf(&got[i]))
	}
	return &notesOut{Body: out}, nil
}

func noteOf(n *models.Note) Note {
	return Note{OpenNote: OpenNote{ID: n.ID, Text: n.Content, By: Author{n.AuthorKind, n.AuthorID, n.AuthorName}, At: n.At}, Asks: n.Asks}
}

// openNoteOf is the question that waits; nil for none, and for what is settled.
func openNoteOf(a *models.Approval) *OpenNote {
	if a.Note == nil || a.Status() != models.StatusPending {
		return nil
	}
	n := noteOf(a.Note)
	return &n.OpenNote
}

// seenNote is whether a question ends a wait: where the parameter is there, be it
// empty.
func seenNote(c *caller, id string) ([]store.WatchOption, error) {
	if id == "" {
		if url := c.from.URL(); !strings.Contains(url.RawQuery, "seenNote=") {
			return nil, nil
		}
		return []store.WatchOption{store.SeenNote("")}, nil
	}
	seen, err := models.ParseID[models.NoteID]("seenNote", id)
	if err != nil {
		return nil, err
	}
	return []store.WatchOption{store.SeenNote(seen)}, nil
}
