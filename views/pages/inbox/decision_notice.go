package inbox

import (
	"time"

	"countersign/models"
	"countersign/models/headline"
	"countersign/views"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// DecisionNotice is the strip with the last decision, and the button to undo it.
type DecisionNotice struct {
	Word     string
	Headline string // a claim
	UndoURL  string // empty: it cannot be undone
	Desk     string
	Left     views.Moment
	Until    string
}

func newDecisionNotice(in Input, now time.Time) *DecisionNotice {
	a := in.Done
	if a == nil {
		return nil
	}
	d := &DecisionNotice{Headline: headline.Shown(&a.Response).Short(words.TitleLength), Desk: in.Place.At(a.ID).Query()}
	switch vote := a.Vote; {
	case a.Status() != models.StatusPending:
		d.Word = ui.StatusWord(a.At(now).Status(), a.Cause).Text
		if vote != nil && vote.Verdict == models.VerdictAnswer {
			d.Word = "answered"
		}
		d.Word = words.Capitalize(d.Word)
	case a.HeldUntil == nil:
		d.Word = "Undone"
	case vote != nil && vote.UndoUntil != nil && vote.UserID == in.Reader.ID:
		d.Word, d.UndoURL = "Approved", views.UndoURL(a.ID)
		d.Left, d.Until = views.Seconds(*vote.UndoUntil, now), vote.UndoUntil.UTC().Format(time.RFC3339Nano)
	default:
		d.Word = "Sending"
	}
	return d
}
