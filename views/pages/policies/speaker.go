package policies

import (
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"countersign/models"
	"countersign/models/policy"
	"countersign/views/ui"
)

// speaker says what changes between two documents.
type speaker struct {
	before, after policy.Document
	was, is       *policy.Draft
}

func (s *speaker) said(at place, c policy.Change, replay *policy.Tally) Spoken {
	switch {
	case at.list == "":
		return Spoken{Says: s.setting(at.member, c)}
	case at.member == "":
		out := s.whole(at, c)
		if at.list == "rules" {
			out.Replay = ruleReplayed(replay, at.name)
		}
		return out
	}
	out := Spoken{Says: append([]Phrase{{Text: capital(at.noun()) + " "}, {Text: at.name, Strong: true}, {Text: ": "}}, s.member(at, c)...)}
	if at.list == "rules" {
		out.Replay = ruleReplayed(replay, at.name)
	}
	return out
}

// form is what a form shows of a rule or template of a draft.
func (p place) form(doc policy.Document, d *policy.Draft) policy.Form {
	if p.list == "templates" {
		if i := slices.IndexFunc(doc.Templates, func(t policy.Template) bool { return t.Name == p.name }); i >= 0 {
			return d.Template(i)
		}
		return policy.Form{}
	}
	if i := slices.IndexFunc(doc.Rules, func(r policy.Rule) bool { return r.Name == p.name }); i >= 0 {
		return d.Rule(i)
	}
	return policy.Form{}
}

// whole says a rule or template that is new or gone.
func (s *speaker) whole(at place, c policy.Change) Spoken {
	doc, d, gone := s.after, s.is, c.After == ""
	if gone {
		doc, d = s.before, s.was
	}
	form := at.form(doc, d)
	begin, middle := "New "+at.noun()+" ", ": "
	if form["disabled"] == "true" {
		begin = "New, disabled " + at.noun() + " "
	}
	if gone {
		begin, middle = capital(at.noun())+" ", " is deleted. Before: "
	}
	out := Spoken{Says: []Phrase{{Text: begin}, {Text: at.name, Strong: true}, {Text: middle}}}
	if at.list == "templates" {
		says := templateSays(form)
		if says == "" {
			says = "says nothing"
		}
		out.Says = append(out.Says, Phrase{Text: says, Written: true})
		return out
	}
	template := place{list: "templates", name: form["template"]}.form(doc, d) // nothing if it names none
	out.Says = append(out.Says, ruleSays(form, []policy.Form{template})...)
	if i := slices.IndexFunc(doc.Rules, func(r policy.Rule) bool { return r.Name == at.name }); !gone && len(doc.Rules) > 1 {
		out.Says = append(out.Says, Phrase{Text: ". It is rule " + strconv.Itoa(i+1) + " of " + strconv.Itoa(len(doc.Rules))})
	}
	out.Tools, out.When = strings.ReplaceAll(form["tools"], "\n", ", "), form["when"]
	out.Rest = strings.Join(ruleRest(form), "; ")
	return out
}

// setting says a change outside the rules and templates.
func (s *speaker) setting(path string, c policy.Change) []Phrase {
	label := Phrase{Text: settingLabel(path) + ": "}
	switch path {
	case "approval_enabled":
		return []Phrase{{Text: "Approval is switched "}, {Text: onOff(c.After), Strong: true}}
	case "fallback_auto_approve":
		return []Phrase{{Text: "Fallback is switched "}, {Text: onOff(c.After), Strong: true}}
	case "required_approval_tools":
		return append([]Phrase{label}, listChange("", s.before.RequiredApprovalTools, s.after.RequiredApprovalTools)...)
	case unmatchedField.path:
		return append([]Phrase{label}, fromTo(choiceLabel(unmatchedField, c.Before), choiceLabel(unmatchedField, c.After))...)
	}
	if c.After == "true" || c.After == "false" {
		return append([]Phrase{label}, fromTo(onOff(c.Before), onOff(c.After))...)
	}
	return append([]Phrase{label}, fromTo(c.Before, c.After)...)
}

func onOff(flag string) string {
	if flag == "true" {
		return "on"
	}
	return "off"
}

func choiceLabel(f policyField, value string) string {
	for _, c := range f.choices {
		if c.Value == value {
			return c.Label
		}
	}
	return value
}

func fromTo(before, after string) []Phrase {
	return []Phrase{{Text: before, Written: true}, {Text: " → "}, {Text: after, Strong: true}}
}

// member says a change within a rule or template, as the end of a sentence that names it.
func (s *speaker) member(at place, c policy.Change) []Phrase {
	was, is := at.form(s.before, s.was), at.form(s.after, s.is)
	one := func(text string) []Phrase { return []Phrase{{Text: text}} }
	lines := func(form policy.Form) []string {
		return strings.FieldsFunc(form[at.member], func(r rune) bool { return r == '\n' })
	}
	list := func(verb string) []Phrase { return listChange(verb, lines(was), lines(is)) }
	on := c.After == "true"
	switch at.member {
	case "disabled":
		if on {
			return []Phrase{{Text: "it is "}, {Text: "disabled", Strong: true}}
		}
		return []Phrase{{Text: "it is "}, {Text: "enabled", Strong: true}}
	case "tools":
		return list("covers")
	case "effect":
		return before([]Phrase{{Text: "calls "}, {Text: effectSays(c.After), Strong: true}}, effectSays(c.Before))
	case "when":
		if is["when"] == "" {
			return before(one("it applies to every call of its tools"), "only where "+was["when"])
		}
		return before([]Phrase{{Text: "it applies only where "}, {Text: is["when"], Strong: true}}, where(was["when"]))
	case "timeout_minutes":
		return before([]Phrase{{Text: "a call waits "}, {Text: waits(is), Strong: true}}, waits(was))
	case "template":
		if is["template"] == "" {
			return before(one("it uses no template"), was["template"])
		}
		return before([]Phrase{{Text: "it uses the template "}, {Text: is["template"], Strong: true}}, was["template"])
	case "risk":
		return append(one("risk "), fromTo(c.Before, c.After)...)
	case "checklist":
		return list("an approver ticks")
	case "reviewers":
		return listChange("asks", named(lines(was)), named(lines(is)))
	case "reviewers_only":
		if on {
			return one("only its reviewers may approve")
		}
		return one("not only its reviewers may approve any more, but the agent's owner and admins too")
	case "self_approval":
		switch c.After {
		case string(models.SelfNever):
			return one("the agent's owner may no longer approve")
		case string(models.SelfNotAlone):
			return one("the agent's owner may not approve alone")
		}
		return one("the agent's owner may approve")
	case "approvals":
		was, is := signersSay(was), signersSay(is)
		if is == "" {
			return before(one("one person's approval is enough"), was)
		}
		return before([]Phrase{{Text: "it takes the signatures of "}, {Text: is, Strong: true}}, was)
	case "escalate":
		return list("escalates after minutes:")
	case "substitutes":
		if on {
			return one("substitutes may act")
		}
		return one("substitutes may no longer act")
	case "when_busy":
		return one(busySays(models.WhenBusy(is["when_busy"])))
	case "reject_reasons":
		return list("offers as reasons to reject")
	case "notify_headline":
		if on {
			return one("notifications may show the headline")
		}
		return one("notifications may no longer show the headline")
	}
	return append(one(strings.ToLower(at.label())+" "), fromTo(c.Before, c.After)...)
}

// before adds the earlier value in brackets, if there was one.
func before(says []Phrase, was string) []Phrase {
	if was == "" {
		return says
	}
	return append(says, Phrase{Text: " (before: "}, Phrase{Text: was, Written: true}, Phrase{Text: ")"})
}

func where(condition string) string {
	if condition == "" {
		return "every call of its tools"
	}
	return condition
}

func waits(form policy.Form) string {
	if minutes := minutesOf(form["timeout_minutes"]); minutes > 0 {
		return models.SpokenDuration(minutes)
	}
	return "as long as usual"
}

func effectSays(effect string) string {
	switch policy.Effect(effect) {
	case policy.EffectAllow:
		return "run without a person"
	case policy.EffectDeny:
		return "are denied"
	case policy.EffectRequire:
	}
	return "wait for a person"
}

func named(reviewers []string) []string {
	out := make([]string, len(reviewers))
	for i, reviewer := range reviewers {
		out[i] = reviewerName(reviewer)
	}
	return out
}

// listChange says what a list has too, and no longer has.
func listChange(verb string, was, is []string) []Phrase {
	missing := func(from, in []string) []string {
		return slices.DeleteFunc(slices.Clone(from), func(s string) bool { return slices.Contains(in, s) })
	}
	if verb != "" {
		verb += " "
	}
	more, gone := missing(is, was), missing(was, is)
	var out []Phrase
	add := func(word string, list []string) {
		if len(list) > 0 {
			out = append(out, Phrase{Text: word + verb}, Phrase{Text: strings.Join(list, ", "), Strong: true})
		}
	}
	switch {
	case len(more) == 0 && len(gone) == 0:
		return []Phrase{{Text: verb + "the same in another order"}}
	case len(was) == 0:
		add("", more)
	case len(more) == 0:
		add("no longer ", gone)
	default:
		add("also ", more)
		if len(gone) > 0 {
			out = append(out, Phrase{Text: ", "})
			add("no longer ", gone)
		}
	}
	return out
}

// phrases draws a sentence. A template would put spaces between its parts.
func phrases(says []Phrase) templ.Component {
	var parts []templ.Component
	for _, p := range says {
		switch {
		case p.Strong:
			parts = append(parts, templ.Raw(`<strong>`), ui.UntrustedCut(p.Text, maxPhrase), templ.Raw(`</strong>`))
		case p.Written:
			parts = append(parts, ui.UntrustedCut(p.Text, maxPhrase))
		default:
			parts = append(parts, templ.Raw(templ.EscapeString(p.Text)))
		}
	}
	return templ.Join(parts...)
}

// maxPhrase is how much of a value a sentence shows; the difference shows all of it.
const maxPhrase = 2000
