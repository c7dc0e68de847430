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
	l := newLinter(d, in)
	l.document()
	for i := range d.Rules {
		if !d.Rules[i].Disabled {
			l.usedRule(i)
		}
	}
	for i, t := range d.Templates {
		l.unknown(namingsOf(fmt.Sprintf("templates[%d]", i), "the template “"+t.Name+"”", t.Reviewers, t.Escalate, t.Quorum))
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

// usedRule looks at a rule beside the tools and the people that there are.
func (l *linter) usedRule(i int) {
	r, path := l.doc.Rules[i], fmt.Sprintf("rules[%d]", i)
	hits := l.hits(i)
	for j, pat := range l.pats.rules[i] {
		misses := slices.DeleteFunc(matchesOf(pat, l.in.Tools).Misses, func(tool string) bool { return hits[tool] })
		if len(misses) == 0 {
			continue
		}
		l.warn(toolPath(i, j), "%s narrowly misses %s, which agents asked about. Add the name if you mean it too.",
			l.entry(i, pat.text), someOf(misses))
		if r.Effect != EffectAllow && len(misses) <= maxListed && allExact(misses) {
			l.fixTools("Add it", i, joined(r.Tools, misses))
		}
	}
	if len(hits) == 0 && len(l.in.Tools) > 0 && !l.in.More {
		l.warn(path,
			"%s matches no tool that agents asked about in the last %d days. Check the names in it, or disable it if it is not needed.",
			capital(l.of(i)), UsageDays)
		if r.Effect == EffectAllow {
			l.fix("Disable the rule", i, Form{"disabled": "true"})
		}
	}
	if r.Effect != EffectRequire || l.in.People == nil {
		return
	}
	l.unknown(namingsOf(path, l.of(i), r.Reviewers, r.Escalate, r.Quorum))
	l.ownApproval(i)
}

// hits are the tools that agents asked about and a rule matches.
func (l *linter) hits(rule int) map[string]bool {
	out := map[string]bool{}
	for _, pat := range l.pats.rules[rule] {
		for _, tool := range matchesOf(pat, l.in.Tools).Hit {
			out[tool] = true
		}
	}
	return out
}

// unknown finds reviewers who do not exist, and groups without members.
func (l *linter) unknown(namings []naming) {
	if l.in.People == nil {
		return
	}
	for _, n := range namings {
		l.nobody(n)
	}
}

func (l *linter) nobody(n naming) {
	for k, reviewer := range n.reviewers {
		group, isGroup := models.GroupOf(reviewer)
		if isGroup && slices.Contains(l.in.Groups, group) &&
			!slices.ContainsFunc(l.in.People, func(p Person) bool { return p.isIn(group) }) {
			l.warn(fmt.Sprintf("%s[%d]", n.path, k),
				"Nobody who may sign in is in the group “%s”, which %s asks. Add people to the group.", group, n.of)
		}
		if !isGroup &&
			!slices.ContainsFunc(l.in.People, func(p Person) bool { return strings.EqualFold(p.Email, reviewer) }) {
			l.warn(fmt.Sprintf("%s[%d]", n.path, k),
				"Nobody who may sign in has the address “%s”, which %s asks. Invite that person, or name another.", reviewer, n.of)
		}
	}
}

// ownApproval finds rules under which the asker needs no one else.
func (l *linter) ownApproval(i int) {
	r := l.doc.Resolved(l.doc.Rules[i])
	if len(l.in.People) < 2 || r.ReviewersOnly || r.SelfApproval == models.SelfNever || r.SelfApproval == models.SelfNotAlone {
		return
	}
	if slices.Index(models.Risks(), r.Risk) >= slices.Index(models.Risks(), models.RiskHigh) {
		l.warn(fmt.Sprintf("rules[%d].self_approval", i),
			"Calls under %s have %s risk, and the agent's owner may approve them alone. Let somebody else approve them.", l.of(i),
			r.Risk)
		r.SelfApproval = models.SelfNever
		without := Document{Rules: []Rule{r}}
		if len(without.Unmeetable(l.in.People)) == 0 && len(without.Stuck(l.in.People)) == 0 {
			l.fix("The owner may not approve", i, Form{"self_approval": string(models.SelfNever)})
		}
	}
	askers := slices.DeleteFunc(slices.Clone(l.in.People), func(p Person) bool { return !p.Owns })
	others := slices.ContainsFunc(l.in.People, func(p Person) bool { return !p.Owns && p.NamedBy(r) })
	if len(r.Reviewers) > 0 && len(askers) == 1 && !others && askers[0].NamedBy(r) {
		l.warn(fmt.Sprintf("rules[%d].reviewers", i),
			"%s only asks %s, to whom all agents belong, so nobody else is asked. Name another person too.", capital(l.of(i)),
			askers[0].Email)
	}
}

// asksAnyway are the names under which questions, proposals and budget requests are judged: they wait for a person
// whatever the policy says.
var asksAnyway = []string{
	string(models.KindQuestion), models.ToolRespondWithApproval, models.ToolSetBudget, models.ToolAllowEnergy,
}

// uncovered names the tools that no rule and no list covers.
func (l *linter) uncovered() {
	var rest []string
	for _, tool := range l.in.Tools {
		if slices.Contains(asksAnyway, tool) {
			continue
		}
		r := l.policy.find(tool)
		if len(r.rules) == 0 && !r.required && len(r.near) == 0 {
			rest = append(rest, tool)
		}
	}
	if len(rest) == 0 {
		return
	}
	what := "they wait for a person"
	switch free := l.doc.Unmatched == EffectAllow; {
	case free && len(rest) == 1:
		what = "it runs without approval"
	case free:
		what = "they run without approval"
	case len(rest) == 1:
		what = "it waits for a person"
	}
	l.warn("unmatched", "No rule covers %s, so %s.", plainSome(rest), what)
	if l.doc.Unmatched == EffectAllow && len(rest) <= maxListed && allExact(rest) {
		l.fixTools("Require approval", -1, joined(l.doc.RequiredApprovalTools, rest))
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

// someOf names tools in quotes, and counts the rest.
func someOf(tools []string) string {
	return firstOf(tools, func(tool string) string { return "“" + tool + "”" })
}

// plainSome is someOf with quotes only where a name could be read as words of the sentence.
func plainSome(tools []string) string {
	return firstOf(tools, func(tool string) string {
		if strings.Contains(tool, " ") {
			return "“" + tool + "”"
		}
		return tool
	})
}

func firstOf(tools []string, write func(string) string) string {
	shown := make([]string, 0, maxListed)
	for _, tool := range tools[:min(len(tools), maxListed)] {
		shown = append(shown, write(tool))
	}
	text := strings.Join(shown, ", ")
	if rest := len(tools) - len(shown); rest > 0 {
		text += fmt.Sprintf(" and %d more", rest)
	}
	return cmp.Or(text, none)
}
