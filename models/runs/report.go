package runs

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"

	"countersign/models"
	"countersign/models/ledger"
)

// ReportEvents stores an agent's report of its run, in the order given, in one transaction, and returns a result for
// each event. A reported event is a claim: it is shown as the agent's, costs nothing, needs no approval and is never
// refused for its size. The same event again, by its id or else by its type and tool use, is repeated: it changes
// nothing and is not counted.
//
// Codes: forbidden (agents only), not_found, other_agent, too_many_requests.
func (r *Runs) ReportEvents(
	ctx context.Context, actor models.Actor, id models.ConversationID, reported []models.RunEvent,
) ([]models.RunEventResult, error) {
	if !actor.IsAgent() {
		return nil, models.Errorf(models.CodeForbidden, "Only an agent's token may report events.")
	}
	checked := make([]*runEvent, len(reported))
	for i := range reported {
		checked[i] = checkEvent(reported[i])
	}
	out := make([]models.RunEventResult, len(reported))
	err := r.write(ctx, func(t *tx) error {
		conv, err := t.Conversation(id)
		switch {
		case err != nil:
			return err
		case conv == nil || conv.OwnerID != actor.OwnerID:
			return models.NotFound("conversation")
		case conv.AgentID != actor.AgentID():
			return models.Errorf(models.CodeOtherAgent, "This conversation belongs to another agent of the same owner.")
		}
		for i := range reported {
			out[i] = models.RunEventResult{Line: i + 1, ID: reported[i].ID}
		}
		return newReport(t, actor, conv).all(checked, out)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// report is one accepted request in its transaction.
type report struct {
	*tx

	actor   models.Actor
	conv    *models.Conversation
	batches map[string]string // the batch that is under way, by whose it is
	// rejected is the call that a person rejected, by the batch that it is in; nil:
	// there is none.
	rejected map[string]*models.Approval
	changes  int
	sum      [sha256.Size]byte // over the digests of what changed something
}

func newReport(t *tx, actor models.Actor, conv *models.Conversation) *report {
	return &report{
		tx: t, actor: actor, conv: conv, batches: make(map[string]string), rejected: make(map[string]*models.Approval),
	}
}

// admit counts the events that are new, before any is stored.
func (r *report) admit(reported []*runEvent) error {
	n, seen := 0, make(map[string]bool, len(reported))
	for _, e := range reported {
		if e.wrong != nil || seen[e.key] {
			continue
		}
		seen[e.key] = true
		if _, found, err := r.knownAs(e, &models.RunEventResult{}); err != nil {
			return err
		} else if !found {
			n += e.weight()
		}
	}
	return r.AdmitReports(r.actor, n)
}

func (r *report) all(reported []*runEvent, out []models.RunEventResult) error {
	weight := 0
	for _, e := range reported {
		weight += e.weight()
	}
	spare, err := r.SparesReports(r.actor, weight)
	if err != nil {
		return err
	}
	if !spare {
		if err := r.admit(reported); err != nil {
			return err
		}
	}
	stored := 0
	for i, e := range reported {
		if e.wrong != nil {
			out[i].Status, out[i].Error = models.RunEventError, e.wrong.Error()
			continue
		}
		if err := r.one(e, &out[i]); err != nil {
			return err
		}
		if out[i].Status == models.RunEventStored {
			stored += e.weight()
		}
	}
	if spare {
		if err := r.AdmitReports(r.actor, stored); err != nil {
			return err
		}
	}
	if r.changes == 0 {
		if changed, err := r.runs.store.Ledger.Changed(r.Tx.Tx); err != nil || !changed {
			return err
		}
	}
	r.changed(r.conv.ID)
	return r.Record(r.actor, "run.reported", ledger.Subject{Owner: r.conv.OwnerID, Conversation: r.conv.ID},
		map[string]any{"count": r.changes, "digest": fmt.Sprintf("%x", r.sum)})
}

// one stores an event unless it exists.
func (r *report) one(e *runEvent, out *models.RunEventResult) error {
	known, err := r.known(e, out)
	if known || err != nil {
		return err
	}
	out.Status = models.RunEventStored
	switch e.Type {
	case models.RunEventToolCall:
		err = r.call(e, out)
	case models.RunEventToolResult:
		err = r.result(e, out)
	case models.RunEventReply:
		err = r.reply(e, out)
	case models.RunEventMessage:
		err = r.message(e)
	case models.RunEventStatus:
		err = r.status(e, out)
	}
	if err != nil {
		return err
	}
	// One that repeats another under its own id is known by that from now on: when the call
	// has ended, the same words with another id would be a new call.
	add, err := r.Prepared(addEvent)
	if err != nil {
		return err
	}
	if _, err := r.Exec(add, r.conv.ID, e.key, e.digest[:], out.ResponseID); err != nil {
		return fmt.Errorf("store event: %w", err)
	}
	if out.Status != models.RunEventRepeated {
		r.note(e)
	}
	return nil
}

// note counts an event that changed something.
func (r *report) note(e *runEvent) {
	r.changes++
	r.sum = sha256.Sum256(append(r.sum[:], e.digest[:]...))
}

// known answers for an event whose key exists. It records an event that contradicts a call that way.
func (r *report) known(e *runEvent, out *models.RunEventResult) (bool, error) {
	same, found, err := r.knownAs(e, out)
	if found && err == nil {
		same, found, err = r.ofNextUse(e, out, same)
	}
	if !found || err != nil {
		return found, err
	}
	if same {
		out.Status = models.RunEventRepeated
		return true, nil
	}
	out.Status, out.Error = models.RunEventConflict, "An event with this id or tool use exists with different content; nothing was changed."
	if out.ResponseID == "" || e.ID != "" {
		return true, nil // an id that was used twice says nothing about a call
	}
	text := contradictsCall
	if e.Type == models.RunEventToolResult {
		text = contradictsResult
	}
	changed, err := r.contradict(out, text)
	if changed {
		r.note(e)
	}
	return true, err
}

// The events of a run, each known by its key.
const (
	eventByKey = `SELECT digest, response_id FROM run_events WHERE conversation_id = ? AND key = ?`
	addEvent   = `INSERT INTO run_events (conversation_id, key, digest, response_id) VALUES (?, ?, ?, ?)`
)

// knownAs looks for an event with the key of another, and whether it says the same.
func (r *report) knownAs(e *runEvent, out *models.RunEventResult) (same, found bool, err error) {
	stmt, err := r.Prepared(eventByKey)
	if err != nil {
		return false, false, err
	}
	var digest []byte
	err = r.Row(stmt, r.conv.ID, e.key).Scan(&digest, &out.ResponseID)
	if errors.Is(err, sql.ErrNoRows) {
		return false, false, nil
	}
	if err != nil {
		return false, false, fmt.Errorf("look for an event: %w", err)
	}
	return string(digest) == string(e.digest[:]), true, nil
}

// These answer reports that contradict the stored row.
const (
	contradictsCall   = "The agent reported this call with another tool or input."
	contradictsResult = "The agent reported another result later."
)

// contradict notes, once, a report that contradicts the stored row, and answers the agent so.
func (r *report) contradict(out *models.RunEventResult, text string) (changed bool, err error) {
	out.Status, out.Error = models.RunEventConflict, text+" This is shown; what is stored was not changed."
	return r.Contradict(out.ResponseID, text)
}

// reply stores what the agent says that it said.
func (r *report) reply(e *runEvent, out *models.RunEventResult) error {
	if err := r.batch(e); err != nil {
		return err
	}
	canonical, err := models.CanonicalContent(models.KindReply, e.Content)
	if err != nil {
		return err
	}
	a := models.Response{Kind: models.KindReply, Digest: models.Digest(canonical), Risk: models.RiskLow}
	with := &models.Report{ParentToolUseID: e.ParentToolUseID}
	a.Content, with.ContentBytes = cutText(e.Content, e.ContentBytes)
	_, err = r.add(e, out, a, with)
	return err
}

// message stores what the agent says that a person said: it stays the agent's
// word.
func (r *report) message(e *runEvent) error {
	sequence, err := r.NextSequence(r.conv.ID)
	if err != nil {
		return err
	}
	m := &models.Message{
		ID: models.NewID[models.MessageID](), ConversationID: r.conv.ID, Sequence: sequence, AuthorKind: models.ActorAgent,
		AuthorID: r.actor.ID, AuthorName: r.actor.Name, CreatedAt: r.Now,
	}
	m.Content, m.ContentBytes = cutText(e.Content, e.ContentBytes)
	if err := r.Gorm().Create(m).Error; err != nil {
		return fmt.Errorf("store message: %w", err)
	}
	r.Adds("messages", m.ID)
	return nil
}

// status moves the run, and keeps the reason as the agent's words. While a request is undecided, a running run is
// shown as waiting, whatever it reports; one that has ended waits for no one.
func (r *report) status(e *runEvent, out *models.RunEventResult) error {
	if e.Content != "" {
		if err := r.reply(e, out); err != nil {
			return err
		}
	}
	status := e.Status
	if status == models.ConversationCompleted || status == models.ConversationFailed {
		// First the status, so that no outcome makes it go on.
		if err := r.SetStatus(r.actor, r.conv, status, models.CauseNone); err != nil {
			return err
		}
		return r.end()
	}
	return r.SetStatus(r.actor, r.conv, status, models.CauseNone)
}
