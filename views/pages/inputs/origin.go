package inputs

import (
	"strconv"
	"strings"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/words"
	"countersign/views/ui"
)

// Origin says where a request comes from, beside its agent.
type Origin struct {
	Through   string // the other system that asks; empty: none
	Parent    string // the run above: its title, or else its name
	ParentURL string
	SubAgent  string // what the run calls its sub-agent, or that it is one
}

// NewOrigin makes it from the origin of a request of agent. An upstream that asks in its own name asks through no one.
func NewOrigin(o models.Origin, agent string) Origin {
	v := Origin{Through: o.UpstreamName, Parent: o.ParentTitle}
	if v.Through == agent {
		v.Through = ""
	}
	if v.Parent == "" {
		v.Parent = o.ParentRun
	}
	if o.ParentID != "" {
		v.ParentURL = views.ConversationURL(o.ParentID)
	}
	if o.StartedBy != "" {
		v.SubAgent = subAgent(o)
	}
	return v
}

// subAgent is what the call that started a sub-agent calls it.
func subAgent(o models.Origin) string {
	if members, ok := words.Object([]byte(o.StartedInput)); ok {
		for _, name := range [...]string{"name", "subagent_type", "agent", "description"} {
			if s, ok := words.Text(members[name]); ok && strings.TrimSpace(s) != "" {
				return words.OneLine(s)
			}
		}
	}
	return words.OneLine(o.StartedBy)
}

// Through is the other system as it is in a sentence.
func Through(o models.Origin) string {
	if o.UpstreamName == "" {
		return "the other system"
	}
	return models.RevealString(o.UpstreamName, false)
}

// TellingText says whose verdict is on its way to whom, and how far it is.
func TellingText(o models.Origin) string {
	t := o.Delivery
	text := models.RevealString(t.VoterName, false) + "'s " + verdictWord(t.Verdict) + " is being sent to " + Through(o)
	switch {
	case t.Attempts == 0:
		return text + ": not confirmed yet."
	case t.Problem == "":
		return text + ": not confirmed yet (attempt " + strconv.Itoa(t.Attempts) + ")."
	}
	return text + ": not confirmed yet (attempt " + strconv.Itoa(t.Attempts) + "). " +
		models.RevealString(t.Problem, false)
}

func verdictWord(v models.Verdict) string {
	switch v {
	case models.VerdictApprove:
		return "approval"
	case models.VerdictReject:
		return "rejection"
	case models.VerdictAnswer:
		return "answer"
	}
	return "decision"
}

// OtherInput is the input that another system asks with and runs, where it is
// another one than was reported.
func OtherInput(r *models.Response, hears string) (ui.Code, bool) {
	other, ok := r.OtherInput()
	if !ok {
		return ui.Code{}, false
	}
	return ui.Code{
		ID: "other", Part: models.PartOther, Label: "The input that " + hears + " asks with, and runs",
		Text: IndentJSON(other), Numbers: true,
	}, true
}

// BesideInput is what another system sends beside the input that it asks with.
func BesideInput(r *models.Response, beside, hears string) (ui.Code, bool) {
	if r.UpstreamID == nil || beside == "" {
		return ui.Code{}, false
	}
	return ui.Code{
		ID: "beside", Part: models.PartBeside, Label: "What " + hears + " sends beside the input", Text: IndentJSON(beside),
	}, true
}

// IndentJSON indents JSON, and leaves any other text unchanged.
func IndentJSON(s string) string {
	canonical, err := models.CanonicalJSON("input", []byte(s))
	if err != nil {
		return s
	}
	return Indent(canonical)
}

// matchedNote says how an outside approval found its call, where only order, or
// nothing, decided.
func matchedNote(o models.Origin) (Note, bool) {
	if o.Linked != nil {
		return Note{}, false // which says more
	}
	switch o.MatchedBy {
	case models.MatchedByOrder:
		if o.FoundIn != "" {
			return Note{
				views.ToneWarn,
				"Matched by order in run " + models.RevealString(o.FoundIn, false) + ": no call in the run that " + Through(o) +
					" names fits, so only the order decided.",
			}, true
		}
		return Note{
			views.ToneWarn,
			"Matched by order: several calls matched what " + Through(o) + " asks for, so only their order decided.",
		}, true
	case "unmatched":
		return Note{views.ToneWarn, "Unmatched: no reported call matches what " + Through(o) + " asks for."}, true
	case models.MatchedByToolUseID, models.MatchedByInput, models.MatchedByOnly, "":
	}
	return Note{}, false
}
