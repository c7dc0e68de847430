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

// given is a result as the agent reports it.
type given struct {
	at      time.Time
	isError bool
	bytes   *int64
	text    string
	removed *string // the mark of the removal that took it
}

// result completes a call, or waits for it to be reported. Whether anybody has
// decided about the call does not matter: what was reported is kept, and what
// contradicts an outcome is shown beside it.
func (r *report) result(e *runEvent, out *models.RunEventResult) error {
	g := given{at: r.at(e), isError: e.IsError}
	g.text, g.bytes = cutText(e.Result, e.ResultBytes)
	id, err := r.rowID(r.Row(r.s.hot.byToolUse, r.conv.ID, e.ToolUseID))
	if err != nil {
		return err
	}
	if id == "" {
		return r.keepEarly(e.ToolUseID, g, out)
	}
	out.ResponseID = id
	return r.complete(g, out)
}

// complete gives a call its result. A call that was closed has one after all.
func (r *report) complete(g given, out *models.RunEventResult) error {
	n, err := r.Exec(r.s.hot.complete, g.at, g.isError, g.bytes, g.text, out.ResponseID)
	if err != nil {
		return fmt.Errorf("store result: %w", err)
	}
	if db.ExactlyOne(n) {
		r.Publish(events.Approval(string(out.ResponseID)))
		return nil
	}
	same, err := db.Exists(r.Row(r.s.hot.sameResult, out.ResponseID, g.isError, g.text))
	if err != nil {
		return err
	}
	if same {
		out.Status = models.RunEventRepeated
		return nil
	}
	_, err = r.contradict(out, contradictsResult)
	return err
}

// keepEarly keeps a result until its call is reported.
func (r *report) keepEarly(toolUseID string, g given, out *models.RunEventResult) error {
	n, err := r.Exec(r.s.hot.addEarlyResult, r.conv.ID, toolUseID, g.at, g.isError, g.bytes, g.text)
	if err != nil {
		return fmt.Errorf("keep early result: %w", err)
	}
	if db.ExactlyOne(n) {
		r.s.known.early = new(true)
		return nil
	}
	// One waits already, under another id.
	same, err := db.Exists(r.Row(r.s.hot.sameEarly, r.conv.ID, toolUseID, g.isError, g.text))
	if err != nil {
		return err
	}
	if out.Status = models.RunEventRepeated; !same {
		out.Status, out.Error = models.RunEventConflict, "Another result of this call was reported before; nothing was changed."
	}
	return nil
}

// earlyResult gives a call the result that came before it, if one did.
func (r *report) earlyResult(e *runEvent, out *models.RunEventResult) error {
	g, err := r.takeEarly(r.conv.ID, e.ToolUseID)
	if g == nil || err != nil {
		return err
	}
	if g.removed != nil {
		return r.resultRemoved(g, out.ResponseID)
	}
	return r.complete(*g, &models.RunEventResult{ResponseID: out.ResponseID})
}

// takeEarly takes the result that waits for a call, or nil. Mostly none waits for
// any, which the writer remembers.
func (t *tx) takeEarly(conv models.ConversationID, toolUseID string) (*given, error) {
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
	var g given
	err := t.ChangeRow(t.s.hot.takeEarlyResult, conv, toolUseID).Scan(&g.at, &g.isError, &g.bytes, &g.text, &g.removed)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil //nolint:nilnil // as above
	}
	if err != nil {
		return nil, fmt.Errorf("look for an early result: %w", err)
	}
	return &g, nil
}

// resultRemoved completes a call whose result was removed before the call was
// known: it has none, and says why.
func (t *tx) resultRemoved(g *given, id models.ResponseID) error {
	if _, err := t.Exec(t.s.hot.closeCall, g.at, models.ClosedByRun, id); err != nil {
		return fmt.Errorf("complete without a result: %w", err)
	}
	text := "Its result came before the call, and was " + *g.removed + "."
	if _, err := t.Exec(t.s.hot.contradict, text, id); err != nil {
		return fmt.Errorf("note a removed result: %w", err)
	}
	return nil
}

// askedLate gives a request the result that was reported before it was made.
func (t *tx) askedLate(a *models.Approval) error {
	if a.ToolUseID == nil {
		return nil
	}
	g, err := t.takeEarly(a.ConversationID, *a.ToolUseID)
	if g == nil || err != nil {
		return err
	}
	a.IsCompleted = true
	if g.removed != nil {
		a.Closed = models.ClosedByRun
		return t.resultRemoved(g, a.ID)
	}
	if _, err := t.Exec(t.s.hot.complete, g.at, g.isError, g.bytes, g.text, a.ID); err != nil {
		return fmt.Errorf("store result: %w", err)
	}
	return nil
}
