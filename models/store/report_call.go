package store

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
	"countersign/models/policy"
)

// call stores a reported tool call, or joins it to the row of the request that
// the agent made for it: both are one, whichever comes first.
func (r *report) call(e *runEvent, out *models.RunEventResult) error {
	id, err := r.callWith(e)
	if err != nil {
		return err
	}
	if id == "" {
		if id, err = r.adopt(e); err != nil {
			return err
		}
	}
	var wanted *models.OutsideApproval
	if id == "" {
		if wanted, id, err = r.adoptOutside(e); err != nil {
			return err
		}
	}
	if id == "" {
		if err := r.batch(e); err != nil {
			return err
		}
		a := r.reported(e, models.Response{
			Kind: models.KindToolCall, ToolUseID: &e.ToolUseID, ToolName: e.ToolName, ToolInputJSON: e.input, InputBytes: e.inputBytes,
			Digest: e.call, Risk: models.RiskMedium,
		})
		out.ResponseID = a.ID
		if err := r.addReported(a, &models.Report{ParentToolUseID: e.ParentToolUseID}); err != nil {
			return err
		}
		if err := r.earlyResult(e, out); err != nil {
			return err
		}
		return r.reportedLate(e, a, wanted)
	}
	out.ResponseID = id
	return r.join(e, out)
}

// join makes a reported call one with the row that has its tool use id.
func (r *report) join(e *runEvent, out *models.RunEventResult) error {
	a, err := r.Request(out.ResponseID)
	if err != nil {
		return err
	}
	switch {
	case a.ReportedAt == nil:
		err = r.joinAsk(e, out)
	case a.Digest == e.call:
		out.Status = models.RunEventRepeated // under another id
	}
	if err != nil || a.Digest == e.call {
		return err
	}
	_, err = r.contradict(out, contradictsCall)
	return err
}

// joinAsk notes that a request of the agent's is a call of its run.
func (r *report) joinAsk(e *runEvent, out *models.RunEventResult) error {
	if err := r.batch(e); err != nil {
		return err
	}
	if err := r.Changes("responses", out.ResponseID); err != nil {
		return err
	}
	if _, err := r.Exec(r.s.hot.joinReported, r.at(e), nullable(e.BatchID), e.ParentToolUseID, out.ResponseID); err != nil {
		return fmt.Errorf("join reported call: %w", err)
	}
	r.Publish(events.Approval(string(out.ResponseID)))
	if err := r.earlyResult(e, out); err != nil {
		return err
	}
	return r.joinedLate(e, out.ResponseID)
}

// reported is a response that the agent says it made.
func (r *report) reported(e *runEvent, a models.Response) *models.Response {
	at := r.at(e)
	a.BatchID, a.ReportedAt = nullable(e.BatchID), &at
	return &r.responseIn(r.actor, r.conv, a).Response
}

// at is when the agent says that it happened: not later than now, nor before
// there were agents.
func (r *report) at(e *runEvent) time.Time {
	if e.At == nil || e.At.After(r.Now) || e.At.Before(time.Unix(0, 0)) {
		return r.Now
	}
	return db.Stamp(*e.At)
}

// addReported stores a reported response with the next sequence.
func (r *report) addReported(a *models.Response, with *models.Report) error {
	next, _, err := r.take(r.conv.ID, 0)
	if err != nil {
		return err
	}
	a.Sequence, a.SelfApproval = next.sequence, selfApproval(a)
	return r.insertResponse(insertReported, r.s.hot.addWholeReported, r.s.hot.addReported, a, with)
}

// costOf is what a request costs its conversation: what the agent says, at least
// what the rule demands; nothing if it only reports what has happened.
func costOf(q *asked, j policy.Judgement) int64 {
	if !q.fallback.IsZero() {
		return 0 // what is reported is never refused
	}
	cost := int64(models.DefaultEnergy)
	if q.Energy != nil {
		cost = *q.Energy
	}
	return max(cost, j.Energy)
}

const standingAsk = `SELECT r.id FROM responses r` + db.ByResponsesAgentToolUse + ` JOIN conversations c ON c.id = r.conversation_id
 WHERE r.agent_id = ? AND r.tool_use_id = ? AND r.digest = ? AND c.standing ORDER BY r.number DESC LIMIT 1`

// adopt moves the request that an agent made without naming a run, and that is
// the reported call, out of the agent's standing conversation into the run. What
// it cost moves with it, as far as the run's budget allows: it is spent.
func (r *report) adopt(e *runEvent) (id models.ResponseID, err error) {
	if r.conv.Standing {
		return "", nil
	}
	if err := r.Row(r.s.hot.standingAsk, r.actor.ID, e.ToolUseID, e.call).Scan(&id); errors.Is(err, sql.ErrNoRows) {
		return "", nil
	} else if err != nil {
		return "", fmt.Errorf("look for a request to adopt: %w", err)
	}
	a, err := r.Request(id)
	if err != nil {
		return "", err
	}
	energy := a.Energy
	next, fits, err := r.take(r.conv.ID, energy)
	if err == nil && !fits {
		// What was spent before anybody knew of the run stays where it was spent.
		energy = 0
		next, _, err = r.take(r.conv.ID, 0)
	}
	if err != nil {
		return "", err
	}
	if err := r.move(a, next.sequence, energy); err != nil {
		return "", err
	}
	leftRunning, err := r.isRunning(a.ConversationID)
	if err != nil {
		return "", err
	}
	r.changed(a.ConversationID)
	r.Publish(events.Agent(string(r.conv.AgentID)), events.RecordOf(string(r.conv.OwnerID)), events.RecordOfAdmins)
	r.Publish(events.Approval(string(id)), events.InboxOfAdmins, events.InboxOf(string(a.OwnerID)))
	return id, r.Record(r.actor, "response.adopted", ledger.Subject{Owner: r.conv.OwnerID, Conversation: r.conv.ID, Response: id},
		adoptedEntry{From: a.ConversationID, FromSequence: a.Sequence, Sequence: next.sequence, Energy: energy, Conversation: waitBegins(a, next.running), Left: waitEndsFor(a, leftRunning)})
}

type adoptedEntry struct {
	From         models.ConversationID `json:"from"`
	FromSequence int64                 `json:"from_sequence"`
	Sequence     int64                 `json:"sequence"`
	Energy       int64                 `json:"energy"`
	Conversation *models.StatusChange  `json:"conversation_status,omitempty"` // of the run, which waits from now on
	Left         *models.StatusChange  `json:"from_status,omitempty"`         // of the conversation that it was in

	// Of an approval of another system, which becomes the agent's whose call it is for.
	Agent models.AgentID `json:"agent,omitempty"`
}

// move gives a row its place in the run. Energy that the run cannot carry stays
// counted in the standing conversation, on a turn that stands for it.
func (r *report) move(a *models.Approval, sequence, energy int64) error {
	if err := r.Changes("responses", a.ID); err != nil {
		return err
	}
	if err := r.updateOne(r.placeOf(&a.Response), map[string]any{"conversation_id": r.conv.ID, "sequence": sequence, "energy": energy}); err != nil {
		return fmt.Errorf("adopt request: %w", err)
	}
	if energy > 0 {
		if err := r.Gorm().Exec(`UPDATE conversations SET energy_used = energy_used - ? WHERE id = ?`, energy, a.ConversationID).Error; err != nil {
			return fmt.Errorf("adopt request: %w", err)
		}
		return nil
	}
	if a.Energy == 0 {
		return nil
	}
	err := r.Gorm().Exec(`INSERT INTO turns (conversation_id, sequence, at, model, energy, said) VALUES (?, ?, ?, '', ?, '{}')`,
		a.ConversationID, a.Sequence, a.CreatedAt, a.Energy).Error
	if err != nil {
		return fmt.Errorf("keep what an adopted request cost: %w", err)
	}
	return nil
}
