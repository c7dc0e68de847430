package outside

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/store"
)

// outsideCall is what tells an item's call from others.
func outsideCall(item models.OutsideItem) models.OutsideCall {
	call := models.OutsideCall{ToolName: item.Name, ToolUseID: item.ToolUseID}
	if canonical, err := models.Canonical(models.KindToolCall, item.Name, item.Arguments); err == nil {
		call.Digest = models.Digest(canonical)
	}
	return call
}

// awaitCall has an approval that found no call wait for one.
func (t *tx) awaitCall(item models.OutsideItem, row *models.OutsideApproval, a *models.Approval) error {
	call := outsideCall(item)
	if call.Digest != a.Digest {
		call.Digest = "" // it is kept cut, or has no canonical form: nothing equals it
	}
	err := t.Gorm().Model(row).UpdateColumns(map[string]any{
		"waits": true, "tool_use_id": call.ToolUseID, "digest": call.Digest,
	}).Error
	if err != nil {
		return fmt.Errorf("have an outside approval wait for its call: %w", err)
	}
	return nil
}

// runsFor are the conversations that an item may be about: that of its run, else
// those that it started, in order of creation.
func (t *tx) runsFor(u *models.Upstream, run string) ([]models.ConversationID, error) {
	var ids []models.ConversationID
	if run == "" {
		return nil, nil
	}
	if err := t.Gorm().Raw(runByID, u.OwnerID, run).Scan(&ids).Error; err != nil || len(ids) > 0 {
		return ids, err
	}
	err := t.Gorm().Raw(runsByParent, u.OwnerID, run).Scan(&ids).Error
	return ids, err
}

const (
	runByID      = `SELECT id FROM conversations WHERE owner_id = ? AND run_id = ?`
	runsByParent = `SELECT id FROM conversations` + db.ByConversationsParentRun +
		` WHERE owner_id = ? AND parent_run_id = ? ORDER BY created_at, id LIMIT 100`
)

// Three rows tell as much as all open calls of a conversation (models.Correlate).
const (
	openColumns = `SELECT id, coalesce(tool_use_id, '') AS tool_use_id, tool_name, digest, sequence, is_completed AS completed, coalesce(approval_status, '') AS status, cause FROM responses r `
	openByUse   = openColumns + db.ByResponsesToolUse + ` WHERE conversation_id = ? AND tool_use_id = ? AND NOT ` +
		isLinked
	isOpen = ` AND kind = 'tool_call' AND is_completed = FALSE AND approval_status IS NULL AND cause = '' AND NOT ` +
		isLinked + ` ORDER BY sequence LIMIT `
	openByInput = openColumns + db.ByResponsesOpenInput + ` WHERE conversation_id = ? AND digest = ?` + isOpen + `1`
	openByName  = openColumns + db.ByResponsesOpen + ` WHERE conversation_id = ? AND tool_name = ?` + isOpen + `2`
)

// candidates are the open calls of a conversation that decide a match.
func (t *tx) candidates(id models.ConversationID, o models.OutsideCall) ([]models.OpenCall, error) {
	var out []models.OpenCall
	add := func(query, key string) error {
		var some []models.OpenCall
		if err := t.Gorm().Raw(query, id, key).Scan(&some).Error; err != nil {
			return fmt.Errorf("look for open calls: %w", err)
		}
		out = append(out, some...)
		return nil
	}
	if o.ToolUseID != "" {
		return out, add(openByUse, o.ToolUseID)
	}
	if o.Digest != "" {
		if err := add(openByInput, o.Digest); err != nil {
			return nil, err
		}
	}
	err := add(openByName, o.ToolName)
	return out, err
}

// askMatched finds the call that an item is for and makes it pending; nil where
// none fits now.
func (t *tx) askMatched(
	u *models.Upstream, item models.OutsideItem, row *models.OutsideApproval,
) (*models.Approval, error) {
	match, ok, err := t.callFor(u, outsideCall(item), item.RunID, row.FirstAt)
	if err != nil || !ok {
		return nil, err //nolint:nilnil // no call fits yet
	}
	a, err := t.Request(match.ID)
	if err != nil {
		return nil, err
	}
	a.MatchedBy = match.By
	if !match.SameInput {
		// It is what the other system will run.
		row.Contradiction, a.Context = "The other system asks with another input than the agent reported.", row.Arguments
	}
	ask := store.OutsideAsk{Upstream: u, Row: row, Item: &item}
	if !keptWhole(row, &item) && (!match.SameInput || !wholeRest(&item)) {
		ask.InputBytes = new(int64(len(item.Arguments)))
	}
	return a, t.AskMatched(ask, a)
}

// cascadedCall is the call of an item in its own run that was rejected with its
// batch before the item was listed, and the call with which it was.
const cascadedCall = `SELECT r.id, r.cascaded_from AS source FROM conversations c` + db.ByConversationsRun + `
 CROSS JOIN responses r` + db.ByResponsesCascaded + ` ON r.conversation_id = c.id AND r.digest = ?3 AND r.cause = 'cascade' AND r.is_completed = FALSE
 WHERE c.owner_id = ?1 AND c.run_id = ?2 AND r.tool_name = ?4 AND ?5 IN ('', r.tool_use_id) AND r.cascaded_from IS NOT NULL AND NOT ` + isLinked + ` ORDER BY r.sequence LIMIT 1`

// askCascaded gives an item whose call was rejected with its batch a response of its
// own that is rejected with it; nil: there is no such call.
func (t *tx) askCascaded(
	u *models.Upstream, item models.OutsideItem, row *models.OutsideApproval,
) (*models.Approval, error) {
	call := outsideCall(item)
	var found struct{ ID, Source models.ResponseID }
	if err := t.Gorm().Raw(cascadedCall, u.OwnerID, item.RunID, call.Digest, item.Name,
		item.ToolUseID).Scan(&found).Error; err != nil {
		return nil, fmt.Errorf("look for a rejected call: %w", err)
	}
	if found.ID == "" || call.Digest == "" {
		return nil, nil //nolint:nilnil // none is an answer here
	}
	a, err := t.askUnmatched(u, item, row)
	if err != nil {
		return nil, err
	}
	if err := t.LinkCall(a, row, models.Match{ID: found.ID, By: models.MatchedByInput, SameInput: true}); err != nil {
		return nil, err
	}
	return a, t.RejectWith(found.Source, a.ID)
}

// An open call of the same tool that an approval may be for: in its own run, in
// the run above it, and in those below it.
const (
	fitsByName = ` JOIN responses r` + db.ByResponsesOpen +
		` ON r.conversation_id = c.id AND r.tool_name = o.name AND r.kind = 'tool_call'
 AND r.is_completed = FALSE AND r.approval_status IS NULL AND r.cause = '' AND o.tool_use_id IN ('', r.tool_use_id) AND NOT ` + isLinked
	fitsByInput = ` JOIN responses r` + db.ByResponsesOpenInput +
		` ON r.conversation_id = c.id AND r.digest = o.digest AND r.kind = 'tool_call'
 AND r.is_completed = FALSE AND r.approval_status IS NULL AND r.cause = '' AND o.tool_use_id IN ('', r.tool_use_id) AND NOT ` + isLinked
	isLinked = `EXISTS (SELECT 1 FROM outside_approvals l` + db.ByOutsideApprovalsLinked +
		` WHERE l.linked_id = r.id AND l.linked_id <> '')`

	ofOwnRun   = `EXISTS (SELECT 1 FROM conversations c` + db.ByConversationsRun
	ofRunBelow = `EXISTS (SELECT 1 FROM conversations c` + db.ByConversationsParentRun
	isOwnRun   = ` WHERE c.owner_id = ?2 AND c.run_id = o.run_id)`
	isRunAbove = ` WHERE c.owner_id = ?2 AND c.run_id = (SELECT p.parent_run_id FROM conversations p` +
		db.ByConversationsRun + ` WHERE p.owner_id = ?2 AND p.run_id = o.run_id))`
	isRunBelow = ` WHERE c.owner_id = ?2 AND c.parent_run_id = o.run_id)`
)

// linkable are the approvals that wait for a call and may have one now, or have
// ended too long ago to wait on. ?3 and ?4 are from when on the name alone tells,
// and the end is long ago.
const linkable = `SELECT o.call_id FROM outside_approvals o` + db.ByOutsideApprovalsWaiting +
	` WHERE o.upstream_id = ?1 AND o.waits = TRUE AND (` +
	`EXISTS (SELECT 1 FROM responses a WHERE a.id = o.response_id AND a.approval_timestamp <= ?4)` +
	` OR ` + ofOwnRun + fitsByInput + isOwnRun + ` OR ` + ofOwnRun + fitsByInput + isRunAbove + ` OR ` + ofRunBelow +
	fitsByInput + isRunBelow +
	` OR o.linked_id = '' AND o.first_at <= ?3 AND (` + ofOwnRun + fitsByName + isOwnRun + ` OR ` + ofOwnRun + fitsByName +
	isRunAbove + ` OR ` + ofRunBelow + fitsByName + isRunBelow + `)) ORDER BY o.first_at`

// Link looks again for the calls of an upstream's approvals that found none.
// An approval and its call that both have a row keep them, and lead to each other.
// It writes nothing for who has lost the lease: CodeConflict.
func (o *Outside) Link(ctx context.Context, l *models.Lease, u *models.Upstream) error {
	now := o.db.Now()
	var calls []string
	if err := o.db.Gorm(context.WithoutCancel(ctx)).Raw(linkable, u.ID, u.OwnerID, now.Add(-models.NameAloneAfter),
		now.Add(-models.LinkAfterEnd)).Scan(&calls).Error; err != nil {
		return fmt.Errorf("look for calls of outside approvals: %w", err)
	}
	for _, call := range calls {
		err := o.writeAnyway(ctx, func(t *tx) error {
			if err := t.HoldsLease(l); err != nil {
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
	var row models.OutsideApproval
	err := t.Gorm().Where("upstream_id = ? AND call_id = ? AND kind = ? AND waits = TRUE", u.ID, callID,
		models.OutsideCallKind).Take(&row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read what waits for a call: %w", err)
	}
	a, err := t.Request(row.ResponseID)
	if err != nil {
		return err
	}
	if at := a.ApprovalTimestamp; at != nil && !t.Now.Before(at.Add(models.LinkAfterEnd)) {
		return t.Gorm().Model(&row).UpdateColumn("waits", false).Error
	}
	match, ok, err := t.callFor(u, row.Call(), row.RunID, row.FirstAt)
	if err != nil || !ok ||
		!match.SameInput && (row.LinkedID != "" || t.Now.Before(row.FirstAt.Add(models.NameAloneAfter))) {
		return err
	}
	return t.LinkCall(a, &row, match)
}

// runAbove finds the run that started another.
const runAbove = `SELECT c.id FROM conversations p` + db.ByConversationsRun + `
 JOIN conversations c` + db.ByConversationsRun + ` ON c.owner_id = p.owner_id AND c.run_id = p.parent_run_id WHERE p.owner_id = ? AND p.run_id = ?`

// callFor finds the call that an approval is for: in its own run, else in the one
// above it, else in those below. since is when the approval was first seen.
func (t *tx) callFor(
	u *models.Upstream, call models.OutsideCall, run string, since time.Time,
) (models.Match, bool, error) {
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
func (t *tx) openIn(
	query string, u *models.Upstream, run string, call models.OutsideCall,
) ([][]models.OpenCall, error) {
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
