package store

import (
	"cmp"
	"fmt"
	"slices"

	"countersign/models"
)

// Calls that are under way in a run: those of an agent or sub-agent that are of
// another batch, and all.
const (
	unfinished = `SELECT id, sequence FROM responses INDEXED BY responses_unfinished
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

const pendingOfRun = `SELECT id, sequence FROM responses INDEXED BY responses_pending_conversation WHERE conversation_id = ? AND approval_status = 'pending'`

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
	a, err := r.standing(id)
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
func (t *tx) closeCall(a *models.Approval, by models.Closing) error {
	if a.Kind != models.KindToolCall || a.IsCompleted {
		return nil
	}
	a.IsCompleted, a.Closed = true, by
	if _, err := t.Exec(t.s.hot.closeCall, t.Now, by, a.ID); err != nil {
		return fmt.Errorf("close call: %w", err)
	}
	return nil
}
