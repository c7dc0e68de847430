package policy

import (
	"cmp"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"countersign/models"
)

// UsageDays is over how many days tools are looked for that were seen.
const UsageDays = 90

// Usage describes the installation that a document is for.
type Usage struct {
	Tools []string // that agents asked about in the last UsageDays, sorted
	More  bool     // there were more than are listed
	// People are those who may sign in; nil: that is not known.
	People []Person
	// Groups are the names of those that there are; nil: that is not known.
	Groups []string
}

// LintIn is Lint, and reads the document beside the usage of its installation.
func LintIn(d Document, in Usage) []Warning {
	l := &usageLinter{linter: newLinter(d), in: in}
	l.document()
	for i := range d.Rules {
		if !d.Rules[i].Disabled {
			l.rule(i)
		}
	}
	for i, t := range d.Templates {
		l.unknown(fmt.Sprintf("templates[%d]", i), t.Reviewers, t.Escalate)
	}
	l.uncovered()
	if in.Groups != nil {
		l.warnings = append(l.warnings, d.UnknownGroups(in.Groups)...)
	}
	if in.People != nil {
		l.warnings = append(l.warnings, d.Unmeetable(in.People)...)
		l.warnings = append(l.warnings, d.Stuck(in.People)...)
	}
	return l.warnings
}

type usageLinter struct {
	*linter

	in Usage
}

func (l *usageLinter) rule(i int) {
	r, path := l.doc.Rules[i], fmt.Sprintf("rules[%d]", i)
	matches := 0
	for j, pat := range l.pats.rules[i] {
		m := matchesOf(pat, l.in.Tools)
		matches += len(m.Hit)
		if len(m.Misses) > 0 {
			l.warn(toolPath(i, j), "Narrowly misses %s, which agents asked about.", someOf(m.Misses))
		}
		if r.Effect == EffectAllow && r.When == "" && len(m.Hit) > 0 && len(m.Hit) <= maxListed && !l.in.More &&
			openEnded(pat) {
			l.warn(toolPath(i, j), "Lets through more than was ever used: only %s in the last %d days. List the names instead.",
				someOf(m.Hit), UsageDays)
		}
	}
	if matches == 0 && len(l.in.Tools) > 0 && !l.in.More {
		l.warn(path, "Matched no tool that agents asked about in the last %d days.", UsageDays)
	}
	if r.Effect != EffectRequire || l.in.People == nil {
		return
	}
	l.unknown(path, r.Reviewers, r.Escalate)
	l.ownApproval(path, l.doc.Resolved(r))
}

// unknown finds reviewers who do not exist, and groups without members.
func (l *usageLinter) unknown(path string, reviewers []string, steps []Escalation) {
	if l.in.People == nil {
		return
	}
	for _, n := range namingsOf(path, "", reviewers, steps) {
		l.nobody(n)
	}
}

func (l *usageLinter) nobody(n naming) {
	for k, reviewer := range n.reviewers {
		group, isGroup := models.GroupOf(reviewer)
		if isGroup && slices.Contains(l.in.Groups, group) &&
			!slices.ContainsFunc(l.in.People, func(p Person) bool { return p.isIn(group) }) {
			l.warn(fmt.Sprintf("%s[%d]", n.path, k), "Nobody who may sign in is in this group.")
		}
		if !isGroup &&
			!slices.ContainsFunc(l.in.People, func(p Person) bool { return strings.EqualFold(p.Email, reviewer) }) {
			l.warn(fmt.Sprintf("%s[%d]", n.path, k), "Nobody who may sign in has this address.")
		}
	}
}

// ownApproval finds rules under which the asker needs no one else.
func (l *usageLinter) ownApproval(path string, r Rule) {
	if len(l.in.People) < 2 || r.ReviewersOnly || r.SelfApproval == models.SelfNever {
		return
	}
	if slices.Index(models.Risks(), r.Risk) >= slices.Index(models.Risks(), models.RiskHigh) {
		l.warn(path+".self_approval", "The risk is %s, and the agent's owner may approve alone.", r.Risk)
	}
	askers := slices.DeleteFunc(slices.Clone(l.in.People), func(p Person) bool { return !p.Owns })
	others := slices.ContainsFunc(l.in.People, func(p Person) bool { return !p.Owns && p.NamedBy(r) })
	if len(r.Reviewers) > 0 && len(askers) == 1 && !others && askers[0].NamedBy(r) {
		l.warn(path+".reviewers", "Only names the person to whom all agents belong, so nobody else is asked.")
	}
}

// uncovered names the tools that no rule and no list covers.
func (l *usageLinter) uncovered() {
	var rest []string
	for _, tool := range l.in.Tools {
		r := l.policy.find(tool)
		if len(r.rules) == 0 && !r.required && len(r.near) == 0 {
			rest = append(rest, tool)
		}
	}
	if len(rest) > 0 {
		l.warn("unmatched", "Is all that covers %s (%s).", someOf(rest), l.doc.Unmatched)
	}
}

// Matches are the tools that an entry of a rule matches, and those that it nearly does.
type Matches struct{ Hit, Misses []string }

// ToolMatches says which of the tools that were seen a line of a rule's tools matches; problem
// says why it is none. allow says that it is for a rule that allows.
func ToolMatches(entry string, allow bool, tools []string) (m Matches, problem string) {
	if s := ""; strings.HasPrefix(entry, `"`) && json.Unmarshal([]byte(entry), &s) == nil {
		entry = s // as a form writes invisible characters
	}
	pat, problem := readPattern(entry, allow, false)
	if problem != "" {
		return Matches{}, problem
	}
	return matchesOf(pat, tools), ""
}

func matchesOf(pat pattern, tools []string) (m Matches) {
	text := fold(pat.text)
	for _, tool := range tools {
		switch {
		case pat.match(tool):
			m.Hit = append(m.Hit, tool)
		case pat.exact() && text == fold(tool),
			pat.folds != nil && pat.folds.MatchString(tool),
			pat.whole && pat.re.MatchString(tool):
			m.Misses = append(m.Misses, tool)
		}
	}
	return m
}

// openEnded reports whether a pattern matches more names than one would list.
func openEnded(pat pattern) bool {
	if pat.re == nil {
		return false
	}
	tree, err := syntax.Parse(pat.text[1:len(pat.text)-1], syntax.Perl)
	if err != nil {
		return false
	}
	var open func(*syntax.Regexp) bool
	open = func(re *syntax.Regexp) bool {
		switch re.Op { //nolint:exhaustive // all others are as open as what is in them
		case syntax.OpStar, syntax.OpPlus, syntax.OpRepeat, syntax.OpAnyChar, syntax.OpAnyCharNotNL, syntax.OpCharClass:
			return true
		}
		return slices.ContainsFunc(re.Sub, open)
	}
	return open(tree)
}

// maxListed is how many tools a sentence names.
const maxListed = 10

// someOf names tools, and counts the rest.
func someOf(tools []string) string {
	shown := tools[:min(len(tools), maxListed)]
	text := "“" + strings.Join(shown, "”, “") + "”"
	if rest := len(tools) - len(shown); rest > 0 {
		text += fmt.Sprintf(" and %d more", rest)
	}
	return cmp.Or(text, none)
}
