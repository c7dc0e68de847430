package store

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/events"
)

// given is a result as the agent reports it.
type given struct {
	at      time.Time
	isError bool
	bytes   *int64
	text    string
}

// result completes a call, or waits for it to be reported. Whether anybody has
// decided about the call does not matter: what was reported is kept, and what
// contradicts an outcome is shown beside it.
func (r *report) result(e *runEvent, out *models.RunEventResult) error {
	g := given{at: r.at(e), isError: e.IsError}
	g.text, g.bytes = cutText(e.Result, e.ResultBytes)
	id, err := r.rowID(r.conn.row(r.hot.byToolUse, r.conv.ID, e.ToolUseID))
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
	n, err := r.conn.exec(r.hot.complete, g.at, g.isError, g.bytes, g.text, out.ResponseID)
	if err != nil {
		return fmt.Errorf("store result: %w", err)
	}
	if exactlyOne(n) {
		r.publish(events.Approval(string(out.ResponseID)))
		return nil
	}
	same, err := exists(r.conn.row(r.hot.sameResult, out.ResponseID, g.isError, g.text))
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
	n, err := r.conn.exec(r.hot.addEarlyResult, r.conv.ID, toolUseID, g.at, g.isError, g.bytes, g.text)
	if err != nil {
		return fmt.Errorf("keep early result: %w", err)
	}
	if exactlyOne(n) {
		r.early = new(true)
		return nil
	}
	// One waits already, under another id.
	same, err := exists(r.conn.row(r.hot.sameEarly, r.conv.ID, toolUseID, g.isError, g.text))
	if err != nil {
		return err
	}
	if out.Status = models.RunEventRepeated; !same {
		out.Status, out.Error = models.RunEventConflict, "Another result of this call was reported before; nothing was changed."
	}
	return nil
}

// earlyResult gives a call the result that came before it.
func (r *report) earlyResult(e *runEvent, out *models.RunEventResult) error {
	if r.early == nil {
		waits, err := exists(r.conn.row(r.hot.anyEarlyResult, r.conv.ID))
		if err != nil {
			return err
		}
		r.early = &waits
	}
	if !*r.early {
		return nil
	}
	var g given
	err := r.conn.changeRow(r.hot.takeEarlyResult, r.conv.ID, e.ToolUseID).Scan(&g.at, &g.isError, &g.bytes, &g.text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for an early result: %w", err)
	}
	return r.complete(g, &models.RunEventResult{ResponseID: out.ResponseID})
}
