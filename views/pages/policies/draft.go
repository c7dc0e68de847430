package policies

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"countersign/models"
	"countersign/models/policy"
	"countersign/views"
	"countersign/views/ui"
)

// DraftInput is what an admin is writing, valid or not.
type DraftInput struct {
	Base      int64 // the version that it began with
	Revision  int64 // 0: nothing is kept yet
	ChangedAt time.Time
	Undo      bool // there is something to go back to
	Settings  policy.Form
	Rules     []policy.Form
	Templates []policy.Form
	Problems  map[string]string // by path
	Notice    string
	// Unreadable says why the draft can't be shown as a form; empty: it can.
	Unreadable string
	Page       int // of the rules, counted from 1
	// Zone is whose time is typed as the end of a switch; Typed is the typed text, by the switch.
	Zone string
	Ends map[string]TypedEnd
	// Warnings are members that are perhaps not meant, of a draft that is valid.
	Warnings []policy.Warning
}

// Draft is an admin's draft as a form.
type Draft struct {
	Base, Revision string
	Kept           bool
	ChangedAt      views.Moment
	Undo           bool
	Began          string // the version that it began with
	Stale          string // the version that is active by now; empty: the same
	Notice         string
	Unreadable     string
	Groups         []FormGroup
	Rules          []RuleRow
	Templates      []TemplateRow
	All            int         // rules, on all pages
	Page           string      // of the rules
	Pages          []RulesLink // empty: there is only one
	Faulty         []RulesLink // rules on other pages in which something is wrong
	Warnings       []string
	MoreWarnings   string
	Unmatched      FormField
	LetsThrough    bool             // everything else is allowed
	Examples       []policy.Example // to begin with, while there are no rules
	Others         []string         // faults that belong to no field of this page
}

// RuleRow is one rule in the list.
type RuleRow struct {
	Index              int
	Number, Name, Note string
	Tools, When, Then  string
	Effect, Risk       ui.Word
	Disabled           bool
	First, Last        bool
	Faults             []string
}

func newPolicyDraft(in DraftInput, standing int64, now time.Time) *Draft {
	v := &Draft{
		Base: strconv.FormatInt(in.Base, 10), Revision: strconv.FormatInt(in.Revision, 10),
		Kept: in.Revision > 0, ChangedAt: views.Ago(in.ChangedAt, now), Undo: in.Undo,
		Began: "v" + views.Number(in.Base), Notice: in.Notice, Unreadable: in.Unreadable,
	}
	if in.Base != standing {
		v.Stale = "v" + views.Number(standing)
	}
	if in.Unreadable != "" {
		return v
	}
	for _, g := range policyGroups {
		group := FormGroup{ID: g.id, Title: g.title, Help: g.help}
		for _, f := range g.fields {
			switch {
			case f.drawnThere:
			case f.toggle:
				i := slices.IndexFunc(policyToggles, func(t Toggle) bool { return t.Flag == f.path })
				group.Fields = append(group.Fields, FormField{Toggle: new(newSwitch(policyToggles[i], in))})
			default:
				group.Fields = append(group.Fields, drawField(f, policy.Settings(), in.Settings, "", in.Problems))
			}
		}
		v.Groups = append(v.Groups, group)
	}
	v.Unmatched = drawField(unmatchedField, policy.Settings(), in.Settings, "", in.Problems)
	v.Unmatched.Input.ID = "everything-else"
	v.LetsThrough = in.Settings["unmatched"] == string(policy.EffectAllow)
	v.rules(in)
	v.Templates = templateRows(in)
	for i, w := range in.Warnings {
		if i == shownWarnings {
			v.MoreWarnings = views.Number(int64(len(in.Warnings)-i)) + " more are listed in the review."
			break
		}
		v.Warnings = append(v.Warnings, w.Path+": "+w.Text)
	}
	if len(in.Rules) == 0 {
		v.Examples = policy.Examples()
	}
	v.Others = slices.DeleteFunc(otherProblems(in.Problems, "rules[", policy.Settings(), ""), func(text string) bool {
		return strings.HasPrefix(text, "templates[") // in the list of templates
	})
	return v
}

// shownWarnings is how many remarks the form lists.
const shownWarnings = 10

// RulesLink leads to a page of rules, or to one of them.
type RulesLink struct {
	Label, URL string
	Current    bool
}

// shownFaulty is how many rules on other pages are named in which something is wrong.
const shownFaulty = 10

// rules shows one page of them, and leads to the others.
func (v *Draft) rules(in DraftInput) {
	v.All = len(in.Rules)
	pages := max(1, (len(in.Rules)+views.RulesOnAPage-1)/views.RulesOnAPage)
	page := min(max(1, in.Page), pages)
	v.Page = strconv.Itoa(page)
	first, last := (page-1)*views.RulesOnAPage, min(page*views.RulesOnAPage, len(in.Rules))
	for i := first; i < last; i++ {
		v.Rules = append(v.Rules, ruleRow(i, in))
	}
	if pages == 1 {
		return
	}
	for n := range pages {
		from, to := n*views.RulesOnAPage+1, min((n+1)*views.RulesOnAPage, len(in.Rules))
		v.Pages = append(v.Pages,
			RulesLink{strconv.Itoa(from) + "–" + strconv.Itoa(to), views.PolicyRulesURL(n + 1), n+1 == page})
	}
	for i := range in.Rules {
		if i >= first && i < last || len(v.Faulty) == shownFaulty {
			continue
		}
		at := fmt.Sprintf("rules[%d]", i)
		for path := range in.Problems {
			if path == at || strings.HasPrefix(path, at+".") {
				v.Faulty = append(v.Faulty, RulesLink{"Rule " + strconv.Itoa(i+1), views.PolicyRuleRowURL(i + 1), false})
				break
			}
		}
	}
}

// ruleRow shows a rule as it is written so far.
func ruleRow(i int, in DraftInput) RuleRow {
	form := in.Rules[i]
	row := RuleRow{
		Index: i, Number: strconv.Itoa(i + 1), Name: form["name"], Note: form["note"], Tools: form["tools"],
		When:     form["when"],
		Disabled: form["disabled"] == "true", First: i == 0, Last: i == len(in.Rules)-1,
		Effect: effectWord(form["effect"]), Then: thenText(form),
	}
	if form["effect"] == string(policy.EffectRequire) {
		row.Risk = ruleRisk(form, in.Templates)
	}
	row.Faults = faultsAt(in.Problems, fmt.Sprintf("rules[%d]", i))
	return row
}

// otherProblems are those without a field in a form whose members begin with at.
func otherProblems(problems map[string]string, but string, fields []policy.Field, at string) []string {
	var out []string
	for _, path := range slices.Sorted(maps.Keys(problems)) {
		if !strings.HasPrefix(path, at) || but != "" && strings.HasPrefix(path, but) {
			continue
		}
		member, _, _ := strings.Cut(strings.TrimPrefix(path, at), "[")
		if !slices.ContainsFunc(fields, func(f policy.Field) bool {
			return f.Path == member &&
				(f.Kind != policy.FieldSwitch ||
					slices.ContainsFunc(policyToggles, func(t Toggle) bool { return t.Flag == member }))
		}) {
			out = append(out, path+" "+problems[path])
		}
	}
	return out
}

func effectWord(effect string) ui.Word {
	w := ui.Word{Text: effect, Tone: views.ToneNeutral}
	switch policy.Effect(effect) {
	case policy.EffectDeny:
		w.Tone = views.ToneBad
	case policy.EffectRequire:
		w.Tone = views.ToneAccent
	case policy.EffectAllow:
		w.Tone = views.ToneGood
	}
	return w
}

// thenText says what else a rule does.
func thenText(form policy.Form) string {
	var then []string
	if form["template"] != "" {
		then = append(then, "template “"+form["template"]+"”")
	}
	if minutes, err := strconv.Atoi(form["timeout_minutes"]); err == nil && minutes > 0 {
		then = append(then, "waits "+models.SpokenDuration(time.Duration(minutes)*time.Minute))
	}
	if reasons := form["reject_reasons"]; reasons != "" {
		then = append(then, "offers reasons to reject: "+strings.ReplaceAll(reasons, "\n", ", "))
	}
	if energy, err := strconv.ParseInt(form["energy"], 10, 64); err == nil && energy > 0 {
		then = append(then, "costs at least "+views.Number(energy)+" energy")
	}
	switch reviewers := strings.ReplaceAll(form["reviewers"], "\n", ", "); {
	case reviewers == "":
	case form["reviewers_only"] == "true":
		then = append(then, "only "+reviewers+" may approve (reviewers_only)")
	default:
		then = append(then, "also asks "+reviewers)
	}
	if form["self_approval"] == string(models.SelfNever) {
		then = append(then, "the agent's owner may not approve (self_approval: never)")
	}
	if steps := form["escalate"]; steps != "" {
		then = append(then, "asks further people after minutes (escalate): "+strings.ReplaceAll(steps, "\n", "; "))
	}
	if may, said := form["substitutes"]; said && may == "" {
		then = append(then, "no substitutes (substitutes: false)")
	}
	if form["notify_headline"] == "true" {
		then = append(then, "notifications may show the headline (notify_headline)")
	}
	if form["reason"] != "" {
		then = append(then, "“"+form["reason"]+"”")
	}
	return strings.Join(then, "; ")
}

// JSON is the draft as JSON.
type JSON struct {
	Base, Revision, Text string
	Notice               string
	Faults               []string
}

// NewJSON makes the page of the draft as JSON, as it was typed.
func NewJSON(base, revision int64, text, notice string, problems map[string]string) JSON {
	v := JSON{Base: strconv.FormatInt(base, 10), Revision: strconv.FormatInt(revision, 10), Text: text, Notice: notice}
	for _, path := range slices.Sorted(maps.Keys(problems)) {
		v.Faults = append(v.Faults, path+" "+problems[path])
	}
	return v
}
