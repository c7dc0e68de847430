package policies

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"countersign/models/policy"
	"countersign/views"
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
	// Calls counts last week's calls by the name of the rule that decided them; nil: not known. CallsCut: there were
	// more than were counted.
	Calls    map[string]int
	CallsCut bool
}

// Draft is an admin's draft as a form.
type Draft struct {
	Section        Section
	URL            string
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
	EverythingElse []Remark    // on what no rule covers
	Unmatched      FormField
	LetsThrough    bool             // everything else is allowed
	Examples       []policy.Example // to begin with, while there are no rules
	Others         []string         // faults that belong to no field of this page
}

// RuleRow is one rule in the list.
type RuleRow struct {
	Index              int
	Number, Name, Note string
	Says               []Phrase // behind the name
	Tools, When, Rest  string
	Calls              string // last week; empty: not known
	Disabled           bool
	First, Last        bool
	Faults             []string
	Remarks            []Remark
}

func newPolicyDraft(section Section, in DraftInput, standing int64, now time.Time) *Draft {
	v := &Draft{
		Section: section, URL: section.URL(),
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
	switch section {
	case Settings:
		v.settings(in)
	case Templates:
		v.Templates = templateRows(in)
	case Rules:
		v.rules(in)
	case Versions:
	}
	return v
}

// settings shows all members outside the rules and templates.
func (v *Draft) settings(in DraftInput) {
	for _, g := range policyGroups {
		group := FormGroup{ID: g.id, Title: g.title, Help: g.help}
		for _, f := range g.fields {
			switch {
			case f.drawnThere:
			case f.toggle:
				i := slices.IndexFunc(policyToggles, func(t Toggle) bool { return t.Flag == f.path })
				group.Fields = append(group.Fields, FormField{Toggle: new(newSwitch(policyToggles[i], in))})
			default:
				field := drawField(f, policy.Settings(), in.Settings, "", in.Problems)
				field.Remarks = remarksAt(in.Warnings, f.path)
				group.Fields = append(group.Fields, field)
			}
		}
		v.Groups = append(v.Groups, group)
	}
}

// shownWarnings is how many remarks a row lists.
const shownWarnings = 10

// RulesLink leads to a page of rules, or to one of them.
type RulesLink struct {
	Label, URL string
	Current    bool
}

// Remark is a possible mistake, with a button that does something about it.
type Remark struct {
	Text, ID  string
	Fix, Step string // of the button; empty: there is none
}

// remarksAt are possible mistakes in a member of the document or in a part of it.
func remarksAt(warnings []policy.Warning, at string) []Remark {
	var out []Remark
	for _, w := range warnings {
		if rest, ok := strings.CutPrefix(w.Path, at); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			if len(out) == shownWarnings {
				return append(out, Remark{Text: "There are more: the review lists them.", ID: "remarks-" + at})
			}
			remark := Remark{Text: w.Text, ID: "remark-" + w.Key()}
			if w.Fix != nil {
				remark.Fix, remark.Step = w.Fix.Label, "fix:"+w.Key()
			}
			out = append(out, remark)
		}
	}
	return out
}

// unknownMembers are problems of members that no page of the policy shows.
func unknownMembers(problems map[string]string) []string {
	var out []string
	for _, path := range slices.Sorted(maps.Keys(problems)) {
		if _, known := sectionOfMember(path); !known {
			out = append(out, path+" "+problems[path])
		}
	}
	return out
}

// shownFaulty is how many rules on other pages are named in which something is wrong.
const shownFaulty = 10

// rules shows one page of them, and leads to the others.
func (v *Draft) rules(in DraftInput) {
	v.Unmatched = drawField(unmatchedField, policy.Settings(), in.Settings, "", in.Problems)
	v.Unmatched.Input.ID = "everything-else"
	v.LetsThrough = in.Settings["unmatched"] == string(policy.EffectAllow)
	if len(in.Rules) == 0 {
		v.Examples = policy.Examples()
	}
	v.Others = unknownMembers(in.Problems)
	v.EverythingElse = remarksAt(in.Warnings, unmatchedField.path)
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
	form, at := in.Rules[i], fmt.Sprintf("rules[%d]", i)
	row := RuleRow{
		Index: i, Number: strconv.Itoa(i + 1), Name: form["name"], Note: form["note"],
		Says: ruleSays(form, in.Templates), Rest: strings.Join(ruleRest(form), "; "),
		Tools: strings.ReplaceAll(form["tools"], "\n", ", "), When: form["when"],
		Disabled: form["disabled"] == "true", First: i == 0, Last: i == len(in.Rules)-1,
		Faults: faultsAt(in.Problems, at), Remarks: remarksAt(in.Warnings, at),
	}
	if in.Calls != nil {
		row.Calls = callsText(in.Calls[form["name"]], in.CallsCut)
	}
	return row
}

// callsText is how many calls a rule decided last week; cut: of more than were counted.
func callsText(n int, cut bool) string {
	if cut {
		return "at least " + callCount(n)
	}
	return callCount(n)
}

// otherProblems are those without a field in a form whose members begin with at.
func otherProblems(problems map[string]string, fields []policy.Field, at string) []string {
	var out []string
	for _, path := range slices.Sorted(maps.Keys(problems)) {
		rest, ok := strings.CutPrefix(path, at)
		member, _, _ := strings.Cut(rest, "[")
		if ok && !slices.ContainsFunc(fields, func(f policy.Field) bool { return f.Path == member && f.Kind != policy.FieldSwitch }) {
			out = append(out, path+" "+problems[path])
		}
	}
	return out
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
