package inputs

import (
	"countersign/models"
	"countersign/views"
	"countersign/views/ui"
)

// Linked leads from an approval of another system to the call that the agent
// reported, or from the call to its approval, where both keep a row of their own.
type Linked struct {
	Tone       views.Tone
	Text       string // what of others is in it has been revealed
	URL, Label string // empty: the reader may not see it
	Input      *ui.Code
}

// NewLinked is nil where there is only one row. place tells apart the code views of
// one page.
func NewLinked(o models.Origin, place string) *Linked {
	l := o.Linked
	if l == nil {
		return nil
	}
	agent, run := models.RevealString(l.AgentName, false), models.RevealString(l.RunID, false)
	v := &Linked{Tone: views.ToneNeutral}
	switch {
	case l.By == models.MatchedByOrder:
		v.Tone, v.Text = views.ToneWarn, "Matched by order in run "+run+": "
		if l.IsCall {
			v.Text += agent + " reported a call of this tool with another input. Both inputs are shown."
		} else {
			v.Text += agent + " asks for approval of this tool with another input. Both inputs are shown."
		}
	case l.IsCall && l.SameInput:
		v.Text = agent + " reported this call in run " + run + " after it was decided here."
	case l.IsCall:
		v.Tone, v.Text = views.ToneWarn, agent+" reported this call in run "+run+" with another input. Both inputs are shown."
	case l.SameInput:
		v.Text = "This call was reported after its approval was decided."
	default:
		v.Tone, v.Text = views.ToneWarn, agent+" asks for approval of this call with another input. Both inputs are shown."
	}
	if l.Status == models.StatusPending && l.IsCall && l.SameInput {
		v.Text = agent + " reported this call in run " + run + " while a decision on it was on its way."
	}
	if !l.IsCall {
		v.Text += " Approval: " + ui.StatusWord(l.Status, l.Cause).Text + "."
	}
	if l.ID != "" {
		v.URL, v.Label = views.ApprovalURL(l.ID), "Open the approval"
		if l.IsCall {
			v.URL, v.Label = views.CallURL(l.ConversationID, l.ID), "Open the reported call"
		}
	}
	v.Input = otherLinkedInput(l, agent, place)
	return v
}

// otherLinkedInput is the other input, where it is another one.
func otherLinkedInput(l *models.LinkedResponse, agent, place string) *ui.Code {
	if l.SameInput {
		return nil
	}
	code := &ui.Code{
		ID: "linked" + place, Label: "The input that " + agent + " asks with, and runs", Text: IndentJSON(l.Input),
		Numbers: true,
	}
	if l.IsCall {
		code.Label = "The input that " + agent + " reported"
	}
	if l.InputBytes > int64(len(l.Input)) {
		code.Label += ", the beginning of " + views.Number(l.InputBytes) + " bytes"
	}
	return code
}
