package store

import (
	"fmt"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
)

// call stores a reported tool call, or joins it to the row of the request that
// the agent made for it: both are one, whichever comes first.
func (r *report) call(e *runEvent, out *models.RunEventResult) error {
	id, err := r.rowID(r.Row(r.s.hot.byToolUse, r.conv.ID, e.ToolUseID))
	if err != nil {
		return err
	}
	if id == "" {
		if id, err = r.adopt(e); err != nil {
			return err
		}
	}
	var wanted *outsideRow
	if id == "" {
		if wanted, id, err = r.adoptOutside(e); err != nil {
			return err
		}
	}
	if id == "" {
		if err := r.batch(e); err != nil {
			return err
		}
		a := r.reported(e, models.Response{
			Kind: models.KindToolCall, ToolUseID: &e.ToolUseID, ToolName: e.ToolName, ToolInputJSON: e.input, InputBytes: e.inputBytes,
			Digest: e.call, Risk: models.RiskMedium,
		})
		out.ResponseID = a.ID
		if err := r.addReported(a, &models.Report{ParentToolUseID: e.ParentToolUseID}); err != nil {
			return err
		}
		if err := r.earlyResult(e, out); err != nil {
			return err
		}
		return r.reportedLate(e, a, wanted)
	}
	out.ResponseID = id
	return r.join(e, out)
}

// join makes a reported call one with the row that has its tool use id.
func (r *report) join(e *runEvent, out *models.RunEventResult) error {
	a, err := r.standing(out.ResponseID)
	if err != nil {
		return err
	}
	switch {
	case a.ReportedAt == nil:
		err = r.joinAsk(e, out)
	case a.Digest == e.call:
		out.Status = models.RunEventRepeated // under another id
	}
	if err != nil || a.Digest == e.call {
		return err
	}
	_, err = r.contradict(out, contradictsCall)
	return err
}

// joinAsk notes that a request of the agent's is a call of its run.
func (r *report) joinAsk(e *runEvent, out *models.RunEventResult) error {
	if err := r.batch(e); err != nil {
		return err
	}
	if _, err := r.Exec(r.s.hot.joinReported, r.at(e), nullable(e.BatchID), e.ParentToolUseID, out.ResponseID); err != nil {
		return fmt.Errorf("join reported call: %w", err)
	}
	r.Publish(events.Approval(string(out.ResponseID)))
	if err := r.earlyResult(e, out); err != nil {
		return err
	}
	return r.joinedLate(e, out.ResponseID)
}

// reported is a response that the agent says it made.
func (r *report) reported(e *runEvent, a models.Response) *models.Response {
	at := r.at(e)
	a.BatchID, a.ReportedAt = nullable(e.BatchID), &at
	return &r.responseIn(r.actor, r.conv, a).Response
}

// at is when the agent says that it happened: not later than now, nor before
// there were agents.
func (r *report) at(e *runEvent) time.Time {
	if e.At == nil || e.At.After(r.Now) || e.At.Before(time.Unix(0, 0)) {
		return r.Now
	}
	return db.Stamp(*e.At)
}

// addReported stores a reported response with the next sequence.
func (r *report) addReported(a *models.Response, with *models.Report) error {
	sequence, _, err := r.take(r.conv.ID, 0)
	if err != nil {
		return err
	}
	a.Sequence, a.SelfApproval = sequence, selfApproval(a)
	if err := r.Insert(insertReported, r.s.hot.addWholeReported, r.s.hot.addReported, a, with); err != nil {
		return fmt.Errorf("store reported response: %w", err)
	}
	return nil
}
