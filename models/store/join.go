package store

import (
	"fmt"

	"countersign/models"
	"countersign/models/db"
)

// byPendingDigest finds an agent's pending requests with a digest: at most two, for only a single one is known to be
// the same call. It leaves out requests of other systems, which are decided there. keyedPendingDigest finds whether
// one of them has a tool use id: a call that does not say that it may be the same as another can only be the same as
// one of those, and they have an index.
const (
	keyedPendingDigest = `SELECT 1 FROM responses` + db.ByResponsesPendingDigest + `
 WHERE agent_id = ? AND digest = ? AND approval_status = 'pending' AND tool_use_id IS NOT NULL LIMIT 1`
	byPendingDigest = `SELECT id FROM responses` + db.ByResponsesPendingAgent + `
 WHERE agent_id = ? AND digest = ? AND approval_status = 'pending' AND upstream_id IS NULL AND (approval_timeout_at > ? OR held_until IS NOT NULL) LIMIT 2`
)

// joined is the request that a call without a key came in as before, by another way: the
// only one of its agent that waits with this digest. Nil: there is none, or it can't be
// told which. Two keys are two requests (I9), so a call with a key never comes here; and
// without a key on either side both are new, unless the call says that it may be the same.
func (t *Tx) joined(actor models.Actor, q *asked) (*models.Approval, error) {
	if q.id != "" || q.ToolUseID != "" || !q.fallback.IsZero() {
		return nil, nil // new; and a call that ran already waits for no decision
	}
	ids, err := t.pendingWith(actor, q)
	if err != nil || len(ids) != 1 {
		return nil, err
	}
	a, err := t.Request(ids[0])
	if err != nil || a == nil || a.ToolUseID == nil && !q.Join || !q.fits(a) {
		return nil, err
	}
	if _, p, err := t.Policy(); err != nil || q.checkTimeout(p) != nil {
		return nil, err // it is refused as a new one
	}
	return a, nil
}

// joinedIn is joined for a call that names a conversation and says that it may be the same
// as another: it was asked there, or by a way that knows of no conversation.
func (t *Tx) joinedIn(actor models.Actor, q *asked, named *models.Conversation) (*models.Approval, error) {
	if !q.Join {
		return nil, nil
	}
	a, err := t.joined(actor, q)
	if err != nil || a == nil || named != nil && a.ConversationID == named.ID {
		return a, err
	}
	rest, err := scanConversation(t.Row(t.s.hot.conversationByRest, actor.ID))
	if err != nil || rest == nil || a.ConversationID != rest.ID {
		return nil, err
	}
	return a, nil
}

func (t *Tx) pendingWith(actor models.Actor, q *asked) ([]models.ResponseID, error) {
	if !q.Join {
		if exists, err := db.Exists(t.Row(t.s.hot.keyedPendingDigest, actor.ID, q.digest)); err != nil || !exists {
			return nil, err
		}
	}
	rows, err := t.Rows(t.s.hot.byPendingDigest, actor.ID, q.digest, t.Now)
	if err != nil {
		return nil, fmt.Errorf("look for the same call: %w", err)
	}
	defer rows.Close()
	var ids []models.ResponseID
	for rows.Next() {
		var id models.ResponseID
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("look for the same call: %w", err)
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// losesEdit reports whether a request takes edits but its repeat does not: a person may approve another input for the
// first client, and the second would run its own. A client of a protocol gets such an approval as a rejection.
func (q *asked) losesEdit(a *models.Approval) bool {
	if !a.TakesEdits() || a.Kind != models.KindToolCall || q.takesEdits() || q.Protocol != "" || !q.fallback.IsZero() {
		return false
	}
	_, edited := a.Vote.ApprovedInput()
	return edited || a.Status() == models.StatusPending
}

// fits reports whether the decision on a pending request also decides this call: the call says nothing that the
// reviewer is not shown, and demands nothing that the request does not.
func (q *asked) fits(a *models.Approval) bool {
	return q.Explanation.Repeats(&a.Explanation) && (q.JobID == "" || q.JobID == orEmpty(a.JobID)) &&
		q.Template == a.Template && !q.losesEdit(a)
}
