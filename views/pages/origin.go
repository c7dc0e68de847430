package pages

import (
	"encoding/json"
	"strconv"
	"strings"

	"countersign/models"
	"countersign/views"
)

// Origin says where a request comes from, beside its agent.
type Origin struct {
	Through   string // the other system that asks; empty: none
	Parent    string // the run above: its title, or else its name
	ParentURL string
	SubAgent  string // what the run calls its sub-agent, or that it is one
}

// newOrigin makes it from what is known of a request of agent. An upstream that
// asks in its own name asks through nobody.
func newOrigin(o models.Origin, agent string) Origin {
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
	if members, ok := objectOf([]byte(o.StartedInput)); ok {
		for _, name := range [...]string{"name", "subagent_type", "agent", "description"} {
			if s, ok := stringOf(json.RawMessage(members[name])); ok && strings.TrimSpace(s) != "" {
				return oneLine(s)
			}
		}
	}
	return oneLine(o.StartedBy)
}

// through is the other system as it stands in a sentence.
func through(o models.Origin) string {
	if o.UpstreamName == "" {
		return "the other system"
	}
	return models.RevealString(o.UpstreamName, false)
}

// tellingText says whose verdict is on its way to whom, and how far it is.
func tellingText(o models.Origin) string {
	t := o.Told
	text := models.RevealString(t.VoterName, false) + "'s " + verdictWord(t.Verdict) + " is on its way to " + through(o)
	switch {
	case t.Attempts == 0:
		return text + ": not yet told."
	case t.Problem == "":
		return text + ": not yet told (attempt " + strconv.Itoa(t.Attempts) + ")."
	}
	return text + ": not yet told (attempt " + strconv.Itoa(t.Attempts) + "). " + models.RevealString(t.Problem, false)
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
	return "verdict"
}
