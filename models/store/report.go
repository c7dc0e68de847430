package store

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/go-json-experiment/json"

	"countersign/models"
	"countersign/models/events"
)

// ReportEvents stores what an agent reports of its run, in the order given, in
// one transaction, and says of each what became of it. What is reported is a
// claim: it is shown as the agent's, costs nothing, needs no approval, is never
// refused for its size, and is not counted by any limit. The same event again,
// by its id or else by its type and tool use, is repeated and changes nothing.
//
// Codes: forbidden (agents only), not_found, other_agent.
func (s *Store) ReportEvents(ctx context.Context, actor models.Actor, id models.ConversationID, reported []models.RunEvent) ([]models.RunEventResult, error) {
	if !actor.IsAgent() {
		return nil, models.Errorf(models.CodeForbidden, "Only an agent's token may report events.")
	}
	checked := make([]*runEvent, len(reported))
	for i := range reported {
		checked[i] = checkEvent(&reported[i])
	}
	var out []models.RunEventResult
	err := s.write(ctx, func(t *tx) error {
		conv, err := t.fullConversation(id)
		if err != nil {
			return err
		}
		if conv == nil || conv.OwnerID != actor.OwnerID {
			return notFound("conversation")
		}
		if err := ownConversation(actor, conv); err != nil {
			return err
		}
		r := &report{tx: t, actor: actor, conv: conv}
		out, err = r.all(checked)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// report is one accepted request in its transaction.
type report struct {
	*tx

	actor  models.Actor
	conv   *models.Conversation
	stored int
	sum    [sha256.Size]byte // over the digests of what was stored
}

func (r *report) all(reported []*runEvent) ([]models.RunEventResult, error) {
	out := make([]models.RunEventResult, len(reported))
	for i, e := range reported {
		out[i] = models.RunEventResult{Line: i + 1, ID: e.ID, Status: models.RunEventError}
		if e.wrong != nil {
			out[i].Error = e.wrong.Error()
			continue
		}
		if err := r.one(e, &out[i]); err != nil {
			return nil, err
		}
		if out[i].Status == models.RunEventStored || out[i].Status == models.RunEventConflict && out[i].ResponseID != "" {
			r.stored++
			r.sum = sha256.Sum256(append(r.sum[:], e.digest[:]...))
		}
	}
	if r.stored == 0 {
		return out, nil
	}
	r.changed(r.conv.ID)
	r.publish(events.Agent(string(r.conv.AgentID)))
	return out, r.record(r.actor, "run.reported", subject{owner: r.conv.OwnerID, conversation: r.conv.ID},
		map[string]any{"count": r.stored, "digest": fmt.Sprintf("%x", r.sum)})
}

// one stores an event unless its key stands.
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
		err = r.status(e)
	}
	if err != nil {
		return err
	}
	if _, err := r.conn.exec(r.hot.addEvent, r.conv.ID, e.key, e.digest[:], out.ResponseID); err != nil {
		return fmt.Errorf("store event: %w", err)
	}
	return nil
}

// known answers for an event whose key stands.
func (r *report) known(e *runEvent, out *models.RunEventResult) (bool, error) {
	rows, err := r.conn.rows(r.hot.eventByKey, r.conv.ID, e.key)
	if err != nil {
		return false, fmt.Errorf("look for an event: %w", err)
	}
	defer rows.Close()
	if !rows.Next() {
		return false, rows.Err()
	}
	var digest []byte
	if err := rows.Scan(&digest, &out.ResponseID); err != nil {
		return false, fmt.Errorf("look for an event: %w", err)
	}
	out.Status = models.RunEventRepeated
	if [sha256.Size]byte(digest) != e.digest {
		out.Status, out.Error = models.RunEventConflict, "An event with this id or tool use stands with another content; nothing was changed."
	}
	return true, nil
}

// reply stores what the agent says that it said.
func (r *report) reply(e *runEvent, out *models.RunEventResult) error {
	if err := r.batch(e); err != nil {
		return err
	}
	content, bytes := cutText(e.Content, e.ContentBytes, models.MaxResult)
	canonical, err := models.CanonicalContent(models.KindReply, content)
	if err != nil {
		return err
	}
	a := r.responseIn(r.actor, r.conv, models.Response{
		Kind: models.KindReply, Content: content, ContentBytes: bytes, Digest: models.Digest(canonical), Risk: models.RiskLow, BatchID: nullable(e.BatchID),
	})
	out.ResponseID = a.ID
	return r.addReported(&a.Response)
}

// message stores what the agent says that a person said: it stays the agent's
// word.
func (r *report) message(e *runEvent) error {
	sequence, _, err := r.take(r.conv.ID, 0)
	if err != nil {
		return err
	}
	content, _ := cutText(e.Content, e.ContentBytes, models.MaxResult)
	m := &models.Message{
		ID: models.NewID[models.MessageID](), ConversationID: r.conv.ID, Sequence: sequence, AuthorKind: models.ActorAgent,
		AuthorID: r.actor.ID, AuthorName: r.actor.Name, Content: content, CreatedAt: r.now,
	}
	if err := r.gorm().Create(m).Error; err != nil {
		return fmt.Errorf("store message: %w", err)
	}
	return nil
}

// status moves the run. Its end closes what was left open.
func (r *report) status(e *runEvent) error {
	if e.Status == models.ConversationCompleted || e.Status == models.ConversationFailed {
		if err := r.closeOpen(unfinishedOfRun, r.conv.ID); err != nil {
			return err
		}
	}
	return r.setStatus(r.actor, r.conv, e.Status, "")
}

// addReported stores a reported response with the next sequence.
func (r *report) addReported(a *models.Response) error {
	sequence, _, err := r.take(r.conv.ID, 0)
	if err != nil {
		return err
	}
	a.Sequence = sequence
	if _, err := r.conn.exec(r.hot.addReported, a.ID, a.ConversationID, a.Sequence, a.OwnerID, a.AgentID, a.Kind, a.CreatedAt, a.ToolUseID, a.BatchID,
		a.Digest, a.Risk, a.Content, a.ToolName, a.ToolInputJSON, a.InputBytes, a.ContentBytes, r.now); err != nil {
		return fmt.Errorf("store reported response: %w", err)
	}
	return nil
}

// eventDigest is over everything that was reported.
func eventDigest(e *models.RunEvent) [sha256.Size]byte {
	raw, err := json.Marshal(e, json.Deterministic(true))
	if err != nil {
		raw = []byte(e.ID + e.Content + e.Result) // what is not valid JSON was refused before
	}
	return sha256.Sum256(raw)
}
