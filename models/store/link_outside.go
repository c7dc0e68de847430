package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/ledger"
)

// linkAfterEnd is for how long an approval that has ended is still linked to its
// call: a run may be reported later than a person decides.
const linkAfterEnd = time.Hour

// An open call of the same tool that an approval may be for: in its own run, in
// the run above it, and in those below it.
const (
	fitsByName = ` JOIN responses r INDEXED BY responses_open ON r.conversation_id = c.id AND r.tool_name = o.name AND r.kind = 'tool_call'
 AND r.is_completed = FALSE AND r.approval_status IS NULL AND r.cause = '' AND o.tool_use_id IN ('', r.tool_use_id) AND NOT ` + isLinked
	fitsByInput = ` JOIN responses r INDEXED BY responses_open_input ON r.conversation_id = c.id AND r.digest = o.digest AND r.kind = 'tool_call'
 AND r.is_completed = FALSE AND r.approval_status IS NULL AND r.cause = '' AND o.tool_use_id IN ('', r.tool_use_id) AND NOT ` + isLinked
	isLinked = `EXISTS (SELECT 1 FROM outside_approvals l INDEXED BY outside_approvals_linked WHERE l.linked_id = r.id AND l.linked_id <> '')`

	ofOwnRun   = `EXISTS (SELECT 1 FROM conversations c INDEXED BY conversations_run`
	ofRunBelow = `EXISTS (SELECT 1 FROM conversations c INDEXED BY conversations_parent_run`
	isOwnRun   = ` WHERE c.owner_id = ?2 AND c.run_id = o.run_id)`
	isRunAbove = ` WHERE c.owner_id = ?2 AND c.run_id = (SELECT p.parent_run_id FROM conversations p INDEXED BY conversations_run WHERE p.owner_id = ?2 AND p.run_id = o.run_id))`
	isRunBelow = ` WHERE c.owner_id = ?2 AND c.parent_run_id = o.run_id)`
)

// linkable are the approvals that wait for a call and may have one now, or have
// ended too long ago to wait on. ?3 and ?4 are from when on the name alone tells,
// and the end is long ago.
const linkable = `SELECT o.call_id FROM outside_approvals o INDEXED BY outside_approvals_waiting WHERE o.upstream_id = ?1 AND o.waits = TRUE AND (` +
	`EXISTS (SELECT 1 FROM responses a WHERE a.id = o.response_id AND a.approval_timestamp <= ?4)` +
	` OR ` + ofOwnRun + fitsByInput + isOwnRun + ` OR ` + ofOwnRun + fitsByInput + isRunAbove + ` OR ` + ofRunBelow + fitsByInput + isRunBelow +
	` OR o.linked_id = '' AND o.first_at <= ?3 AND (` + ofOwnRun + fitsByName + isOwnRun + ` OR ` + ofOwnRun + fitsByName + isRunAbove + ` OR ` + ofRunBelow + fitsByName + isRunBelow + `)) ORDER BY o.first_at`

// LinkOutside looks again for the calls of an upstream's approvals that found none.
// An approval and its call that both have a row keep them, and lead to each other.
// It writes nothing for who has lost the lease: CodeConflict.
func (s *Store) LinkOutside(ctx context.Context, l *models.Lease, u *models.Upstream) error {
	now := s.db.Now()
	var calls []string
	if err := s.db.Gorm(context.WithoutCancel(ctx)).Raw(linkable, u.ID, u.OwnerID, now.Add(-models.NameAloneAfter), now.Add(-linkAfterEnd)).Scan(&calls).Error; err != nil {
		return fmt.Errorf("look for calls of outside approvals: %w", err)
	}
	for _, call := range calls {
		err := s.writeAnyway(ctx, func(t *tx) error {
			if err := t.holds(l); err != nil {
				return err
			}
			return t.linkWaiting(u, call)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// linkWaiting links one approval that waits, if a call fits it by now.
func (t *tx) linkWaiting(u *models.Upstream, callID string) error {
	var row outsideRow
	err := t.Gorm().Where("upstream_id = ? AND call_id = ? AND kind = ? AND waits = TRUE", u.ID, callID, models.OutsideCallKind).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read what waits for a call: %w", err)
	}
	a, err := t.standing(row.ResponseID)
	if err != nil {
		return err
	}
	if at := a.ApprovalTimestamp; at != nil && !t.Now.Before(at.Add(linkAfterEnd)) {
		return t.Gorm().Model(&row).UpdateColumn("waits", false).Error
	}
	match, ok, err := t.callFor(u, row.call(), row.RunID, row.FirstAt)
	if err != nil || !ok || !match.SameInput && (row.LinkedID != "" || t.Now.Before(row.FirstAt.Add(models.NameAloneAfter))) {
		return err
	}
	return t.link(a, &row, match)
}

// call is what tells an approval's call from others.
func (o *outsideRow) call() models.OutsideCall {
	return models.OutsideCall{ToolName: o.Name, ToolUseID: o.ToolUseID, Digest: o.Digest}
}

// link has an approval and its call, which keep a row each, lead to each other.
// What a rejection does to the calls queued after it happens from there. A call with
// another input is the one that is meant only as long as none with the same comes.
func (t *tx) link(a *models.Approval, row *outsideRow, match models.Match) error {
	row.Waits, row.LinkedID, row.LinkedBy = !match.SameInput, match.ID, match.By
	err := t.Gorm().Model(row).UpdateColumns(map[string]any{"waits": row.Waits, "linked_id": match.ID, "linked_by": match.By}).Error
	if err != nil {
		return fmt.Errorf("link outside approval: %w", err)
	}
	call, err := t.standing(match.ID)
	if err != nil {
		return err
	}
	poller := models.System("poller")
	err = t.record(poller, "approval.linked", ledger.Subject{Owner: a.OwnerID, Conversation: a.ConversationID, Response: a.ID},
		map[string]any{"response": call.ID, "matched_by": match.By, "same_input": match.SameInput})
	if err != nil {
		return err
	}
	t.changed(a.ConversationID)
	t.changed(call.ConversationID)
	t.Publish(events.Approval(string(a.ID)), events.Approval(string(call.ID)))
	if a.Cause != models.CauseReviewer {
		return nil
	}
	return t.cascade(poller, a)
}

// runAbove finds the run that started another.
const runAbove = `SELECT c.id FROM conversations p INDEXED BY conversations_run
 JOIN conversations c INDEXED BY conversations_run ON c.owner_id = p.owner_id AND c.run_id = p.parent_run_id WHERE p.owner_id = ? AND p.run_id = ?`

// callFor finds the call that an approval is for: in its own run, else in the one
// above it, else in those below. since is when the approval was first seen.
func (t *tx) callFor(u *models.Upstream, call models.OutsideCall, run string, since time.Time) (models.Match, bool, error) {
	own, err := t.openIn(runByID, u, run, call)
	if err != nil {
		return models.Match{}, false, err
	}
	for _, calls := range own { // which is one at most
		if m, ok := models.Correlate(call, calls); ok {
			return m, true, nil
		}
	}
	family, err := t.openIn(runAbove, u, run, call)
	if err != nil {
		return models.Match{}, false, err
	}
	below, err := t.openIn(runsByParent, u, run, call)
	if err != nil {
		return models.Match{}, false, err
	}
	m, ok := models.CorrelateFamily(call, append(family, below...), !t.Now.Before(since.Add(models.NameAloneAfter)))
	return m, ok, nil
}

// openIn are the open calls that decide a match, of each run that a query finds.
func (t *tx) openIn(query string, u *models.Upstream, run string, call models.OutsideCall) ([][]models.OpenCall, error) {
	var runs []models.ConversationID
	if err := t.Gorm().Raw(query, u.OwnerID, run).Scan(&runs).Error; err != nil {
		return nil, fmt.Errorf("look for a run: %w", err)
	}
	calls := make([][]models.OpenCall, 0, len(runs))
	for _, id := range runs {
		open, err := t.candidates(id, call)
		if err != nil {
			return nil, err
		}
		calls = append(calls, open)
	}
	return calls, nil
}
