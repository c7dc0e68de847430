package conversations

import (
	"time"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/inputs"
	"countersign/views/pages/outcomes"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// CallInput is what the page of one tool call is made of.
type CallInput struct {
	Conversation models.Conversation
	Call         models.Approval
	Detail       models.CallDetail
	Origin       models.Origin
	Result       models.CallResult
	// Problem is why the call was not closed.
	Problem string
}

// CallView is all that is kept of one tool call: what it was called with, and
// what it gave. Open its approval request has a page of its own.
type CallView struct {
	Tool, Agent     string
	Origin          inputs.Origin
	Number          string // in its batch
	Sequence        string
	ToolUseID       string
	BackURL         string
	RequestURL      string // empty: there is no request about it
	Conversation    string
	ConversationURL string
	At              views.Moment
	Problem         string
	Notes           []inputs.Note
	Linked          *inputs.Linked
	Blocks          []ui.Block
	Whole, Raw      ui.Code
	Digest          string
	Result          *ui.Code
	ResultCut       string
	NoResult        string
}

// NewCall makes the page of one call as of now.
func NewCall(in CallInput, now time.Time) CallView {
	a, d := in.Call, in.Detail
	r := a.At(now)
	input := inputs.New(r, inputs.Folding{})
	v := CallView{
		Tool: a.ToolName, Agent: a.AgentName, Origin: inputs.NewOrigin(in.Origin, a.AgentName),
		Sequence: views.Number(a.Sequence), ToolUseID: words.Deref(a.ToolUseID),
		BackURL:         EntryURL(&in.Conversation, a.Sequence),
		ConversationURL: views.ConversationURL(a.ConversationID),
		Conversation:    words.ConversationLabel(&a),
		At:              views.Ago(startOf(&a, d), now), Notes: notes(r, d, in.Origin),
		Linked:  inputs.NewLinked(in.Origin, ""),
		Problem: in.Problem,
		Blocks:  input.Blocks, Whole: input.Whole, Raw: input.Raw, Digest: a.Digest,
	}
	if d.Of > 1 {
		v.Number = "#" + views.Number(int64(d.Place)) + " of " + views.Number(int64(d.Of))
	}
	if r.Status() != models.StatusNone || r.Cause != models.CauseNone {
		v.RequestURL = views.ApprovalURL(a.ID)
	}
	switch {
	case !in.Result.Completed:
		v.NoResult = "No result yet."
	case d.Closed != "":
		v.NoResult = "No result: the call was closed without one."
	default:
		label := "Result reported by "
		if in.Result.IsError && !outcomes.Denied(r) {
			label = "Error reported by "
		}
		v.Result = &ui.Code{ID: "result", Label: label + models.RevealString(a.AgentName, false), Text: in.Result.Result}
		if kept := int64(len(in.Result.Result)); in.Result.Bytes > kept && !a.IsRemoved() {
			v.ResultCut = "It had " + views.Number(in.Result.Bytes) + " bytes; the first " + views.Number(kept) + " are kept."
		}
	}
	return v
}
