package runs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"countersign/models"
	"countersign/models/db"
)

// The outside approval that waits for a reported call with the same tool and
// input: of the call's own run, of a run that it started, of the run that started
// it. The one that was asked for first comes first.
const (
	wantedColumns = `SELECT o.number, o.upstream_id, o.call_id, o.response_id FROM `
	wantedOf      = ` CROSS JOIN upstreams u ON u.id = o.upstream_id AND u.owner_id = ?1 CROSS JOIN responses a ON a.id = o.response_id
 WHERE o.waits = TRUE AND o.digest = ?2 AND o.tool_use_id IN ('', ?3) AND (a.approval_status = 'pending' OR a.approval_timestamp > ?4)`
	wantedInRun = wantedColumns + `outside_approvals o` + db.ByOutsideApprovalsWanted + wantedOf +
		` AND o.run_id = ?5 ORDER BY o.first_at LIMIT 1`
	wantedBelow = wantedColumns + `conversations c` + db.ByConversationsParentRun + `
 CROSS JOIN outside_approvals o` + db.ByOutsideApprovalsWanted + ` ON o.run_id = c.run_id` + wantedOf + ` AND c.owner_id = ?1 AND c.parent_run_id = ?5 ORDER BY o.first_at LIMIT 1`

	wantedCalls = `SELECT 1 FROM outside_approvals` + db.ByOutsideApprovalsWanted +
		` WHERE waits = TRUE AND digest = ? LIMIT 1`
)

// wanted finds the outside approval that waits for a reported call; nil: none
// does.
func (r *report) wanted(e *runEvent) (*models.OutsideApproval, error) {
	if r.conv.RunID == nil || r.conv.Standing {
		return nil, nil //nolint:nilnil // none is an answer here
	}
	calls, err := r.Prepared(wantedCalls)
	if err != nil {
		return nil, err
	}
	if waits, err := db.Exists(r.Row(calls, e.call)); err != nil || !waits {
		return nil, err
	}
	looks := []struct{ query, run string }{
		{wantedInRun, *r.conv.RunID}, {wantedBelow, *r.conv.RunID}, {wantedInRun, parentOf(r.conv)},
	}
	for _, look := range looks {
		if look.run == "" {
			continue
		}
		var row models.OutsideApproval
		err := r.QueryRowContext(context.Background(), look.query, r.conv.OwnerID, e.call, e.ToolUseID,
			r.Now.Add(-models.LinkAfterEnd), look.run).
			Scan(&row.Number, &row.UpstreamID, &row.CallID, &row.ResponseID)
		if err == nil {
			return &row, nil
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return nil, fmt.Errorf("look for an approval of a reported call: %w", err)
		}
	}
	return nil, nil //nolint:nilnil // as above
}

// adoptOutside moves the outside approval that waits for a reported call into its
// run: both are one row. An approval that was decided, or is being decided, stays
// where it is; it is returned, to be linked to the call's own row.
func (r *report) adoptOutside(e *runEvent) (approval *models.OutsideApproval, id models.ResponseID, err error) {
	if approval, err = r.wanted(e); approval == nil || err != nil {
		return nil, "", err
	}
	a, err := r.Request(approval.ResponseID)
	if err != nil {
		return nil, "", err
	}
	if a.StateAt(r.Now) != models.StatusPending || a.HeldUntil != nil {
		return approval, "", nil
	}
	return nil, a.ID, r.AdoptOutside(r.actor, r.conv, approval, a, e.ToolUseID)
}

// rejectedIn is the call of a batch that a person rejected, with a row of its own
// or by an outside approval that is linked to it.
const rejectedIn = `SELECT r.id FROM responses r` + db.ByResponsesBatch + `
 WHERE r.conversation_id = ?1 AND r.batch_id = ?2 AND r.kind = 'tool_call' AND r.approval_status = 'rejected' AND r.cause = 'reviewer'
UNION ALL SELECT a.id FROM responses r` + db.ByResponsesBatch + `
 CROSS JOIN outside_approvals o` + db.ByOutsideApprovalsLinked + ` ON o.linked_id = r.id AND o.linked_id <> '' CROSS JOIN responses a ON a.id = o.response_id
 WHERE r.conversation_id = ?1 AND r.batch_id = ?2 AND r.kind = 'tool_call' AND a.approval_status = 'rejected' AND a.cause = 'reviewer' LIMIT 1`

// reportedLate does to a call that was just stored what it would have met if it
// had been reported in time: it is linked to its approval, if that was decided
// before, or rejected with the call before it in its batch that a person rejected.
func (r *report) reportedLate(e *runEvent, a *models.Response, approval *models.OutsideApproval) error {
	if approval != nil {
		return r.linkDecided(e, a, approval)
	}
	from, err := r.rejectedBefore(e)
	if from == nil || err != nil {
		return err
	}
	call, err := r.Request(a.ID)
	if err != nil || call.IsCompleted {
		return err
	}
	return r.RejectWith(from.ID, a.ID)
}

// joinedLate does the same to a request that was asked for before its call was
// reported, and to those after it if it is the one that a person rejected.
func (r *report) joinedLate(e *runEvent, id models.ResponseID) error {
	if e.BatchID == "" || r.conv.OnReject != models.OnRejectCascade {
		return nil
	}
	a, err := r.Request(id)
	if err != nil {
		return err
	}
	if a.Status() == models.StatusRejected && a.Cause == models.CauseReviewer {
		delete(r.rejected, e.BatchID) // none was known before
		return r.Cascade(models.System("cascade"), a)
	}
	open := a.Status() == models.StatusPending || a.Status() == models.StatusNone && a.Cause == models.CauseNone
	from, err := r.rejectedBefore(e)
	if from == nil || err != nil || !open || a.IsCompleted {
		return err
	}
	before, err := r.QueuedBefore(a, from)
	if before || err != nil {
		return err
	}
	return r.RejectWith(from.ID, id)
}

// linkDecided links a call to its approval that was decided, or is being decided.
func (r *report) linkDecided(e *runEvent, a *models.Response, outside *models.OutsideApproval) error {
	approval, err := r.Request(outside.ResponseID)
	if err != nil {
		return err
	}
	delete(r.rejected, e.BatchID) // it may be this one
	return r.LinkCall(approval, outside, models.Match{ID: a.ID, By: models.MatchedByInput, SameInput: true})
}

// rejectedBefore is the call of an event's batch that a person rejected; nil:
// there is none, or nothing follows from it.
func (r *report) rejectedBefore(e *runEvent) (*models.Approval, error) {
	if e.BatchID == "" || r.conv.OnReject != models.OnRejectCascade {
		return nil, nil //nolint:nilnil // none is an answer here
	}
	if from, known := r.rejected[e.BatchID]; known {
		return from, nil
	}
	id, err := r.idOf(rejectedIn, r.conv.ID, e.BatchID)
	if err != nil {
		return nil, err
	}
	r.rejected[e.BatchID] = nil
	if id == "" {
		return nil, nil //nolint:nilnil // as above
	}
	r.rejected[e.BatchID], err = r.Request(id)
	return r.rejected[e.BatchID], err
}
