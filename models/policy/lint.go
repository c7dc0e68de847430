package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"countersign/models"
)

// Warning is something in a valid document that its author may not have meant.
type Warning struct {
	Path string // as in the Fields of an error, e.g. rules[2].tools[0]
	Text string // in sentences: which rule and tool, what about them, and the remedy
	Fix  *Fix   // nil: a person has to think of something
}

// Key is the same for the same warning only.
func (w Warning) Key() string {
	sum := sha256.Sum256([]byte(w.Path + "\x00" + w.Text))
	return hex.EncodeToString(sum[:8])
}

// Fix is a remedy that Draft.Fix carries out. None lets more calls through.
type Fix struct {
	Label string // of its button
	Rule  int    // the place of the rule that it changes; -1: it changes settings
	form  Form   // what their form says instead; nil: the rule goes
}

// Fix carries out the remedy of a warning about the document that the draft comes to.
func (d *Draft) Fix(f Fix) {
	switch {
	case f.Rule < 0:
		d.PutSettings(f.form)
	case f.form == nil:
		d.DeleteRule(f.Rule)
	default:
		d.PutRule(f.Rule, f.form)
	}
}

// Lint reads a document for members that are allowed but probably not meant, in the order of the document. It takes any
// document, valid or not, and says nothing of those that ParseStored refuses.
func Lint(d Document) []Warning {
	l := newLinter(d, Usage{})
	l.document()
	return l.warnings
}

func newLinter(d Document, in Usage) *linter {
	pats := check(d, always).patterns
	return &linter{doc: d, in: in, pats: pats, policy: compile(d, pats)}
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
		l.steps(i, only.TimeoutMinutes)
	}
}

// shortRetention is under how many days contents may still be wanted.
const shortRetention = 7

type linter struct {
	doc      Document
	in       Usage // the zero value: nothing is known of it
	pats     patterns
	policy   *Policy
	warnings []Warning
}

func (l *linter) warn(path, format string, args ...any) {
	l.warnings = append(l.warnings, Warning{Path: path, Text: fmt.Sprintf(format, args...)})
}

// fix gives the last warning a remedy in a rule, or in the settings if rule is -1.
func (l *linter) fix(label string, rule int, form Form) {
	l.warnings[len(l.warnings)-1].Fix = &Fix{label, rule, form}
}

// fixTools gives the last warning the remedy that a rule, or required_approval_tools, lists other tools.
func (l *linter) fixTools(label string, rule int, tools []string) {
	lines := make([]string, len(tools))
	for i, tool := range tools {
		lines[i] = lineOf(quoted(tool))
	}
	path := "tools"
	if rule < 0 {
		path = "required_approval_tools"
	}
	l.fix(label, rule, Form{path: strings.Join(lines, "\n")})
}

func without(list []string, i int) []string { return slices.Delete(slices.Clone(list), i, i+1) }

func toolPath(rule, tool int) string { return fmt.Sprintf("rules[%d].tools[%d]", rule, tool) }

// of names a rule.
func (l *linter) of(rule int) string { return "the rule “" + l.doc.Rules[rule].Name + "”" }

// entry names an entry and the rule that lists it.
func (l *linter) entry(rule int, text string) string { return "“" + text + "” in " + l.of(rule) }

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
					"A call under %s costs %d units of energy, which is more than an agent may spend (%s), so each needs an approved budget request. Set a lower cost, or let agents spend more.",
					l.of(i), r.Energy, b)
			}
		}
	}
	if d := l.doc.RetentionDays; d > 0 && d < shortRetention {
		l.warn("retention_days",
			"Contents are removed %d days after the end of a request. An agent that asks for its outcome later gets no inputs or answers, and reviewers do not see what was approved before. Keep them for at least %d days.",
			d, shortRetention)
		l.fix(fmt.Sprintf("Keep them for %d days", shortRetention), -1, Form{"retention_days": strconv.Itoa(shortRetention)})
	}
	l.required()
}

// required looks at the tools that need approval unless a rule says otherwise.
func (l *linter) required() {
	tools := l.doc.RequiredApprovalTools
	seen := map[string]bool{}
	for i, pat := range l.pats.required {
		path := fmt.Sprintf("required_approval_tools[%d]", i)
		switch {
		case pat.text == "":
			continue
		case seen[pat.text]:
			l.warn(path, "“%s” is listed twice among the tools that need approval. Remove one.", pat.text)
			l.fixTools("Remove one", -1, without(tools, i))
		case pat.exact():
			if first := l.policy.firstRule(pat.text, len(l.doc.Rules)); first < len(l.doc.Rules) {
				l.warn(path,
					"“%s” has no effect among the tools that need approval: %s matches it first and %s. Remove it, or change the rule.",
					pat.text, l.of(first), itsCalls(l.doc.Rules[first].Effect))
				l.fixTools("Remove it", -1, without(tools, i))
			}
		}
		seen[pat.text] = true
		l.halfRegexp(path, "“"+pat.text+"” among the tools that need approval", pat)
	}
}

// itsCalls says what a rule of an effect does with its calls.
func itsCalls(e Effect) string {
	switch e {
	case EffectAllow:
		return "lets its calls run"
	case EffectDeny:
		return "denies its calls"
	case EffectRequire:
	}
	return "lets its calls wait for a person"
}

// shadowed finds patterns that can never match because a rule before them takes
// all their names.
func (l *linter) shadowed(i int) {
	tools := l.doc.Rules[i].Tools
	before := len(l.warnings)
	for j, pat := range l.pats.rules[i] {
		if by := l.shadowedBy(i, pat); by >= 0 {
			l.warn(toolPath(i, j), "%s never applies: %s before it matches first. Remove it, or move the rule up.",
				l.entry(i, pat.text), l.of(by))
			l.fixTools("Remove it", i, without(tools, j))
		}
	}
	if found := len(l.warnings) - before; found > 0 && found == len(tools) {
		l.warnings = l.warnings[:before]
		l.warn(fmt.Sprintf("rules[%d]", i),
			"%s never applies: rules before it match all its tools. Delete it, or move it up.", capital(l.of(i)))
		l.fix("Delete the rule", i, nil)
	}
}

// capital begins a sentence.
func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

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
	r := l.doc.Rules[i]
	for j, pat := range l.pats.rules[i] {
		path, entry := toolPath(i, j), l.entry(i, pat.text)
		l.halfRegexp(path, entry, pat)
		if pat.re == nil {
			continue
		}
		allow := r.Effect == EffectAllow
		used := matchesOf(pat, l.in.Tools).Hit
		known := len(used) > 0 && len(used) <= maxListed && !l.in.More
		switch {
		case allow && matchesAll(pat):
			l.warn(path, "%s lets every tool run without a person. List the names instead.", entry)
		case allow && r.When == "" && known && openEnded(pat):
			l.warn(path, "%s lets through more than was ever used: only %s in the last %d days. List the names instead.", entry,
				someOf(used), UsageDays)
		case allow && (strings.Contains(pat.text, ".*") || strings.Contains(pat.text, ".+")):
			l.warn(path, "%s lets through every tool that matches the wildcard. List exact names where you can.", entry)
		case !allow && pat.re.MatchString(""):
			l.warn(path, "%s matches every tool, since it also matches an empty part of a name. Write the names that you mean.",
				entry)
			continue
		default:
			continue
		}
		if known && allExact(used) {
			l.fixTools("List the names", i, joined(nil, slices.Replace(slices.Clone(r.Tools), j, j+1, used...)))
		}
	}
}

// allExact reports whether names can be listed as they are: one in slashes would be a pattern.
func allExact(names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool {
		pat, problem := readPattern(name, false, false)
		return problem != "" || !pat.exact()
	})
}

// halfRegexp spots /name and name/, which are refused by now.
func (l *linter) halfRegexp(path, entry string, pat pattern) {
	if pat.exact() && oneSlash(pat.text) {
		l.warn(path, "%s is read as an exact name, because it has a slash at one end only: %s.", entry, howToWrite(pat.text))
	}
}

// held finds names that an allow rule lists in vain, because a similar name
// before it holds them.
func (l *linter) held(i int) {
	tools := l.doc.Rules[i].Tools
	if l.doc.Rules[i].Effect != EffectAllow {
		return
	}
	for j, pat := range l.pats.rules[i] {
		if !pat.exact() || l.policy.firstRule(pat.text, i) < i {
			continue
		}
		s := l.nearly(pat.text, i)
		if s == nil {
			continue
		}
		how := "it is too similar to"
		if s.pattern {
			how = "but for its letter case it matches"
		}
		l.warn(toolPath(i, j), "%s still needs approval: %s “%s” in %s. Remove it, or move its rule before that one.",
			l.entry(i, pat.text), how, s.name, l.of(s.rule))
		if len(tools) > 1 {
			l.fixTools("Remove it", i, without(tools, j))
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
	who := ""
	switch {
	case len(r.Reviewers) > 0:
		who = "reviewers"
	case len(r.Escalate) > 0:
		who = "escalate"
	case r.SelfApproval == models.SelfNever || r.SelfApproval == models.SelfNotAlone:
		who = "self_approval"
	}
	if who != "" {
		l.warn(fmt.Sprintf("rules[%d].%s", i, who),
			"Who approves has no effect on tool calls in %s: it %s, so nobody is asked. Remove that, or let its calls wait.",
			l.of(i), itsCalls(r.Effect))
		l.fix("Remove who approves", i,
			Form{"reviewers": "", "reviewers_only": "", "escalate": "", "self_approval": ""})
	}
	if r.TimeoutMinutes != nil {
		l.warn(fmt.Sprintf("rules[%d].timeout_minutes", i),
			"The time until it expires has no effect on tool calls in %s: it %s, so nothing waits. Remove it, or let its calls wait.",
			l.of(i), itsCalls(r.Effect))
		l.fix("Remove the time", i, Form{"timeout_minutes": ""})
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
