package runs

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
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
	var approval *models.OutsideApproval
	if id == "" {
		if approval, id, err = r.adoptOutside(e); err != nil {
			return err
		}
	}
	if id == "" {
		if err := r.batch(e); err != nil {
			return err
		}
		a, err := r.add(e, out, models.Response{
			Kind: models.KindToolCall, ToolUseID: &e.ToolUseID, ToolName: e.ToolName, ToolInputJSON: e.input,
			InputBytes: e.inputBytes,
			Digest:     e.call, Risk: models.RiskMedium,
		}, &models.Report{ParentToolUseID: e.ParentToolUseID})
		if err != nil {
			return err
		}
		if err := r.earlyResult(e, out.ResponseID); err != nil {
			return err
		}
		return r.reportedLate(e, a, approval)
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
	if err := r.JoinReported(out.ResponseID, r.at(e), e.BatchID, e.ParentToolUseID); err != nil {
		return err
	}
	if err := r.earlyResult(e, out.ResponseID); err != nil {
		return err
	}
	return r.joinedLate(e, out.ResponseID)
}

// add stores a response that the agent says it made.
func (r *report) add(
	e *runEvent, out *models.RunEventResult, a models.Response, with *models.Report,
) (*models.Response, error) {
	if a.ReportedAt = new(r.at(e)); e.BatchID != "" {
		a.BatchID = &e.BatchID
	}
	added, err := r.AddReported(r.actor, r.conv, a, with)
	if err != nil {
		return nil, err
	}
	out.ResponseID = added.ID
	return added, nil
}

// at is when the agent says that it happened: not later than now, nor before
// there were agents.
func (r *report) at(e *runEvent) time.Time {
	if e.At == nil || e.At.After(r.Now) || e.At.Before(time.Unix(0, 0)) {
		return r.Now
	}
	return db.Stamp(*e.At)
}

const standingAsk = `SELECT r.id FROM responses r` + db.ByResponsesAgentToolUse +
	` JOIN conversations c ON c.id = r.conversation_id
 WHERE r.agent_id = ? AND r.tool_use_id = ? AND r.digest = ? AND c.standing ORDER BY r.number DESC LIMIT 1`

// adopt moves the agent's request without a run that is the reported call out of the agent's default conversation into
// the run.
func (r *report) adopt(e *runEvent) (models.ResponseID, error) {
	if r.conv.Standing {
		return "", nil
	}
	id, err := r.idOf(standingAsk, r.actor.ID, e.ToolUseID, e.call)
	if id == "" || err != nil {
		return "", err
	}
	a, err := r.Request(id)
	if err != nil {
		return "", err
	}
	return id, r.Adopt(r.actor, r.conv, a)
}

// idOf is the one id that a query finds; empty: none.
func (t *tx) idOf(query string, args ...any) (id models.ResponseID, err error) {
	stmt, err := t.Prepared(query)
	if err != nil {
		return "", err
	}
	err = t.Row(stmt, args...).Scan(&id)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("look for a call: %w", err)
	}
	return id, nil
}

// notReported finds the first call with an id that was asked about and not reported.
const notReported = `SELECT id FROM responses` + db.ByResponsesToolUse +
	` WHERE conversation_id = ? AND tool_use_id = ? AND reported_at IS NULL ORDER BY sequence LIMIT 1`

// callWith finds the row of a reported call by its id: one with a request and no report yet, else the one that has no
// result yet. Empty: the call is a new one. The message, or else the event's own id, tells a call that comes again
// from one that is reported again.
func (r *report) callWith(e *runEvent) (models.ResponseID, error) {
	id, err := r.LatestUse(r.conv.ID, e.ToolUseID)
	if err != nil || id == "" {
		return "", err
	}
	asked, err := r.idOf(notReported, r.conv.ID, e.ToolUseID)
	if err != nil || asked != "" {
		return asked, err
	}
	a, err := r.Request(id)
	if err != nil {
		return "", err
	}
	hasRun := a.IsCompleted && a.Closed == "" && a.Status() != models.StatusPending
	sameMessage := e.BatchID != "" && a.BatchID != nil && *a.BatchID == e.BatchID
	if hasRun && !sameMessage && (e.ID != "" || a.Digest != e.call) {
		return "", nil
	}
	return id, nil
}

// ofNextUse checks an event without an id of its own against the next call with the same tool use id, where the store
// has such an event of the call before. A result belongs to the next call if it differs, or if that call may have run.
func (r *report) ofNextUse(e *runEvent, out *models.RunEventResult, same bool) (sameAgain, found bool, err error) {
	if e.ID != "" || e.ToolUseID == "" || out.ResponseID == "" { // a result that came before its call
		return same, true, nil
	}
	next, err := r.LatestUse(r.conv.ID, e.ToolUseID)
	if err != nil || next == "" || next == out.ResponseID {
		return same, true, err
	}
	a, err := r.Request(next)
	if err != nil {
		return false, false, err
	}
	if e.Type == models.RunEventToolResult && same && !a.Response.MayRun() ||
		e.Type == models.RunEventToolCall && a.Digest != e.call {
		return same, true, nil
	}
	first := e.key
	e.key += ":" + string(next)
	sameAgain, found, err = r.knownAs(e, out)
	if err == nil && !found && a.IsCompleted && same { // sent again, after both
		e.key = first
		return true, true, nil
	}
	return sameAgain, found, err
}
