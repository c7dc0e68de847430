package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
	"countersign/models/requests"
)

// reportedResult is a result as the agent reports it.
type reportedResult struct {
	at      time.Time
	isError bool
	bytes   *int64
	text    string
	removed *string // the mark of the removal that took it
}

// result completes a call, or waits for it to be reported. Whether anybody has
// decided about the call does not matter: what was reported is kept, and what
// contradicts an outcome is shown beside it.
func (r *report) result(e *runEvent, out *models.RunEventResult) error {
	g := reportedResult{at: r.at(e), isError: e.IsError}
	g.text, g.bytes = cutText(e.Result, e.ResultBytes)
	id, err := r.rowID(r.Row(r.s.hot.byToolUse, r.conv.ID, e.ToolUseID))
	if err != nil {
		return err
	}
	if id == "" {
		return r.keepEarly(e.ToolUseID, g, out)
	}
	out.ResponseID = id
	return r.complete(g, out)
}

// complete gives a call its result. A call that was closed has one after all.
func (r *report) complete(g reportedResult, out *models.RunEventResult) error {
	if err := r.Changes("responses", out.ResponseID); err != nil {
		return err
	}
	n, err := r.Exec(r.s.hot.complete, g.at, g.isError, g.bytes, g.text, out.ResponseID)
	if err != nil {
		return fmt.Errorf("store result: %w", err)
	}
	if db.ExactlyOne(n) {
		r.Publish(events.Approval(string(out.ResponseID)))
		return nil
	}
	same, err := db.Exists(r.Row(r.s.hot.sameResult, out.ResponseID, g.isError, g.text))
	if err != nil {
		return err
	}
	if !same {
		same, err = db.Exists(r.Row(r.s.hot.sameResultOfUse, out.ResponseID, g.isError, g.text)) // of an earlier call with this id
	}
	if err != nil {
		return err
	}
	if same {
		out.Status = models.RunEventRepeated
		return nil
	}
	_, err = r.contradict(out, contradictsResult)
	return err
}

// keepEarly keeps a result until its call is reported.
func (r *report) keepEarly(toolUseID string, g reportedResult, out *models.RunEventResult) error {
	n, err := r.Exec(r.s.hot.addEarlyResult, r.conv.ID, toolUseID, g.at, g.isError, g.bytes, g.text)
	if err != nil {
		return fmt.Errorf("keep early result: %w", err)
	}
	if db.ExactlyOne(n) {
		r.s.known.early = new(true)
		return nil
	}
	// One waits already, under another id.
	same, err := db.Exists(r.Row(r.s.hot.sameEarly, r.conv.ID, toolUseID, g.isError, g.text))
	if err != nil {
		return err
	}
	if out.Status = models.RunEventRepeated; !same {
		out.Status, out.Error = models.RunEventConflict, "Another result of this call was reported before; nothing was changed."
	}
	return nil
}

// earlyResult gives a call the result that came before it, if one did.
func (r *report) earlyResult(e *runEvent, out *models.RunEventResult) error {
	g, err := r.takeEarly(r.conv.ID, e.ToolUseID)
	if g == nil || err != nil {
		return err
	}
	if g.removed != nil {
		return r.resultRemoved(g, out.ResponseID)
	}
	return r.complete(*g, &models.RunEventResult{ResponseID: out.ResponseID})
}

// takeEarly takes the result that waits for a call, or nil. Mostly none waits for
// any, which the writer remembers.
func (t *Tx) takeEarly(conv models.ConversationID, toolUseID string) (*reportedResult, error) {
	known := &t.s.known
	if known.early == nil {
		waits, err := db.Exists(t.Row(t.s.hot.anyEarlyResult))
		if err != nil {
			return nil, err
		}
		known.early = &waits
	}
	if !*known.early || toolUseID == "" {
		return nil, nil //nolint:nilnil // none is an answer here
	}
	var g reportedResult
	err := t.ChangeRow(t.s.hot.takeEarlyResult, conv, toolUseID).Scan(&g.at, &g.isError, &g.bytes, &g.text, &g.removed)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // as above
	}
	if err != nil {
		return nil, fmt.Errorf("look for an early result: %w", err)
	}
	return &g, nil
}

// resultRemoved completes a call whose result was removed before the call was
// known: it has none, and says why.
func (t *Tx) resultRemoved(g *reportedResult, id models.ResponseID) error {
	if err := t.Changes("responses", id); err != nil {
		return err
	}
	if _, err := t.Exec(t.s.hot.closeCall, g.at, models.ClosedByRun, id); err != nil {
		return fmt.Errorf("complete without a result: %w", err)
	}
	text := "Its result came before the call, and was " + *g.removed + "."
	if _, err := t.Exec(t.s.hot.contradict, text, id); err != nil {
		return fmt.Errorf("note a removed result: %w", err)
	}
	return nil
}

// askedLate gives a request the result that was reported before it was made.
func (t *Tx) askedLate(a *models.Approval) error {
	if a.ToolUseID == nil {
		return nil
	}
	g, err := t.takeEarly(a.ConversationID, *a.ToolUseID)
	if g == nil || err != nil {
		return err
	}
	a.IsCompleted = true
	if g.removed != nil {
		a.Closed = models.ClosedByRun
		return t.resultRemoved(g, a.ID)
	}
	if err := t.Changes("responses", a.ID); err != nil {
		return err
	}
	if _, err := t.Exec(t.s.hot.complete, g.at, g.isError, g.bytes, g.text, a.ID); err != nil {
		return fmt.Errorf("store result: %w", err)
	}
	return nil
}

// Calls that are under way in a run: those of an agent or sub-agent that are of
// another batch, and all.
const (
	unfinished = `SELECT id, sequence FROM responses` + db.ByResponsesUnfinished + `
 WHERE kind = 'tool_call' AND reported_at IS NOT NULL AND (is_completed = FALSE OR approval_status = 'pending') AND conversation_id = ?1`
	unfinishedBefore = unfinished + ` AND parent_tool_use_id = ?2 AND batch_id < ?3 UNION ALL ` + unfinished + ` AND parent_tool_use_id = ?2 AND batch_id > ?3`
)

// batch notes which assistant message an event belongs to: a new one of the same
// agent, or of the same sub-agent, closes what the one before left open. What a
// sub-agent does closes nothing of the agent that waits for it, nor the other way
// round. Without a batch nobody knows which message it is, and nothing is closed.
func (r *report) batch(e *runEvent) error {
	if e.BatchID == "" || r.batches[e.ParentToolUseID] == e.BatchID {
		return nil
	}
	r.batches[e.ParentToolUseID] = e.BatchID
	rows, err := r.Rows(r.s.hot.unfinishedBefore, r.conv.ID, e.ParentToolUseID, e.BatchID)
	if err != nil {
		return fmt.Errorf("read open calls: %w", err)
	}
	defer rows.Close()
	var open []openCall
	for rows.Next() {
		var c openCall
		if err := rows.Scan(&c.ID, &c.Sequence); err != nil {
			return fmt.Errorf("read open calls: %w", err)
		}
		open = append(open, c)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read open calls: %w", err)
	}
	return r.closeAll(open, "The run went on without this call.")
}

type openCall struct {
	ID       models.ResponseID
	Sequence int64
}

// end closes what the run leaves open, and cancels all that is pending in it:
// nobody waits for an outcome any more.
func (r *report) end() error {
	var open, pending []openCall
	if err := r.Gorm().Raw(unfinished, r.conv.ID).Scan(&open).Error; err != nil {
		return fmt.Errorf("read open calls: %w", err)
	}
	if err := r.Gorm().Raw(pendingOfRun, r.conv.ID).Scan(&pending).Error; err != nil {
		return fmt.Errorf("read what is pending: %w", err)
	}
	return r.closeAll(append(open, pending...), "The run has ended.")
}

const pendingOfRun = `SELECT id, sequence FROM responses` + db.ByResponsesPendingConversation + ` WHERE conversation_id = ? AND approval_status = 'pending'`

// closeAll closes calls in the order in which they stand.
func (r *report) closeAll(open []openCall, why string) error {
	slices.SortFunc(open, func(a, b openCall) int { return cmp.Compare(a.Sequence, b.Sequence) })
	for _, c := range slices.Compact(open) {
		if err := r.closeByRun(c.ID, why); err != nil {
			return err
		}
	}
	return nil
}

// closeByRun completes a call that has no result. What is pending is cancelled,
// cause run_ended, and a verdict that holds it is withdrawn, unless the other
// system is being told of it: then that verdict stands (I1).
func (r *report) closeByRun(id models.ResponseID, why string) error {
	a, err := r.Request(id)
	if err != nil {
		return err
	}
	switch {
	case a.PastDeadline(r.Now):
		err = r.expireNow(a)
	case a.Status() == models.StatusPending:
		err = r.settleAs(r.actor, a, models.StatusCancelled, models.CauseRunEnded, why)
		if models.ErrorCode(err) == models.CodeBeingDecided {
			err = nil
		}
	}
	if err != nil {
		return err
	}
	return r.closeCall(a, models.ClosedByRun)
}

// closeCall completes a tool call without a result.
func (t *Tx) closeCall(a *models.Approval, by models.ClosedBy) error {
	if a.Kind != models.KindToolCall || a.IsCompleted {
		return nil
	}
	a.IsCompleted, a.Closed = true, by
	if err := t.Changes("responses", a.ID); err != nil {
		return err
	}
	if _, err := t.Exec(t.s.hot.closeCall, t.Now, by, a.ID); err != nil {
		return fmt.Errorf("close call: %w", err)
	}
	return nil
}

// CloseCall completes a call of a run that is stuck: no result is waited for any
// more, and if one comes after all it is taken. Closing what was closed already
// changes nothing. For the conversation's owner and admins. A call that waits for
// approval is not stuck: it is decided.
//
// Codes: forbidden, not_found; wrong_decision_kind for what is no tool call, or
// waits for approval; being_decided; already_decided where there is a result.
func (s *Store) CloseCall(ctx context.Context, actor models.Actor, id models.ResponseID) (*models.Approval, error) {
	if !actor.IsPerson() {
		return nil, models.Errorf(models.CodeForbidden, "Only a person may close a call.")
	}
	var out *models.Approval
	err := s.write(ctx, func(t *Tx) error {
		a, err := t.Request(id)
		if err != nil {
			return err
		}
		if a == nil || !actor.Admin && actor.UserID() != a.OwnerID {
			return requests.NoSuchApproval(id)
		}
		out = requests.At(a, t.Now)
		if a.IsCompleted {
			return t.closedAlready(a)
		}
		if err := closable(a); err != nil {
			return err
		}
		if err := t.closeCall(a, models.ClosedByOwner); err != nil {
			return err
		}
		t.changed(a.ConversationID)
		t.Publish(events.Approval(string(a.ID)))
		return t.Record(actor, "call.closed", ledger.SubjectOf(&a.Response, nil), map[string]any{"digest": a.Digest, "sequence": a.Sequence})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func closable(a *models.Approval) error {
	switch {
	case a.Kind != models.KindToolCall:
		return models.Errorf(models.CodeWrongDecisionKind, "Only a tool call can be closed.")
	case a.Status() == models.StatusPending && a.HeldUntil != nil:
		return conflictOf(a)
	case a.Status() == models.StatusPending:
		return &models.Error{Code: models.CodeWrongDecisionKind, Text: "This call waits for approval: approve or reject it.", Approval: a}
	}
	return nil
}

// closedAlready refuses to close a call that has a result.
func (t *Tx) closedAlready(a *models.Approval) error {
	closed, err := db.Exists(t.Row(t.s.hot.isClosed, a.ID))
	if err != nil || closed {
		return err
	}
	return &models.Error{Code: models.CodeAlreadyDecided, Text: "This call has a result.", Approval: a}
}
