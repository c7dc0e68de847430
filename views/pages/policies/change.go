package policies

import (
	"slices"
	"strconv"
	"strings"

	"countersign/models/policy"
	"countersign/views"
	"countersign/views/ui"
)

// Changes are what one document changes of another.
type Changes struct {
	Said []Spoken
	More string   // how many are not said; empty: all are
	JSON ui.Block // the difference of the documents
}

// Spoken is what happens to a rule, a template or a setting, in a sentence.
type Spoken struct {
	Says        []Phrase
	Tools, When string // of a whole rule
	Rest        string // what else it says
	Replay      string // what it would have made of the last calls; empty: that is not known
}

// newChanges says what turns one document into another, and what that would have made of the calls in a tally; nil:
// that is not known.
func newChanges(before, after policy.Document, replay *policy.Tally) Changes {
	var v Changes
	s := speaker{before: before, after: after, was: draftOf(before), is: draftOf(after)}
	last := place{}
	changes := policy.Diff(before, after)
	for i, c := range changes {
		at := placeOf(c.Path)
		n := len(v.Said)
		if n > 0 && at.list != "" && at.list == last.list && at.name == last.name {
			v.Said[n-1].Says = append(append(v.Said[n-1].Says, Phrase{Text: "; "}), s.member(at, c)...)
			continue
		}
		if n == shownPolicyChanges {
			v.More = views.Number(int64(len(changes)-i)) + " more changes are not listed here."
			break
		}
		last = at
		v.Said = append(v.Said, s.said(at, c, replay))
	}
	v.JSON = ui.DiffOf("Difference", documentText(before), documentText(after))
	return v
}

func documentText(doc policy.Document) string {
	raw, err := doc.Marshal()
	if err != nil {
		return err.Error()
	}
	return string(raw) + "\n"
}

// draftOf shows a document as forms do; empty if it is too large for that.
func draftOf(doc policy.Document) *policy.Draft {
	d, err := policy.DraftOf(doc)
	if err != nil {
		return &policy.Draft{}
	}
	return d
}

// place is what a path of a difference leads to.
type place struct {
	list   string // rules or templates; empty: a setting
	name   string // of the rule or template
	member string // empty: the whole rule or template
}

func placeOf(path string) place {
	for _, list := range []string{"rules", "templates"} {
		rest, ok := strings.CutPrefix(path, list+"[")
		quote, err := strconv.QuotedPrefix(rest)
		if !ok || err != nil {
			continue
		}
		if name, err := strconv.Unquote(quote); err == nil {
			return place{list, name, strings.TrimPrefix(strings.TrimPrefix(rest[len(quote):], "]"), ".")}
		}
	}
	return place{member: path}
}

// noun is what a place is called.
func (p place) noun() string {
	if p.list == "templates" {
		return "template"
	}
	return "rule"
}

func capital(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// inWords names what a path leads to, as the forms do.
func inWords(path string) string {
	at := placeOf(path)
	if at.list == "" {
		return settingLabel(path)
	}
	text := capital(at.noun()) + " “" + at.name + "”"
	if label := at.label(); label != "" {
		return text + ": " + label
	}
	return text
}

// label is what the form of a rule or template calls the member.
func (p place) label() string {
	if p.list == "templates" {
		return policyLabel(templatePolicyFields, p.member)
	}
	return policyLabel(rulePolicyFields, p.member)
}

func settingLabel(path string) string {
	for _, g := range policyGroups {
		if label := policyLabel(g.fields, path); label != "" {
			return label
		}
	}
	switch path {
	case "unmatched":
		return unmatchedField.label
	case "undo_seconds":
		return "Seconds to undo an approval"
	case "budget_per_agent":
		return "What one agent may spend"
	case "order of rules":
		return "Order of rules"
	}
	return path
}

func policyLabel(fields []policyField, path string) string {
	if i := slices.IndexFunc(fields, func(f policyField) bool { return f.path == path }); i >= 0 {
		return fields[i].label
	}
	return ""
}

// ruleReplayed is what a rule would have made of the last calls: those that it decides now, and those that it decided
// before.
func ruleReplayed(t *policy.Tally, rule string) string {
	if t == nil || t.Calls == 0 {
		return ""
	}
	effects, terms := map[policy.Effect]int{}, 0
	for _, g := range t.Groups() {
		switch {
		case g.New.Rule != rule && g.Old.Rule != rule:
		case g.SameEffect():
			terms += g.Calls
		default:
			effects[g.New.Effect] += g.Calls
		}
	}
	says := ofLast(t) + turnedSpoken(func(e policy.Effect) int { return effects[e] })
	if terms > 0 {
		says += ", " + views.Number(int64(terms)) + " would have waited under different terms"
	}
	return says + "."
}
