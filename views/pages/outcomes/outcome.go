package outcomes

import (
	"time"

	"countersign/models"
	"countersign/models/headline"
	"countersign/views"
	"countersign/views/pages/inputs"
	"countersign/views/pages/words"
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
	Suggestion   bool // Edited is what would be approved
	EditedDigest string
	EditedSays   string    // the headline of the approved input
	Change       *ui.Block // from the requested to the released input
	FromURL      string    // of the request with which this one was rejected
	GrantURL     string    // of the grant that let it through
	Took         string    // from the ask to the outcome
	Result       string    // what became of the call
	Changed      string    // what a decider changed about a budget request, in words
	BudgetURL    string
	Ticks        []string // items of the checklist
}

// New says how r ended, which is a as of now.
func New(a *models.Approval, r *models.Response, now time.Time) *Outcome {
	o := &Outcome{
		Word: ui.StatusWord(r.Status(), r.Cause), CauseText: r.Cause.Text(),
		At: views.AgoOf(r.ApprovalTimestamp, now), Reason: r.Feedback(), Answer: r.Answer, Result: ResultText(r),
	}
	if r.Status() == models.StatusRan {
		o.Reason = r.PolicyReason
	}
	if r.ApprovalTimestamp != nil && r.ApprovalRequestedAt != nil && r.Cause != models.CausePolicy &&
		r.Cause != models.CauseFallback {
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
	o.By, o.Behalf, o.CauseText, o.Ticks = a.Vote.UserName, a.Vote.BehalfName, "", r.TickedItems(a.Vote)
	if a.Vote.Verdict == models.VerdictAnswer {
		o.Word = ui.Word{Text: "answered", Tone: views.ToneGood, Icon: "check"}
	}
	if a.Vote.Reason != "" {
		o.Reason = a.Vote.Reason
	}
	if a.Vote.Answer != nil {
		o.Answer = *a.Vote.Answer
	}
	if o.Option = words.Deref(a.Vote.Option); o.Option != "" {
		if a.Vote.Answer == nil {
			o.Answer = "" // it is the option's name
		}
		for _, c := range Choices(r) {
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
		if _, suggests := a.Vote.SuggestedInput(); suggests {
			o.Suggestion, label, change = true, "Suggested input, not approved", "What the suggestion changes"
		}
		o.Edited = &ui.Code{ID: "edited", Label: label, Text: inputs.Indent(edited), Numbers: true}
		o.EditedDigest = words.Deref(a.Vote.InputDigest)
		if h, ok := headline.Edited(a); ok {
			o.EditedSays = h.Text()
		}
		o.Change = new(ui.DiffOf(change, inputs.IndentJSON(r.ToolInputJSON), o.Edited.Text))
	}
	return o
}

// ByWhom is who decided, and for whom, in a line of text.
func (o *Outcome) ByWhom() string {
	vote := models.Vote{UserName: o.By, BehalfName: o.Behalf}
	return words.ByWhom(&vote)
}

// ResultText says how a call ended that was allowed to run; empty: it was not allowed.
func ResultText(r *models.Response) string {
	switch {
	case r.Status() != models.StatusApproved && r.Status() != models.StatusRan && !r.LetThrough():
		return ""
	case r.Kind != models.KindToolCall:
		return ""
	case r.Closed != "":
		return "no result reported"
	case !r.IsCompleted:
		return "Waiting for the result"
	case r.IsError:
		return "failed"
	}
	return "done"
}

// Denied reports whether the result of a call is how its agent reports that it was
// rejected: that is no failure.
func Denied(r *models.Response) bool { return r.Status() == models.StatusRejected }
