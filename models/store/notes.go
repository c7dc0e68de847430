package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gorm.io/gorm"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/ledger"
	"countersign/models/requests"
)

const (
	notesOf  = `SELECT * FROM notes WHERE response_id = ? ORDER BY number`
	lastNote = `SELECT * FROM notes WHERE response_id = ? ORDER BY number DESC LIMIT 1`
)

// AskBack asks the agent and its owner something about a pending request, by a person who may decide it. The clock
// stops until there is an answer, for max_pause_minutes at most; the time left is kept, and runs again from then on. A
// question while one is open takes its place. The digest stays. A repeat of the last note is that note.
//
// Codes: forbidden, not_found, not_a_reviewer (who may not act for others any more), invalid, wrong_decision_kind
// (outside approvals, whose clock is the other system's); with the current row: already_decided, expired,
// being_decided.
func (s *Store) AskBack(
	ctx context.Context, actor models.Actor, id models.ResponseID, text string,
) (*models.Approval, error) {
	if !actor.IsPerson() {
		return nil, models.Errorf(models.CodeForbidden, "Only a person may ask a question.")
	}
	a, _, err := s.withNote(ctx, actor, id, text, noteAsks, func(t *Tx, a *models.Approval, last *models.Note) (*models.Note, error) {
		return t.askBack(actor, a, last, text)
	})
	return a, err
}

// withNote adds a note of a kind to a request that the actor may see. A text that repeats the last note adds none:
// the last note is returned.
func (s *Store) withNote(ctx context.Context, actor models.Actor, id models.ResponseID, text string, kind noteKind,
	add func(t *Tx, a *models.Approval, last *models.Note) (*models.Note, error),
) (out *models.Approval, note *models.Note, err error) {
	if err := checkNote(text); err != nil {
		return nil, nil, err
	}
	err = s.write(ctx, func(t *Tx) error {
		a, err := t.Approval(actor, id)
		if err != nil {
			return err
		}
		out = requests.At(a, t.Now)
		last, err := t.lastNote(id)
		if err != nil {
			return err
		}
		if repeats(last, actor, text, kind) {
			note = last
			return nil
		}
		note, err = add(t, out, last)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	return out, note, nil
}

func (t *Tx) askBack(actor models.Actor, a *models.Approval, last *models.Note, text string) (*models.Note, error) {
	if err := t.conflict(a); err != nil {
		return nil, err
	}
	if err := t.maySteer(actor, a); err != nil {
		return nil, err
	}
	if a.UpstreamID != nil {
		return nil, &models.Error{
			Code: models.CodeWrongDecisionKind,
			Text: "The other system's clock cannot be stopped: approve or reject its request.", Approval: a,
		}
	}
	// There must be room for the answer, without which the clock would not go on.
	note, err := t.newNote(actor, a, last, text, models.MaxNotes-1)
	if err != nil {
		return nil, err
	}
	_, p, err := t.Policy()
	if err != nil {
		return nil, err
	}
	note.Asks = true
	to, old := clockOf(a), a.ApprovalTimeoutAt
	to.open = &note.ID
	if a.HasDeadline() {
		if to.left == nil {
			to.left = new(secondsUntil(old, t.Now))
		}
		if pause := t.Now.Add(time.Duration(p.Document().MaxPauseMinutes) * time.Minute); pause.After(old) {
			to.deadline = pause
		}
	}
	if err := t.setClock(a, to); err != nil {
		return nil, err
	}
	a.Note = note
	t.questions = append(t.questions, a.ID)
	return note, t.storeNote(actor, a, note, "approval.asked_back", old)
}

// AnswerNote stores a note about a request by its agent or owner. The first answer to a question lets the clock run
// again, with the time left. Without an open question it is evidence, which the agent alone adds. A repeat of the last
// note is that note. A verdict that is held meanwhile stays so.
//
// Codes: forbidden (neither agent nor owner), not_found, invalid, wrong_decision_kind (an owner without a question);
// with the current row: already_decided, expired.
func (s *Store) AnswerNote(
	ctx context.Context, actor models.Actor, id models.ResponseID, text string,
) (*models.Approval, *models.Note, error) {
	if !actor.IsAgent() && !actor.IsPerson() {
		return nil, nil, models.Errorf(models.CodeForbidden, "Only the agent that asked and its owner may answer.")
	}
	return s.withNote(ctx, actor, id, text, noteSays, func(t *Tx, a *models.Approval, last *models.Note) (*models.Note, error) {
		return t.answerNote(actor, a, last, text)
	})
}

func (t *Tx) answerNote(actor models.Actor, a *models.Approval, last *models.Note, text string) (*models.Note, error) {
	if actor.IsPerson() && actor.UserID() != a.OwnerID {
		return nil, models.Errorf(models.CodeForbidden, "Only the agent that asked and its owner may answer.")
	}
	if a.Status() != models.StatusPending { // held or not: the author of the answer is not to know
		return nil, conflictOf(a)
	}
	if a.OpenNote == nil && actor.IsPerson() {
		return nil, &models.Error{
			Code: models.CodeWrongDecisionKind, Text: "No question about this request waits for an answer.", Approval: a,
		}
	}
	most := int64(models.MaxNotes)
	if a.OpenNote == nil {
		most = models.MaxEvidence
	}
	note, err := t.newNote(actor, a, last, text, most)
	if err != nil {
		return nil, err
	}
	old := a.ApprovalTimeoutAt
	if a.OpenNote != nil {
		to := clock{deadline: old}
		// A pause that ran out while a verdict held the request gives nothing back (I3).
		if a.PausedLeft != nil && t.Now.Before(old) {
			to.deadline = t.Now.Add(time.Duration(*a.PausedLeft) * time.Second)
		}
		if err := t.setClock(a, to); err != nil {
			return nil, err
		}
		a.Note = nil
	}
	return note, t.storeNote(actor, a, note, "approval.note_added", old)
}

// Notes are the notes about a request, in order, for an actor who may see it.
//
// Codes: not_found.
func (s *Store) Notes(ctx context.Context, actor models.Actor, id models.ResponseID) ([]models.Note, error) {
	if _, err := s.Requests.Approval(ctx, actor, id); err != nil {
		return nil, err
	}
	return s.notes(ctx, id)
}

func (s *Store) notes(ctx context.Context, id models.ResponseID) ([]models.Note, error) {
	return readNotes(s.db.Gorm(ctx), id)
}

func readNotes(g *gorm.DB, id models.ResponseID) ([]models.Note, error) {
	var notes []models.Note
	if err := g.Raw(notesOf, id).Scan(&notes).Error; err != nil {
		return nil, fmt.Errorf("read notes: %w", err)
	}
	return notes, nil
}

func checkNote(text string) error {
	if strings.TrimSpace(text) == "" {
		return models.Invalid("text", "must not be empty")
	}
	return models.CheckText("text", text, models.MaxNote)
}

// noteKind is what a note is.
type noteKind uint8

const (
	noteSays noteKind = iota
	noteAsks
	noteEscalates
)

func kindOfNote(n *models.Note) noteKind {
	switch {
	case n.Asks:
		return noteAsks
	case n.Escalates:
		return noteEscalates
	}
	return noteSays
}

// repeats reports whether a note was sent again.
func repeats(last *models.Note, actor models.Actor, text string, kind noteKind) bool {
	return last != nil && last.AuthorKind == actor.Kind && last.AuthorID == actor.ID && last.Content == text &&
		kindOfNote(last) == kind
}

func (t *Tx) lastNote(id models.ResponseID) (*models.Note, error) {
	var notes []models.Note
	if err := t.Gorm().Raw(lastNote, id).Scan(&notes).Error; err != nil {
		return nil, fmt.Errorf("read notes: %w", err)
	}
	if len(notes) == 0 {
		return nil, nil //nolint:nilnil // no note is an answer here
	}
	return &notes[0], nil
}

// newNote makes the next note, if there may be one more.
func (t *Tx) newNote(
	actor models.Actor, a *models.Approval, last *models.Note, text string, most int64,
) (*models.Note, error) {
	n := &models.Note{
		ID: models.NewID[models.NoteID](), ResponseID: a.ID, Number: 1, AuthorKind: actor.Kind, AuthorID: actor.ID,
		AuthorName: actor.Name,
		Content:    text, At: t.Now,
	}
	if last != nil {
		n.Number = last.Number + 1
	}
	if n.Number > most {
		return nil, models.Errorf(models.CodeInvalid,
			"There are too many notes on this request: at most %d are kept, and more than %d only of questions and their answers.", models.MaxNotes, models.MaxEvidence)
	}
	return n, nil
}

type noteEntry struct {
	clockEntry

	Digest string        `json:"digest"`
	Note   models.NoteID `json:"note"`
	Number int64         `json:"number"`
	Text   string        `json:"text_digest"`
}

// storeNote keeps a note and tells of it.
func (t *Tx) storeNote(actor models.Actor, a *models.Approval, n *models.Note, action string, old time.Time) error {
	if err := t.Gorm().Create(n).Error; err != nil {
		return fmt.Errorf("store note: %w", err)
	}
	t.Adds("notes", n.ID)
	readers, err := t.tellDeciders(a)
	if err != nil {
		return err
	}
	t.Publish(events.Agent(string(a.AgentID)))
	return t.Record(actor, action, ledger.SubjectOf(&a.Response, readers), noteEntry{
		clockEntry: movedFrom(old, a), Digest: a.Digest, Note: n.ID, Number: n.Number, Text: models.DigestOfText(n.Content),
	})
}
