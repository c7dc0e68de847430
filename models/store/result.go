package store

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
)

// Result is what a call gave, as its agent reports it.
type Result struct {
	At      time.Time
	IsError bool
	Bytes   *int64 // how long the whole is; nil: Text is all of it
	Text    string
	Removed *string // the mark of the removal that took it
}

// CompleteCall gives a call its result, also one that was closed; it is stored, or repeated, or it
// contradicts the one that the call has, of which nothing is changed.
func (t *Tx) CompleteCall(id models.ResponseID, g *Result) (models.RunEventOutcome, error) {
	done, err := t.complete(id, g)
	if err != nil {
		return "", err
	}
	if done {
		t.Publish(events.Approval(string(id)))
		return models.RunEventStored, nil
	}
	// That of an earlier call with the same id is known too.
	for _, query := range []*db.Stmt{t.s.hot.sameResult, t.s.hot.sameResultOfUse} {
		if same, err := db.Exists(t.Row(query, id, g.IsError, g.Text)); same || err != nil {
			return models.RunEventRepeated, err
		}
	}
	return models.RunEventConflict, nil
}

// complete stores the result of a call that has none.
func (t *Tx) complete(id models.ResponseID, g *Result) (done bool, err error) {
	if err := t.Changes("responses", id); err != nil {
		return false, err
	}
	n, err := t.Exec(t.s.hot.complete, g.At, g.IsError, g.Bytes, g.Text, id)
	if err != nil {
		return false, fmt.Errorf("store result: %w", err)
	}
	return db.ExactlyOne(n), nil
}

// Contradict notes beside a call, once, a report that contradicts its row.
func (t *Tx) Contradict(id models.ResponseID, text string) (changed bool, err error) {
	n, err := t.Exec(t.s.hot.contradict, text, id)
	if err != nil {
		return false, fmt.Errorf("note contradiction: %w", err)
	}
	return db.ExactlyOne(n), nil
}

// KeepEarlyResult keeps a result until its call is known. It is stored, or repeated, or another one
// waits already, of which nothing is changed.
func (t *Tx) KeepEarlyResult(conv models.ConversationID, toolUseID string, g *Result) (models.RunEventOutcome, error) {
	n, err := t.Exec(t.s.hot.addEarlyResult, conv, toolUseID, g.At, g.IsError, g.Bytes, g.Text)
	if err != nil {
		return "", fmt.Errorf("keep early result: %w", err)
	}
	if db.ExactlyOne(n) {
		t.s.known.early = new(true)
		return models.RunEventStored, nil
	}
	if same, err := db.Exists(t.Row(t.s.hot.sameEarly, conv, toolUseID, g.IsError, g.Text)); same || err != nil {
		return models.RunEventRepeated, err
	}
	return models.RunEventConflict, nil
}

// TakeEarlyResult takes the result that waits for a call; nil: none does. Mostly none waits for
// any, which the writer remembers.
func (t *Tx) TakeEarlyResult(conv models.ConversationID, toolUseID string) (*Result, error) {
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
	var g Result
	err := t.ChangeRow(t.s.hot.takeEarlyResult, conv, toolUseID).Scan(&g.At, &g.IsError, &g.Bytes, &g.Text, &g.Removed)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // as above
	}
	if err != nil {
		return nil, fmt.Errorf("look for an early result: %w", err)
	}
	return &g, nil
}

// CompleteRemoved completes a call whose result was removed before the call was
// known: it has none, and says why.
func (t *Tx) CompleteRemoved(id models.ResponseID, g *Result) error {
	if err := t.Changes("responses", id); err != nil {
		return err
	}
	if _, err := t.Exec(t.s.hot.closeCall, g.At, models.ClosedByRun, id); err != nil {
		return fmt.Errorf("complete without a result: %w", err)
	}
	_, err := t.Contradict(id, "Its result came before the call, and was "+*g.Removed+".")
	return err
}

// askedLate gives a request the result that was reported before it was made.
func (t *Tx) askedLate(a *models.Approval) error {
	if a.ToolUseID == nil {
		return nil
	}
	g, err := t.TakeEarlyResult(a.ConversationID, *a.ToolUseID)
	if g == nil || err != nil {
		return err
	}
	a.IsCompleted = true
	if g.Removed != nil {
		a.Closed = models.ClosedByRun
		return t.CompleteRemoved(a.ID, g)
	}
	_, err = t.complete(a.ID, g)
	return err
}

// CloseCall completes a tool call without a result; it leaves a completed one unchanged. It does not decide: a pending
// call stays pending.
func (t *Tx) CloseCall(a *models.Approval, by models.ClosedBy) error {
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
