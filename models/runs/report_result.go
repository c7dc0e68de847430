package runs

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/ledger"
	"countersign/models/requests"
	"countersign/models/store"
)

// result completes a call, or waits for it to be reported. It does not depend on a decision: every reported result is
// kept, and one that contradicts an outcome is shown beside it.
func (r *report) result(e *runEvent, out *models.RunEventResult) error {
	g := &store.Result{At: r.at(e), IsError: e.IsError}
	g.Text, g.Bytes = cutText(e.Result, e.ResultBytes)
	id, err := r.LatestUse(r.conv.ID, e.ToolUseID)
	if err != nil {
		return err
	}
	if out.ResponseID = id; id != "" {
		return r.complete(g, out)
	}
	if out.Status, err = r.KeepEarlyResult(r.conv.ID, e.ToolUseID, g); out.Status == models.RunEventConflict {
		out.Error = "Another result of this call was reported before; nothing was changed."
	}
	return err
}

// complete gives a call its result. A call that was closed has one after all.
func (r *report) complete(g *store.Result, out *models.RunEventResult) (err error) {
	if out.Status, err = r.CompleteCall(out.ResponseID, g); err != nil || out.Status != models.RunEventConflict {
		return err
	}
	_, err = r.contradict(out, contradictsResult)
	return err
}

// earlyResult gives a call the result that came before it, if one did.
func (r *report) earlyResult(e *runEvent, id models.ResponseID) error {
	g, err := r.TakeEarlyResult(r.conv.ID, e.ToolUseID)
	if g == nil || err != nil {
		return err
	}
	if g.Removed != nil {
		return r.CompleteRemoved(id, g)
	}
	return r.complete(g, &models.RunEventResult{ResponseID: id})
}

// Calls that are under way in a run: those of an agent or sub-agent that are of
// another batch, and all.
const (
	unfinished = `SELECT id, sequence FROM responses` + db.ByResponsesUnfinished + `
 WHERE kind = 'tool_call' AND reported_at IS NOT NULL AND (is_completed = FALSE OR approval_status = 'pending') AND conversation_id = ?1`
	unfinishedBefore = unfinished + ` AND parent_tool_use_id = ?2 AND batch_id < ?3 UNION ALL ` + unfinished +
		` AND parent_tool_use_id = ?2 AND batch_id > ?3`
)

// batch notes which assistant message an event belongs to: a new one of the same agent, or of the same sub-agent,
// closes what the one before left open. Events of a sub-agent close nothing of the agent that waits for it, nor the
// other way round. Without a batch the message is unknown, and nothing is closed.
func (r *report) batch(e *runEvent) error {
	if e.BatchID == "" || r.batches[e.ParentToolUseID] == e.BatchID {
		return nil
	}
	r.batches[e.ParentToolUseID] = e.BatchID
	var open []openCall
	if err := r.Gorm().Raw(unfinishedBefore, r.conv.ID, e.ParentToolUseID, e.BatchID).Scan(&open).Error; err != nil {
		return fmt.Errorf("read open calls: %w", err)
	}
	return r.closeAll(open, "The run went on without this call.")
}

type openCall struct {
	ID       models.ResponseID
	Sequence int64
}

// end closes what the run leaves open, and cancels its pending requests: no caller waits for an outcome any more.
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

const pendingOfRun = `SELECT id, sequence FROM responses` + db.ByResponsesPendingConversation +
	` WHERE conversation_id = ? AND approval_status = 'pending'`

// closeAll closes calls in their order.
func (r *report) closeAll(open []openCall, why string) error {
	slices.SortFunc(open, func(a, b openCall) int { return cmp.Compare(a.Sequence, b.Sequence) })
	for _, c := range slices.Compact(open) {
		if err := r.closeByRun(c.ID, why); err != nil {
			return err
		}
	}
	return nil
}

// closeByRun completes a call that has no result. A pending one is cancelled, cause run_ended, and a verdict that
// holds it is withdrawn, unless the other system is receiving it: then that verdict counts (I1).
func (r *report) closeByRun(id models.ResponseID, why string) error {
	a, err := r.Request(id)
	if err != nil {
		return err
	}
	if a.Status() == models.StatusPending {
		err = r.CancelBecause(r.actor, a, models.CauseRunEnded, why)
		if err != nil && models.ErrorCode(err) != models.CodeBeingDecided {
			return err
		}
	}
	return r.CloseCall(a, models.ClosedByRun)
}

// CloseCall completes a call of a run that is stuck: the run waits for no result any more, but a late one is stored.
// Closing a closed call changes nothing. For the conversation's owner and admins. A call that waits for approval is
// not stuck: it is decided.
//
// Codes: forbidden, not_found; wrong_decision_kind for a row that is not a tool call, or waits for approval;
// being_decided; already_decided if there is a result.
func (r *Runs) CloseCall(ctx context.Context, actor models.Actor, id models.ResponseID) (*models.Approval, error) {
	if !actor.IsPerson() {
		return nil, models.Errorf(models.CodeForbidden, "Only a person may close a call.")
	}
	var out *models.Approval
	err := r.write(ctx, func(t *tx) error {
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
		if err := t.CloseCall(a, models.ClosedByOwner); err != nil {
			return err
		}
		t.changed(a.ConversationID)
		t.Publish(events.Approval(string(a.ID)))
		return t.Record(actor, "call.closed", ledger.SubjectOf(&a.Response, nil),
			map[string]any{"digest": a.Digest, "sequence": a.Sequence})
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
		return &models.Error{Code: models.CodeBeingDecided, Text: "A decision on this request is on its way.", Approval: a}
	case a.Status() == models.StatusPending:
		return &models.Error{
			Code: models.CodeWrongDecisionKind, Text: "This call waits for approval: approve or reject it.", Approval: a,
		}
	}
	return nil
}

// closedAlready refuses to close a call that has a result.
func (t *tx) closedAlready(a *models.Approval) error {
	const isClosed = `SELECT 1 FROM responses WHERE id = ? AND closed <> ''`
	closed, err := db.Exists(t.QueryRowContext(context.Background(), isClosed, a.ID))
	if err != nil || closed {
		return err
	}
	return &models.Error{Code: models.CodeAlreadyDecided, Text: "This call has a result.", Approval: a}
}
