package store

import (
	"fmt"

	"countersign/models"
)

// Calls that a run leaves open: those of one assistant message, or all.
const (
	unfinishedOfBatch = `SELECT id FROM responses INDEXED BY responses_batch WHERE conversation_id = ? AND batch_id = ? AND is_completed = FALSE AND kind = 'tool_call' ORDER BY sequence`
	unfinishedOfRun   = `SELECT id FROM responses INDEXED BY responses_unfinished
 WHERE conversation_id = ? AND reported_at IS NOT NULL AND kind = 'tool_call' AND is_completed = FALSE ORDER BY sequence`
)

// batch notes which assistant message an event belongs to. A new one closes what
// the one before left open. What a sub-agent does closes nothing of the agent
// that waits for it.
func (r *report) batch(e *runEvent) error {
	if e.BatchID == "" || e.ParentToolUseID != "" || r.conv.BatchID != nil && *r.conv.BatchID == e.BatchID {
		return nil
	}
	if r.conv.BatchID != nil {
		if err := r.closeOpen(unfinishedOfBatch, r.conv.ID, *r.conv.BatchID); err != nil {
			return err
		}
	}
	r.conv.BatchID = &e.BatchID
	if err := r.gorm().Model(&models.Conversation{}).Where("id = ?", r.conv.ID).UpdateColumn("batch_id", e.BatchID).Error; err != nil {
		return fmt.Errorf("note batch: %w", err)
	}
	return nil
}

// closeOpen closes calls without a result: the run went on without one. What is
// pending among them is cancelled, cause run_ended.
func (r *report) closeOpen(query string, args ...any) error {
	var ids []models.ResponseID
	if err := r.gorm().Raw(query, args...).Scan(&ids).Error; err != nil {
		return fmt.Errorf("read open calls: %w", err)
	}
	for _, id := range ids {
		if err := r.closeCall(r.actor, id, models.ClosedByRun, "The run went on without this call."); err != nil {
			return err
		}
	}
	return nil
}

// closeCall completes a call that has no result; a pending one is cancelled.
func (t *tx) closeCall(actor models.Actor, id models.ResponseID, by models.Closing, why string) error {
	a, err := t.standing(id)
	if err != nil {
		return err
	}
	switch {
	case a.PastDeadline(t.now):
		if err := t.expireNow(a); err != nil {
			return err
		}
	case a.Status() == models.StatusPending && a.HeldUntil == nil:
		if err := t.settleAs(actor, a, models.StatusCancelled, models.CauseRunEnded, why); err != nil {
			return err
		}
	}
	if err := t.gorm().Exec(`UPDATE responses SET is_completed = TRUE, completed_at = ?, closed = ? WHERE id = ? AND is_completed = FALSE`, t.now, by, id).Error; err != nil {
		return fmt.Errorf("close call: %w", err)
	}
	return nil
}
