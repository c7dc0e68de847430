package requests

import (
	"countersign/models"
	"countersign/views/pages/inputs"
	"countersign/views/pages/words"
)

func heldText(a *models.Approval, o models.Origin) string {
	if a.HeldUntil == nil {
		return ""
	}
	if o.Delivery != nil {
		return inputs.TellingText(o)
	}
	if a.Vote != nil && a.Vote.UserName != "" {
		return words.ByWhom(a.Vote) + "'s decision is being sent."
	}
	return "Another decision is being sent."
}

// LateAct is what a reader did beside deciding, as it is in a sentence.
type LateAct string

// What can come too late beside a verdict.
const (
	LateUndo       LateAct = "undo"
	LateQuestion   LateAct = "question"
	LateNote       LateAct = "answer"
	LateExtension  LateAct = "extension"
	LateWithdrawal LateAct = "withdrawal"
	LateHandOver   LateAct = "hand-over"
)

// lateText says what the outcome is when the reader was too late.
func lateText(in Input, v Approval) string {
	did := map[models.Verdict]string{
		models.VerdictApprove: "approval", models.VerdictReject: "rejection", models.VerdictAnswer: "answer",
	}[in.Late]
	if in.LateAct != "" {
		did = string(in.LateAct)
	}
	switch {
	case did == "":
		return ""
	case v.Undo != nil:
		return "You already approved this. Undo it first to change your decision."
	case v.Held != "":
		return v.Held + " Your " + did + " changed nothing."
	case v.Outcome == nil:
		return "This request changed while you were looking at it. Your " + did + " was not saved. Look again, then decide."
	case v.Outcome.By != "":
		return "Already " + v.Outcome.Word.Text + " by " + v.Outcome.ByWhom() + ". Your " + did + " changed nothing."
	}
	return "Already " + v.Outcome.Word.Text + ". " + v.Outcome.CauseText + " Your " + did + " changed nothing."
}
