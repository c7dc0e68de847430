package policies

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"countersign/models"
	"countersign/models/condition"
	"countersign/models/headline"
	"countersign/models/policy"
	"countersign/views"
)

// RuleInput is what the form of one rule is made of.
type RuleInput struct {
	Index     int // in the draft; behind the last for a new one
	New       bool
	Base      int64
	Revision  int64
	Was       string // its name as it is kept
	Form      policy.Form
	Problems  map[string]string // by path in the document
	Notice    string
	Templates []string      // that it may name
	People    []string      // and groups, to pick reviewers from
	First     bool          // a new one goes before all others
	From      string        // the request that filled it in
	Seen      *policy.Usage // nil: nothing is known

	Tools     []SeenTool // to choose from, the busiest first
	Condition ConditionInput
	Members   []condition.Member // of the input of calls of its tools
	Calls     int                // of how many calls
	Findings  Findings

	MoreSigners bool // more empty rows for those who sign
}

// SeenTool is a tool that agents asked about.
type SeenTool struct {
	Name   string
	Calls  int // of the newest calls; 0: only older ones
	Newest *models.Response
}

func (t SeenTool) headline() string { return headline.Shown(t.Newest).Text() }

// ToolChoice is a tool to tick in the form of a rule.
type ToolChoice struct {
	SeenTool

	Count  string
	Chosen bool
}

// RuleForm is the form of one rule.
type RuleForm struct {
	Title, URL, Was, Base, Revision, Notice, From string
	New, First                                    bool
	Fields                                        []FormField
	Reviewers                                     []string
	ReviewersError                                string
	Matches                                       []string
	People                                        []string
	Others                                        []string

	Tools     []ToolChoice
	Patterns  FormField // names and patterns that are not among the tools to tick
	Condition Condition
	Who       []WhoChoice
	Signers   []SignersRow
	// SignersSay reads them back; empty: no one is named.
	SignersSay string
	Rest       string // what the folded members say
	Unfold     bool   // one of them is wrong
}

// WhoChoice is a person or a group to tick.
type WhoChoice struct {
	Value, Label string
	Group        bool
	Chosen       bool
}

// At is the field of a member.
func (v RuleForm) At(path string) FormField {
	return v.Fields[slices.IndexFunc(v.Fields, func(f FormField) bool { return f.Input.Name == path })]
}

// folded are the members behind "How long, risk and the rest".
func (v RuleForm) folded() []FormField {
	var out []FormField
	for _, f := range v.Fields {
		if !slices.Contains(inView, f.Input.Name) {
			out = append(out, f)
		}
	}
	return out
}

// inView are the members of a rule that have a step of its form.
var inView = []string{
	"name", "tools", "when", "effect", "reviewers", "reviewers_only", "self_approval", "approvals", "any", "stages",
	"reject_count", "show_progress", "break_glass",
}

// spareReviewers is how many empty fields there are for more people.
const spareReviewers = 2

// NewRuleForm makes the form of one rule.
func NewRuleForm(in RuleInput) RuleForm {
	at := fmt.Sprintf("rules[%d].", in.Index)
	v := RuleForm{
		Title: "Rule “" + in.Was + "”", URL: views.PolicyRuleURL(in.Index + 1), Was: in.Was, Notice: in.Notice, From: in.From,
		Base: strconv.FormatInt(in.Base, 10), Revision: strconv.FormatInt(in.Revision, 10),
		New: in.New, First: in.First, People: in.People,
	}
	if in.New {
		v.Title, v.URL = "A new rule", views.NewPolicyRuleURL("")
	}
	for _, f := range rulePolicyFields {
		if f.path == "template" {
			f.choices = templateChoices(in.Templates)
		}
		v.Fields = append(v.Fields, drawField(f, policy.RuleFields(), in.Form, at, in.Problems))
	}
	v.chooseWho(in)
	v.chooseTools(in)
	v.Condition = newCondition(in, v.At("when"))
	v.Rest = restRead(in)
	v.Unfold = slices.ContainsFunc(v.folded(), func(f FormField) bool { return f.Input.Error != "" })
	if in.Seen != nil {
		v.Matches = NewToolMatches(v.Patterns.Input.Value, in.Form["effect"], *in.Seen)
	}
	v.ReviewersError = problemAt(in.Problems, at+"reviewers")
	v.Signers, v.SignersSay = signersRows(in), signersSay(in.Form)
	v.Others = otherProblems(in.Problems, policy.RuleFields(), at)
	return v
}

// Of a rule's form: how many tools, and people and groups, are there to tick.
const (
	shownTools = 40
	shownWho   = 50
)

// chooseTools offers the tools that were seen to tick, and leaves all other entries as typed.
func (v *RuleForm) chooseTools(in RuleInput) {
	entries := lines(in.Form["tools"])
	seen := slices.DeleteFunc(slices.Clone(in.Tools), func(t SeenTool) bool { return hasHidden(t.Name) })
	seen = seen[:min(len(seen), shownTools)]
	for _, t := range seen {
		choice := ToolChoice{SeenTool: t, Chosen: slices.Contains(entries, t.Name)}
		if t.Calls > 0 {
			choice.Count = callCount(t.Calls)
		}
		v.Tools = append(v.Tools, choice)
	}
	others := slices.DeleteFunc(entries, func(entry string) bool {
		return slices.ContainsFunc(seen, func(t SeenTool) bool { return t.Name == entry })
	})
	v.Patterns = v.At("tools")
	v.Patterns.Input.Value = strings.Join(others, "\n")
}

// chooseWho offers groups and people to tick, and leaves all other reviewers as typed.
func (v *RuleForm) chooseWho(in RuleInput) {
	reviewers := lines(in.Form["reviewers"])
	for _, who := range in.People[:min(len(in.People), shownWho)] {
		group, isGroup := models.GroupOf(who)
		choice := WhoChoice{Value: who, Label: who, Group: isGroup, Chosen: slices.Contains(reviewers, who)}
		if isGroup {
			choice.Label = group
		}
		v.Who = append(v.Who, choice)
		reviewers = slices.DeleteFunc(reviewers, func(r string) bool { return r == who })
	}
	v.Reviewers = reviewers
	for range spareReviewers {
		v.Reviewers = append(v.Reviewers, "")
	}
}

// hasHidden reports whether a text has characters that are not seen: a form can't offer it as it is.
func hasHidden(text string) bool { return models.RevealString(text, false) != text }

func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// restRead says what the folded members are set to.
func restRead(in RuleInput) string {
	var parts []string
	if in.Form["effect"] == string(policy.EffectRequire) {
		risk := in.Form["risk"]
		if risk == "" {
			risk = "medium"
		}
		time := "the time that the agent asks for, or the default"
		if minutes := minutesOf(in.Form["timeout_minutes"]); minutes > 0 {
			time = models.SpokenDuration(minutes)
		}
		parts = append(parts, risk+" risk", time)
	}
	parts = append(parts, ruleRest(in.Form)...)
	if in.Form["disabled"] == "true" {
		parts = append(parts, "disabled")
	}
	return strings.Join(parts, "; ")
}
