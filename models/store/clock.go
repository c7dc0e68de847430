package store

import (
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
)

// setClock is the compare-and-set of every change of a deadline: it names the
// state and the deadline that it leaves.
const setClock = `UPDATE responses SET approval_timeout_at = ?, paused_left = ?, open_note = ?
 WHERE id = ? AND approval_status = 'pending' AND approval_timeout_at = ?`

// clock is when a pending request runs out, and what stops it.
type clock struct {
	deadline time.Time
	left     *int64         // seconds that a pause has put aside
	open     *models.NoteID // the question that made the pause
}

func clockOf(a *models.Approval) clock {
	return clock{deadline: a.ApprovalTimeoutAt, left: a.PausedLeft, open: a.OpenNote}
}

// same reports whether two clocks stop at the same time, whatever stopped them.
func (c clock) same(other clock) bool {
	left := c.left == other.left || c.left != nil && other.left != nil && *c.left == *other.left
	return left && c.deadline.Equal(other.deadline)
}

// setClock is the only way to change a deadline once it was asked: the inboxes
// move with it, and the expirer looks anew. a is changed too.
func (t *tx) setClock(a *models.Approval, to clock) error {
	res := t.Gorm().Exec(setClock, to.deadline, to.left, to.open, a.ID, a.ApprovalTimeoutAt)
	if res.Error != nil {
		return fmt.Errorf("set clock: %w", res.Error)
	}
	if !db.ExactlyOne(res.RowsAffected) {
		return fmt.Errorf("set clock of %s: it left pending, or its deadline moved meanwhile", a.ID)
	}
	if !to.deadline.Equal(a.ApprovalTimeoutAt) {
		if err := t.Gorm().Exec(movesDeciders, to.deadline, a.ID).Error; err != nil {
			return fmt.Errorf("move in inboxes: %w", err)
		}
		t.deadlineStored(to.deadline)
	}
	a.ApprovalTimeoutAt, a.PausedLeft, a.OpenNote = to.deadline, to.left, to.open
	return nil
}

// secondsUntil is what is left until a deadline, in whole seconds and never less
// than there is.
func secondsUntil(deadline, now time.Time) int64 {
	return int64((deadline.Sub(now) + time.Second - 1) / time.Second)
}

// clockEntry is what the ledger says about a deadline that moved.
type clockEntry struct {
	Old string `json:"old_deadline,omitempty"`
	New string `json:"new_deadline,omitempty"`

	Left *int64 `json:"paused_left,omitempty"` // seconds that a pause has put aside
}

func movedFrom(old time.Time, a *models.Approval) clockEntry {
	if old.Equal(a.ApprovalTimeoutAt) {
		return clockEntry{Left: a.PausedLeft}
	}
	return clockEntry{Old: old.Format(db.TimeFormat), New: a.ApprovalTimeoutAt.Format(db.TimeFormat), Left: a.PausedLeft}
}
