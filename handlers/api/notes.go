package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/store"
)

const notesPath = "/v1/approvals/{id}/notes"

func (a *API) registerNotes() {
	register(a, Anyone, huma.Operation{
		OperationID: "add-note", Method: http.MethodPost, Path: notesPath,
		Summary: "Ask a question about a request, or answer",
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

type addNoteIn struct {
	caller

	ID   string `path:"id" doc:"The approvalId"`
	Body wire.NoteRequest
}

type noteOut struct {
	Body *wire.NoteResult
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
	return &noteOut{Body: &wire.NoteResult{
		ApprovalID: wire.ResponseID(got.ID), Note: noteOf(note), OpenNote: openNoteOf(got), TimeoutAt: timeoutOf(got),
	}}, nil
}

type listNotesIn struct {
	caller

	ID string `path:"id" doc:"The approvalId"`
}

type notesOut struct {
	Body *wire.Notes
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
	out := &wire.Notes{Notes: make([]wire.Note, 0, len(got))}
	for i := range got {
		out.Notes = append(out.Notes, noteOf(&got[i]))
	}
	return &notesOut{Body: out}, nil
}

func noteOf(n *models.Note) wire.Note {
	return wire.Note{OpenNote: wire.OpenNote{
		ID: wire.NoteID(n.ID), Text: n.Content, By: authorOf(n.AuthorKind, n.AuthorID, n.AuthorName), At: n.At,
	}, Asks: n.Asks}
}

// openNoteOf is the open question of a pending request; nil for none.
func openNoteOf(a *models.Approval) *wire.OpenNote {
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
