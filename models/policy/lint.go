package policy

import (
	"fmt"
	"strings"

	"countersign/models"
)

// Warning is something in a valid document that its author may not have meant.
type Warning struct {
	Path string // as in the Fields of an error, e.g. rules[2].tools[0]
	Text string
}

// Lint reads a document for members that are allowed but probably not meant, in the order of the document. It takes any
// document, valid or not, and says nothing of those that ParseStored refuses.
func Lint(d Document) []Warning {
	l := newLinter(d)
	l.document()
	return l.warnings
}

func newLinter(d Document) *linter {
	pats := check(d, always).patterns
	return &linter{doc: d, pats: pats, policy: compile(d, pats)}
}

// document looks at all that can be told without knowing who uses it.
func (l *linter) document() {
	d := l.doc
	l.settings()
	l.templates()
	for i := range d.Rules {
		if d.Rules[i].Disabled {
			continue
		}
		l.shadowed(i)
		l.broad(i)
		l.held(i)
		l.unused(i)
		only := d.Resolved(d.Rules[i])
		l.steps(fmt.Sprintf("rules[%d].escalate", i), d.Rules[i].Escalate, only.TimeoutMinutes)
	}
}

// shortRetention is under how many days contents may still be wanted.
const shortRetention = 7

type linter struct {
	doc      Document
	pats     patterns
	policy   *Policy
	warnings []Warning
}

func (l *linter) warn(path, format string, args ...any) {
	l.warnings = append(l.warnings, Warning{Path: path, Text: fmt.Sprintf(format, args...)})
}

func toolPath(rule, tool int) string { return fmt.Sprintf("rules[%d].tools[%d]", rule, tool) }

// settings looks at everything outside the rules.
func (l *linter) settings() {
	if !l.doc.ApprovalEnabled {
		l.warn("approval_enabled", "Approval is off%s: every tool call that no rule denies runs without a person.",
			spokenUntil(l.doc.ApprovalOffUntil))
	}
	if l.doc.FallbackAutoApprove {
		l.warn("fallback_auto_approve",
			"When no server answers%s, our clients run calls without a person and report them later.",
			spokenUntil(l.doc.FallbackUntil))
	}
	if b := l.doc.BudgetPerAgent; b != nil {
		for i, r := range l.doc.Rules {
			if !r.Disabled && r.Energy > b.Energy {
				l.warn(fmt.Sprintf("rules[%d].energy", i),
					"Is more than an agent may spend (budget_per_agent: %s): such a call needs an approved budget request.", b)
			}
		}
	}
	if d := l.doc.RetentionDays; d > 0 && d < shortRetention {
		l.warn("retention_days",
			"Is short: an agent that asks for its outcome later than that gets no inputs or answers, and reviewers do not see what was approved before.")
	}
	seen := map[string]bool{}
	for i, pat := range l.pats.required {
		path := fmt.Sprintf("required_approval_tools[%d]", i)
		switch {
		case pat.text == "":
			continue
		case seen[pat.text]:
			l.warn(path, "Is listed twice.")
		case pat.exact():
			if first := l.policy.firstRule(pat.text, len(l.doc.Rules)); first < len(l.doc.Rules) {
				l.warn(path, "Has no effect: the rule “%s” matches this tool first (%s).", l.doc.Rules[first].Name,
					l.doc.Rules[first].Effect)
			}
		}
		seen[pat.text] = true
		l.halfRegexp(path, pat)
	}
}

// shadowed finds patterns that can never match because a rule before them takes
// all their names.
func (l *linter) shadowed(i int) {
	tools := l.pats.rules[i]
	var found []Warning
	for j, pat := range tools {
		if by := l.shadowedBy(i, pat); by >= 0 {
			text := fmt.Sprintf("Never applies: the rule “%s” before it matches first.", l.doc.Rules[by].Name)
			found = append(found, Warning{Path: toolPath(i, j), Text: text})
		}
	}
	if len(found) > 0 && len(found) == len(tools) {
		l.warn(fmt.Sprintf("rules[%d]", i), "This rule never applies: rules before it match all its tools.")
		return
	}
	l.warnings = append(l.warnings, found...)
}

// shadowedBy is the rule before i that matches whatever pat matches, or -1 when
// none is known to.
func (l *linter) shadowedBy(i int, pat pattern) int {
	if pat.text == "" {
		return -1
	}
	if pat.exact() {
		if by := l.policy.firstRule(pat.text, i); by < i {
			return by
		}
		return -1
	}
	for k := range i {
		if l.doc.Rules[k].Disabled || l.doc.Rules[k].When != "" {
			continue
		}
		for _, earlier := range l.pats.rules[k] {
			same := earlier.text == pat.text && (!earlier.whole || pat.whole)
			if same || matchesAll(earlier) {
				return k
			}
		}
	}
	return -1
}

// broad looks for regular expressions that match more than they seem to.
func (l *linter) broad(i int) {
	for j, pat := range l.pats.rules[i] {
		path := toolPath(i, j)
		l.halfRegexp(path, pat)
		if pat.re == nil {
			continue
		}
		allow := l.doc.Rules[i].Effect == EffectAllow
		switch {
		case allow && matchesAll(pat):
			l.warn(path, "Lets every tool through.")
		case allow && (strings.Contains(pat.text, ".*") || strings.Contains(pat.text, ".+")):
			l.warn(path, "Lets through every tool that matches the wildcard; list exact names where you can.")
		case !allow && pat.re.MatchString(""):
			l.warn(path, "Matches every tool, since it also matches an empty part of a name.")
		}
	}
}

// halfRegexp spots /name and name/, which are refused by now.
func (l *linter) halfRegexp(path string, pat pattern) {
	if pat.exact() && oneSlash(pat.text) {
		l.warn(path, "Is read as an exact name, because it has a slash at one end only: %s.", howToWrite(pat.text))
	}
}

// held finds names that an allow rule lists in vain, because a similar name
// before it holds them.
func (l *linter) held(i int) {
	if l.doc.Rules[i].Effect != EffectAllow {
		return
	}
	for j, pat := range l.pats.rules[i] {
		if !pat.exact() || l.policy.firstRule(pat.text, i) < i {
			continue
		}
		if s := l.nearly(pat.text, i); s != nil {
			how := "it is too similar to"
			if s.pattern {
				how = "but for its letter case it matches"
			}
			l.warn(toolPath(i, j), "Still needs approval: %s “%s” of the rule “%s”.", how, s.name, l.doc.Rules[s.rule].Name)
		}
	}
}

// nearly is what holds a name that is listed on the allow rule end, whatever the call says.
func (l *linter) nearly(name string, end int) *listed {
	for _, near := range l.policy.find(name).near {
		if near.rule < end && !near.allow && l.policy.conditionOf(near.rule) == nil {
			return near
		}
	}
	return nil
}

// unused finds members that the rule's effect leaves without use.
func (l *linter) unused(i int) {
	r := l.doc.Rules[i]
	if r.Effect != EffectAllow && r.Effect != EffectDeny {
		return
	}
	if len(r.Reviewers) > 0 {
		l.warn(fmt.Sprintf("rules[%d].reviewers", i),
			"Has no effect on tool calls: nobody is asked under a rule that says %s.", r.Effect)
	}
	if len(r.Escalate) > 0 {
		l.warn(fmt.Sprintf("rules[%d].escalate", i),
			"Has no effect on tool calls: nobody is asked under a rule that says %s.", r.Effect)
	}
	if r.ReviewersOnly || r.SelfApproval == models.SelfNever {
		l.warn(fmt.Sprintf("rules[%d]", i),
			"Limits who approves, which has no effect on tool calls: nobody is asked under a rule that says %s.", r.Effect)
	}
	if r.TimeoutMinutes != nil {
		l.warn(fmt.Sprintf("rules[%d].timeout_minutes", i),
			"Has no effect on tool calls: nothing waits under a rule that says %s.", r.Effect)
	}
}

// matchesAll reports whether the pattern matches every name, as far as names
// without anything in common can tell.
func matchesAll(pat pattern) bool {
	for _, name := range [...]string{"a", "Z9", "x.y:z/w@v-u_t s", "-", "7"} {
		if pat.re == nil || !pat.match(name) {
			return false
		}
	}
	return true
}
