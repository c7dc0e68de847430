package store

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"countersign/models"
)

// call stores a reported tool call, or joins it to the row of the request that
// the agent made for it: both are one, whichever comes first.
func (r *report) call(e *runEvent, out *models.RunEventResult) error {
	if err := r.batch(e); err != nil {
		return err
	}
	id, err := r.rowID(r.conn.row(r.hot.byToolUse, r.conv.ID, e.ToolUseID))
	if err != nil {
		return err
	}
	if id == "" {
		if id, err = r.adopt(e); err != nil {
			return err
		}
	}
	if id == "" {
		return r.newCall(e, out)
	}
	out.ResponseID = id
	a, err := r.standing(id)
	if err != nil {
		return err
	}
	if a.Digest != e.call {
		out.Status, out.Error = models.RunEventConflict, "A request with this toolUseId stands with another tool or input; it is shown as a contradiction."
		return r.contradict(id, "The agent reported this call with another tool or input.")
	}
	if _, err := r.conn.exec(r.hot.joinReported, r.now, nullable(e.BatchID), id); err != nil {
		return fmt.Errorf("join reported call: %w", err)
	}
	return r.earlyResult(e, a)
}

func (r *report) newCall(e *runEvent, out *models.RunEventResult) error {
	a := r.responseIn(r.actor, r.conv, models.Response{
		Kind: models.KindToolCall, ToolUseID: &e.ToolUseID, ToolName: e.ToolName, ToolInputJSON: e.input, InputBytes: e.inputBytes,
		Digest: e.call, Risk: models.RiskMedium, BatchID: nullable(e.BatchID),
	})
	out.ResponseID = a.ID
	if err := r.addReported(&a.Response); err != nil {
		return err
	}
	return r.earlyResult(e, a)
}

const standingAsk = `SELECT r.id FROM responses r INDEXED BY responses_agent_tool_use JOIN conversations c ON c.id = r.conversation_id
 WHERE r.agent_id = ? AND r.tool_use_id = ? AND r.digest = ? AND c.standing ORDER BY r.number DESC LIMIT 1`

// adopt moves the request that an agent made without naming a run, and that is
// the reported call, out of the agent's standing conversation into the run. What
// it cost moves with it, as far as the run's budget allows: it is spent.
func (r *report) adopt(e *runEvent) (models.ResponseID, error) {
	var id models.ResponseID
	err := r.conn.row(r.hot.standingAsk, r.actor.ID, e.ToolUseID, e.call).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) || r.conv.Standing {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("look for a request to adopt: %w", err)
	}
	a, err := r.standing(id)
	if err != nil {
		return "", err
	}
	energy := a.Energy
	sequence, fits, err := r.take(r.conv.ID, energy)
	if err == nil && !fits {
		// What was spent before anybody knew of the run stays where it was spent.
		energy = 0
		sequence, _, err = r.take(r.conv.ID, 0)
	}
	if err != nil {
		return "", err
	}
	if err := r.move(a, sequence, energy); err != nil {
		return "", err
	}
	return id, r.record(r.actor, "response.adopted", subject{owner: r.conv.OwnerID, conversation: r.conv.ID, response: id},
		map[string]any{"from": a.ConversationID, "sequence": sequence, "energy": energy})
}

// move gives a row its place in the run. Energy that the run cannot carry stays
// counted in the standing conversation, on a turn that stands for it.
func (r *report) move(a *models.Approval, sequence, energy int64) error {
	if err := r.gorm().Exec(`UPDATE responses SET conversation_id = ?, sequence = ?, energy = ? WHERE id = ?`, r.conv.ID, sequence, energy, a.ID).Error; err != nil {
		return fmt.Errorf("adopt request: %w", err)
	}
	if energy > 0 {
		return r.spentElsewhere(a.ConversationID, energy)
	}
	if a.Energy == 0 {
		return nil
	}
	err := r.gorm().Exec(`INSERT INTO turns (conversation_id, sequence, at, model, energy, said) VALUES (?, ?, ?, '', ?, '{}')`,
		a.ConversationID, a.Sequence, a.CreatedAt, a.Energy).Error
	if err != nil {
		return fmt.Errorf("keep what an adopted request cost: %w", err)
	}
	return nil
}

func (r *report) spentElsewhere(from models.ConversationID, energy int64) error {
	if err := r.gorm().Exec(`UPDATE conversations SET energy_used = energy_used - ? WHERE id = ?`, energy, from).Error; err != nil {
		return fmt.Errorf("adopt request: %w", err)
	}
	r.changed(from)
	return nil
}

// contradict notes what was reported against what stands.
func (r *report) contradict(id models.ResponseID, text string) error {
	if err := r.gorm().Exec(`UPDATE responses SET contradiction = ? WHERE id = ?`, text, id).Error; err != nil {
		return fmt.Errorf("note contradiction: %w", err)
	}
	return nil
}

// result completes a call, or waits for it to be reported.
func (r *report) result(e *runEvent, out *models.RunEventResult) error {
	text, bytes := cutText(e.Result, e.ResultBytes, models.MaxResult)
	id, err := r.rowID(r.conn.row(r.hot.byToolUse, r.conv.ID, e.ToolUseID))
	if err != nil {
		return err
	}
	if id == "" {
		if _, err := r.conn.exec(r.hot.addEarlyResult, r.conv.ID, e.ToolUseID, r.at(e), e.IsError, bytes, text); err != nil {
			return fmt.Errorf("keep early result: %w", err)
		}
		return nil
	}
	out.ResponseID = id
	a, err := r.standing(id)
	if err != nil {
		return err
	}
	return r.complete(a, r.at(e), e.IsError, bytes, text)
}

// at is when the agent says that it happened, or now.
func (r *report) at(e *runEvent) time.Time {
	if e.At == nil || e.At.After(r.now) {
		return r.now
	}
	return stamp(*e.At)
}

// complete gives a call its result. What ran although it was rejected is a
// contradiction; an error is the agent's confirmation.
func (r *report) complete(a *models.Approval, at time.Time, isError bool, bytes *int64, text string) error {
	n, err := r.conn.exec(r.hot.complete, at, isError, bytes, text, a.ID)
	if err != nil {
		return fmt.Errorf("store result: %w", err)
	}
	if exactlyOne(n) && !isError && at0(a, r.now) == models.StatusRejected {
		return r.contradict(a.ID, "The agent reported a result although the call was rejected.")
	}
	return nil
}

func at0(a *models.Approval, now time.Time) models.Status { return a.StateAt(now) }

// earlyResult gives a call the result that came before it.
func (r *report) earlyResult(e *runEvent, a *models.Approval) error {
	var (
		at      time.Time
		isError bool
		bytes   *int64
		text    string
	)
	err := r.conn.changeRow(r.hot.takeEarlyResult, r.conv.ID, e.ToolUseID).Scan(&at, &isError, &bytes, &text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for an early result: %w", err)
	}
	return r.complete(a, at, isError, bytes, text)
}
