package pages

import (
	"time"

	"countersign/models"
	"countersign/models/headline"
	"countersign/views"
	"countersign/views/ui"
)

// Outcome is how it ended.
type Outcome struct {
	Word         ui.Word
	CauseText    string
	By           string
	Behalf       string // for whom they decided; empty: in their own right
	At           views.Moment
	Reason       string
	Answer       string
	OptionTitle  string // what the chosen option's button read, if not its name
	Option       string
	Edited       *ui.Code
	Suggested    bool // Edited is what would be approved
	EditedDigest string
	EditedSays   string    // the headline of what was approved
	Change       *ui.Block // from what was asked for to what was released
	FromURL      string    // of the request with which this one was rejected
	GrantURL     string    // of the grant that let it through
	Took         string    // from the ask to the outcome
	Result       string    // what became of the call
	Changed      string    // what a decider changed about a budget request, in words
	BudgetURL    string
	Ticked       []string // items of the checklist
}

func heldText(a *models.Approval, o models.Origin) string {
	if a.HeldUntil == nil {
		return ""
	}
	if o.Sending != nil {
		return tellingText(o)
	}
	if a.Vote != nil && a.Vote.UserName != "" {
		return byWhom(a.Vote) + "'s decision is being sent."
	}
	return "Another decision is being sent."
}

func newOutcome(a *models.Approval, r *models.Response, now time.Time) *Outcome {
	o := &Outcome{
		Word: ui.StatusWord(r.Status(), r.Cause), CauseText: r.Cause.Text(),
		At: views.AgoOf(r.ApprovalTimestamp, now), Reason: r.Feedback(), Answer: r.Answer, Result: resultText(r),
	}
	if r.Status() == models.StatusRan {
		o.Reason = r.PolicyReason
	}
	if r.ApprovalTimestamp != nil && r.ApprovalRequestedAt != nil && r.Cause != models.CausePolicy && r.Cause != models.CauseFallback {
		o.Took = views.Duration(r.ApprovalTimestamp.Sub(*r.ApprovalRequestedAt))
	}
	if r.GrantID != nil {
		o.GrantURL = views.GrantURL(*r.GrantID)
	}
	if name, ok := r.CancelledBy(); ok {
		if o.Reason = ""; name != "" {
			o.CauseText = "Cancelled by " + models.RevealString(name, false) + "."
		}
	}
	if r.Cause != models.CauseReviewer || a.Vote == nil {
		return o
	}
	o.By, o.Behalf, o.CauseText, o.Ticked = a.Vote.UserName, a.Vote.BehalfName, "", r.TickedItems(a.Vote)
	if a.Vote.Verdict == models.VerdictAnswer {
		o.Word = ui.Word{Text: "answered", Tone: views.ToneGood, Icon: "check"}
	}
	if a.Vote.Reason != "" {
		o.Reason = a.Vote.Reason
	}
	if a.Vote.Answer != nil {
		o.Answer = *a.Vote.Answer
	}
	if o.Option = deref(a.Vote.Option); o.Option != "" {
		if a.Vote.Answer == nil {
			o.Answer = "" // it is the option's name
		}
		for _, c := range choices(r) {
			if c.Name == o.Option && c.Releases != "" {
				o.OptionTitle = c.Title
			}
		}
	}
	if _, edited := a.Vote.ApprovedInput(); edited {
		o.Changed, o.BudgetURL = changedSum(r, []byte(*a.Vote.Input)), views.BudgetURL(r.ConversationID)
		if r.AsksForAllowance() {
			o.BudgetURL = ""
		}
	}
	if a.Vote.Input != nil && o.Changed == "" {
		edited := []byte(*a.Vote.Input)
		if canonical, err := models.CanonicalJSON("input", edited); err == nil {
			edited = canonical
		}
		label, change := "Approved input, as edited", "Changes made before approval"
		if _, suggested := a.Vote.SuggestedInput(); suggested {
			o.Suggested, label, change = true, "Suggested input, not approved", "What the suggestion changes"
		}
		o.Edited = &ui.Code{ID: "edited", Label: label, Text: indent(edited), Numbers: true}
		o.EditedDigest = deref(a.Vote.InputDigest)
		if h, ok := headline.Edited(a); ok {
			o.EditedSays = h.Text()
		}
		o.Change = new(ui.DiffOf(change, indentJSON(r.ToolInputJSON), o.Edited.Text))
	}
	return o
}

// byWhom is who decided, and for whom, in a line of text.
func (o *Outcome) byWhom() string {
	vote := models.Vote{UserName: o.By, BehalfName: o.Behalf}
	return byWhom(&vote)
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
func lateText(in ApprovalInput, v Approval) string {
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
		return "Already " + v.Outcome.Word.Text + " by " + v.Outcome.byWhom() + ". Your " + did + " changed nothing."
	}
	return "Already " + v.Outcome.Word.Text + ". " + v.Outcome.CauseText + " Your " + did + " changed nothing."
}
