package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"countersign/models"
	"countersign/models/db"
)

// A key for repeats is no permanent permission: it names one call, until that call has run or its answer was taken.
// The next request with it is another one (I9).

// latestUse finds the last call with an id.
const latestUse = `SELECT id FROM responses` + db.ByResponsesToolUse +
	` WHERE conversation_id = ? AND tool_use_id = ? ORDER BY sequence DESC LIMIT 1`

// sameResultOfUse finds whether a call with the id of another has a result.
const sameResultOfUse = `SELECT 1 FROM responses o JOIN responses r` + db.ByResponsesToolUse +
	` ON r.conversation_id = o.conversation_id AND r.tool_use_id = o.tool_use_id
 WHERE o.id = ? AND r.is_completed = TRUE AND r.is_error = ? AND r.tool_result = ?`

// isLatestUse leaves, of the rows r of a conversation with one id of a call, the last.
const isLatestUse = `NOT EXISTS (SELECT 1 FROM responses later WHERE later.conversation_id = r.conversation_id AND later.tool_use_id = r.tool_use_id AND later.sequence > r.sequence)`

// usedUp reports whether a request is another one than the row with its key: the row's call has run. The first request
// about a call that was only reported uses its row, and a report that a call went on without an answer is about the
// call that ran.
func (q *asked) usedUp(a *models.Approval) bool {
	switch {
	case !a.IsCompleted || a.Status() == models.StatusPending || !q.fallback.IsZero():
		return false
	case a.Unasked():
		return a.Digest != q.digestUnder(a.DigestVersion)
	}
	return true
}

// ranAgain reports whether a report that a call went on without an answer tells of another run
// than the one whose result is known: it began after that.
func (t *Tx) ranAgain(q *asked, a *models.Approval) (bool, error) {
	if q.fallback.IsZero() || !a.IsCompleted || a.Closed != "" {
		return false, nil
	}
	var ended models.Report
	if err := t.Gorm().Select("completed_at").Where("id = ?", a.ID).Take(&ended).Error; err != nil {
		return false, fmt.Errorf("read when a call ended: %w", err)
	}
	return ended.CompletedAt != nil && ended.CompletedAt.Before(q.fallback), nil
}

// another reports whether a request is another one than the row with its key: the row's call
// has run, or its answer is another session's.
func (t *Tx) another(actor models.Actor, q *asked, a *models.Approval) (bool, error) {
	if q.usedUp(a) {
		return true, nil
	}
	if again, err := t.ranAgain(q, a); again || err != nil {
		return again, err
	}
	if !q.namesNone() || !a.MayRun() {
		return false, nil // to be refused again does no harm
	}
	var taker string
	err := t.Row(t.s.hot.givenAnswer, a.ID).Scan(&taker)
	switch {
	case err == nil:
		return taker != q.Taker && (taker != "" || q.Taker == ""), nil
	case !errors.Is(err, sql.ErrNoRows):
		return false, fmt.Errorf("look for who has the answer: %w", err)
	case q.Taker != "":
		return true, nil // it was asked in another way, and answered there
	case a.ReportedAt != nil:
		return false, nil // its report may have moved it into a run
	}
	rest, err := scanConversation(t.Row(t.s.hot.conversationByRest, actor.ID))
	return err == nil && (rest == nil || rest.ID != a.ConversationID), err
}

// offerAnswer notes that a permission prompt waits for a row's answer, which no caller has taken.
func (t *Tx) offerAnswer(q *asked, a *models.Approval) error {
	if q.Taker == "" || q.ToolUseID == "" {
		return nil
	}
	if _, err := t.Exec(t.s.hot.offerAnswer, a.ID); err != nil {
		return fmt.Errorf("note who waits for an answer: %w", err)
	}
	return nil
}

// TakeAnswers gives the answers to the requests of one call to its taker, and reports whether
// it has all of them: an answer that another took is not given again.
func (s *Store) TakeAnswers(ctx context.Context, taker string, ids []models.ResponseID) (ok bool, err error) {
	err = s.write(ctx, func(t *Tx) error {
		ok = true
		for _, id := range ids {
			n, err := t.Exec(t.s.hot.takeAnswer, taker, id, taker)
			if err != nil {
				return fmt.Errorf("take an answer: %w", err)
			}
			ok = ok && db.ExactlyOne(n)
		}
		return nil
	})
	return ok && err == nil, err
}
