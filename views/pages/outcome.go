package pages

import (
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/ui"
)

// Outcome is how it ended.
type Outcome struct {
	Word         ui.Word
	CauseText    string
	By           string
	At           views.Moment
	Reason       string
	Answer       string
	Option       string
	Edited       *ui.Code
	EditedDigest string
	FromURL      string // of the request with which this one was rejected
	Changed      string // what a decider changed about a budget request, in words
	BudgetURL    string
}

func heldText(a *models.Approval, o models.Origin) string {
	if a.HeldUntil == nil {
		return ""
	}
	if o.Told != nil {
		return tellingText(o)
	}
	if a.Vote != nil && a.Vote.UserName != "" {
		return "Being decided by " + models.RevealString(a.Vote.UserName, false) + "."
	}
	return "Being decided: another verdict is on its way."
}

func newOutcome(a *models.Approval, r *models.Response, now time.Time) *Outcome {
	o := &Outcome{
		Word: ui.StatusWord(r.Status(), r.Cause), CauseText: ui.CauseText(r.Cause),
		At: views.AgoOf(r.ApprovalTimestamp, now), Reason: r.ApprovalFeedback, Answer: r.Answer,
	}
	if r.Cause != models.CauseReviewer || a.Vote == nil {
		return o
	}
	o.By, o.CauseText = a.Vote.UserName, ""
	if a.Vote.Verdict == models.VerdictAnswer {
		o.Word = ui.Word{Text: "answered", Tone: views.ToneGood, Icon: "check"}
	}
	if a.Vote.Reason != "" {
		o.Reason = a.Vote.Reason
	}
	if a.Vote.Answer != nil {
		o.Answer = *a.Vote.Answer
	}
	o.Option = deref(a.Vote.Option)
	if a.Vote.Input != nil {
		o.Changed, o.BudgetURL = changedSum(r, []byte(*a.Vote.Input)), views.BudgetURL(r.ConversationID)
	}
	if a.Vote.Input != nil && o.Changed == "" {
		edited := []byte(*a.Vote.Input)
		if canonical, err := models.CanonicalJSON("input", edited); err == nil {
			edited = canonical
		}
		o.Edited = &ui.Code{ID: "edited", Label: "Released input, as edited", Text: indent(edited), Numbers: true}
		o.EditedDigest = deref(a.Vote.InputDigest)
	}
	return o
}

// lateText says what stands when the reader's own verdict came too late.
func lateText(late models.Verdict, v Approval) string {
	if late == "" {
		return ""
	}
	verdict := map[models.Verdict]string{
		models.VerdictApprove: "approval", models.VerdictReject: "rejection", models.VerdictAnswer: "answer",
	}[late]
	switch {
	case v.Held != "":
		return v.Held + " Your " + verdict + " changed nothing."
	case v.Outcome == nil:
		return "This changed while you were looking at it. Your " + verdict + " was not taken: look again, then decide."
	case v.Outcome.By != "":
		return "Already " + v.Outcome.Word.Text + " by " + models.RevealString(v.Outcome.By, false) + ". Your " + verdict + " changed nothing."
	}
	return "Already " + v.Outcome.Word.Text + ". " + v.Outcome.CauseText + " Your " + verdict + " changed nothing."
}
