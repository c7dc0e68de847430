package policies

import (
	"slices"
	"strconv"
	"strings"

	"countersign/models"
	"countersign/models/policy"
	"countersign/views"
	"countersign/views/ui"
)

// TryInput is a call that is tried on the active policy, and on a draft.
type TryInput struct {
	Call    policy.Call
	When    string            // when it asks, as it was typed; empty: now
	Errors  map[string]string // the errors, by field
	Request models.ResponseID
	Trial   []Tried
	Draft   string // why the draft can't be tried; empty: it can, or there is none
}

// Tried is what one policy says.
type Tried struct {
	Title  string
	Policy *policy.Policy
}

// Try is the view model of the page on which calls are tried.
type Try struct {
	Tool, Kind, Error string
	Input             ui.Field
	More              []ui.Field
	MoreOpen          bool // something in them is filled in or wrong
	Removed           bool
	Explicit          bool
	Kinds             []ui.Choice
	RequestURL        string
	Answers           []Answer
	Differ            string // whether the draft says something else; empty: there is none
	Draft             string
}

// Answer is what one policy says of a call.
type Answer struct {
	ID, Title    string
	Outcome      ui.Word
	Risk         ui.Word
	Rule, Reason string
	Otherwise    string   // what happens if the agent does, or does not, ask for approval; empty: the same
	Who, Until   string   // empty: no one is asked
	Asks         []string // who is asked besides as time runs
	Acts         string   // whether substitutes may act; empty: they may
	Checklist    []string
	Steps        []Step
}

// Step is one rule that was asked.
type Step struct {
	Rule, Why string
	Decides   bool
}

// tryKinds are the kinds of requests that can be tried.
var tryKinds = []ui.Choice{
	{Value: string(models.KindToolCall), Label: "a tool call"},
	{Value: string(models.KindQuestion), Label: "a question"},
	{Value: string(models.KindProposal), Label: "a proposal"},
	{Value: string(models.KindBudget), Label: "a budget request"},
}

// NewTry makes the page.
func NewTry(in TryInput) Try {
	v := Try{
		Tool: in.Call.ToolName, Kind: string(in.Call.Kind), Explicit: in.Call.Explicit, Error: in.Errors["toolName"],
		Kinds: tryKinds, Draft: in.Draft,
		Removed: in.Call.Facts.Removed,
		Input: ui.Field{
			Name: "input", Label: "Input", Type: "textarea", Rows: 4, Mono: true, Optional: true,
			Value: string(in.Call.Facts.Input), Error: in.Errors["input"],
			Help: "As JSON, for conditions that read it. Empty is {}.",
		},
		More: []ui.Field{
			{Name: "agent", Label: "Agent", Help: "Its name.", Value: in.Call.Facts.Agent, MaxLength: "200", Optional: true},
			{
				Name: "owner", Label: "Owner", Help: "The e-mail address of its owner.", Value: in.Call.Facts.Owner,
				MaxLength: "254", Optional: true,
			},
			{
				Name: "conversation", Label: "Conversation", Help: "As the agent names it.", Value: in.Call.Facts.Conversation,
				MaxLength: "200", Optional: true,
			},
			{
				Name: "template", Label: "Template", Help: "The template that the agent names.", Value: in.Call.Template,
				MaxLength: "64", Optional: true,
			},
			{
				Name: "at", Label: "When it asks", Help: "In the policy's time zone. Empty is now.", Type: "datetime-local",
				Value: in.When, Error: in.Errors["at"], Optional: true,
			},
		},
	}
	for _, f := range v.More {
		v.MoreOpen = v.MoreOpen || f.Value != "" || f.Error != ""
	}
	if in.Request != "" {
		v.RequestURL = views.ApprovalURL(in.Request)
	}
	for i, trial := range in.Trial {
		v.Answers = append(v.Answers, policyAnswer(i, trial, in.Call))
	}
	if len(v.Answers) > 1 {
		v.Differ = "Your draft would treat this call the same."
		a, b := v.Answers[0], v.Answers[1]
		if a.Outcome != b.Outcome || a.Risk != b.Risk || a.Who != b.Who || a.Until != b.Until || a.Acts != b.Acts ||
			!slices.Equal(a.Asks, b.Asks) || !slices.Equal(a.Checklist, b.Checklist) {
			v.Differ = "Your draft would treat this call differently."
		}
	}
	return v
}

func policyAnswer(i int, trial Tried, call policy.Call) Answer {
	e := trial.Policy.Explain(call)
	j := e.Judgement
	a := Answer{
		ID: "tried-" + strconv.Itoa(i+1), Title: trial.Title, Outcome: triedWord(j), Rule: j.Rule, Reason: j.Reason,
	}
	a.Otherwise = otherwise(trial.Policy, call, j)
	for k, step := range e.Steps {
		a.Steps = append(a.Steps, Step{Rule: step.Rule, Why: step.Why, Decides: k == len(e.Steps)-1})
	}
	if j.Effect != policy.EffectRequire {
		return a
	}
	a.Risk = ui.RiskWord(j.Risk)
	a.Who, a.Until, a.Checklist = whoDecides(j), untilText(trial.Policy, j, call.Kind), j.Checklist
	for _, step := range j.Escalate {
		a.Asks = append(a.Asks,
			"After "+minutesSpoken(step.AfterMinutes)+" without a decision, also "+strings.Join(reviewerWords(step.To),
				", ")+".")
	}
	if j.WhenBusy != "" {
		a.Asks = append(a.Asks, "It "+busySays(j.WhenBusy)+".")
	}
	if j.NoSubstitutes {
		a.Acts = "Nobody may act for them as a substitute."
	}
	return a
}

// otherwise says what becomes of a call whose agent asks for approval, or not, other than was tried: the reader need
// not know which of the two their agent does.
func otherwise(p *policy.Policy, call policy.Call, j policy.Judgement) string {
	call.Explicit = !call.Explicit
	other := p.Explain(call).Judgement
	if other.Effect == j.Effect {
		return ""
	}
	if call.Explicit {
		return "If the agent itself asks for approval, it " + triedWord(other).Text + "."
	}
	return "If the agent does not itself ask for approval, it " + triedWord(other).Text + "."
}

func triedWord(j policy.Judgement) ui.Word {
	switch j.Effect {
	case policy.EffectAllow:
		return ui.Word{Text: "runs without a person", Tone: views.ToneGood}
	case policy.EffectDeny:
		return ui.Word{Text: "is denied", Tone: views.ToneBad}
	case policy.EffectRequire:
	}
	return ui.Word{Text: "waits for a person", Tone: views.ToneAccent}
}

// reviewerWords names whom a rule names, for sentences.
func reviewerWords(reviewers []string) []string {
	var out []string
	for _, r := range reviewers {
		if group, ok := models.GroupOf(r); ok {
			r = "members of " + group
		}
		out = append(out, r)
	}
	return out
}

// whoDecides is who may approve a call that waits.
func whoDecides(j policy.Judgement) string {
	reviewers := strings.Join(reviewerWords(j.Reviewers), ", ")
	never := j.SelfApproval == models.SelfNever
	switch {
	case j.Nobody != "":
		return j.Nobody
	case len(j.Approvals) > 0:
		return "To approve it takes " + quorumSays(j.Quorum, j.SelfApproval) + "."
	case j.Only != nil:
		text := "Only " + strings.Join(reviewerWords(j.Only), ", ") +
			" may approve, of those who could without the template that the agent names"
		if never {
			return text + ", and never as the agent's owner."
		}
		return text + "."
	case j.ReviewersOnly && never:
		return "Only " + reviewers + " may approve, and never as the agent's owner."
	case j.ReviewersOnly:
		return "Only " + reviewers + " may approve."
	}
	who := []string{"The agent's owner", "admins"}
	if never {
		who = []string{"Admins"}
	}
	if reviewers != "" {
		who = append(who, reviewers)
	}
	text := strings.Join(who, ", ") + " may approve"
	if never {
		return text + ", and never as the agent's owner."
	}
	return text + "."
}

// untilText is how long such a call waits.
func untilText(p *policy.Policy, j policy.Judgement, kind models.Kind) string {
	minutes, ok := p.WaitMinutes(j, kind)
	switch {
	case j.Timeout != nil:
		return "It expires after " + minutesSpoken(minutes) + "."
	case !ok:
		return "It has no deadline, unless the agent asks for one."
	case j.AtMost != nil:
		return "It expires after " + minutesSpoken(minutes) + ", unless the agent asks for another time; after " +
			minutesSpoken(*j.AtMost) + " at the latest."
	}
	return "It expires after " + minutesSpoken(minutes) + ", unless the agent asks for another time."
}

func minutesSpoken(minutes int) string {
	if minutes == 1 {
		return "1 minute"
	}
	return views.Number(int64(minutes)) + " minutes"
}
