package policy

import (
	"slices"

	"countersign/models/condition"
)

// Explanation is what the policy says of a call, and how it came to that.
type Explanation struct {
	Judgement Judgement
	Steps     []Step // in the order in which the policy asks; the last one decided
}

// Step is one rule, or a default behind the rules, that was asked about a call.
type Step struct {
	Rule string // as in Judgement
	// By is the entry of tools that the call's name matches; empty: none does.
	By string
	// Why says in words why the step did not decide, or why it did.
	Why string
}

// Explain tells what Judge says of a call, and why each rule before the one that decides
// did not.
func (p *Policy) Explain(c Call) Explanation {
	outcomes := map[int]condition.Outcome{}
	e := Explanation{Judgement: p.judgement(&evaluation{
		policy: p, call: c, seen: func(rule int, out condition.Outcome) { outcomes[rule] = out },
	})}
	if c.ToolName == "" {
		e.Steps = []Step{{Rule: e.Judgement.Rule, Why: e.Judgement.Reason}}
		return e
	}
	doubtful := false // an allow rule before could not be judged
	for i, r := range p.doc.Rules {
		step := p.stepOf(i, c.ToolName, outcomes[i], doubtful)
		doubtful = doubtful || r.Effect == EffectAllow && outcomes[i].Why != ""
		e.Steps = append(e.Steps, step)
		if step.By != "" {
			return e.decided()
		}
	}
	step := Step{Rule: RuleRequiredTools, Why: "None of the tools in it matches."}
	if step.By = p.requiredBy(c.ToolName); step.By != "" {
		step.Why = "The tool matches “" + step.By + "”."
	}
	e.Steps = append(e.Steps, step)
	return e.decided()
}

// stepOf says whether a rule decides, and why. doubtful says that a rule before it might
// have let the call through, so that no later one does.
func (p *Policy) stepOf(i int, tool string, out condition.Outcome, doubtful bool) Step {
	r := p.doc.Rules[i]
	step := Step{Rule: r.Name}
	by := ""
	if !r.Disabled {
		by = p.entryOf(i, tool)
	}
	matches := "The tool matches “" + by + "”"
	switch {
	case r.Disabled:
		step.Why = "It is disabled."
	case by == "":
		step.Why = "None of its tools matches."
	case r.When != "" && out.Result == condition.False:
		step.Why = matches + ", but its condition is false."
	case r.When != "" && out.Result == condition.Failed && r.Effect == EffectAllow:
		step.Why = matches + ", but its condition can't be judged: " + out.Why +
			". So neither it nor a later rule lets the call through."
	case r.When != "" && out.Result == condition.Failed:
		step.By, step.Why = by, matches+", and its condition can't be judged: "+out.Why+"."
	case r.Effect == EffectAllow && doubtful:
		step.Why = matches + ", but nothing is let through behind a condition that can't be judged."
	case r.When != "":
		step.By, step.Why = by, matches+", and its condition is true."
	default:
		step.By, step.Why = by, matches+"."
	}
	return step
}

// decided adds the step that decided, where that is not the last that was asked: a name that is only similar, an agent
// that asks unprompted, or the default for everything else.
func (e Explanation) decided() Explanation {
	last := e.Steps[len(e.Steps)-1]
	if last.By == "" || last.Rule != e.Judgement.Rule {
		e.Steps = append(e.Steps, Step{Rule: e.Judgement.Rule, Why: e.Judgement.Reason})
	}
	return e
}

// entryOf is the first of a rule's tools that matches a name.
func (p *Policy) entryOf(rule int, name string) string {
	for _, text := range p.doc.Rules[rule].Tools {
		if text == name && p.exactIn(rule, name) {
			return text
		}
		i := slices.IndexFunc(p.regexes,
			func(re ruleRegexp) bool { return re.rule == rule && re.text == text && re.match(name) })
		if i >= 0 {
			return text
		}
	}
	return ""
}

// exactIn reports whether a rule lists exactly this name; one in slashes is a pattern.
func (p *Policy) exactIn(rule int, name string) bool {
	return !slices.ContainsFunc(p.regexes, func(re ruleRegexp) bool { return re.rule == rule && re.text == name })
}

func (p *Policy) requiredBy(name string) string {
	if p.requiredExact[name] {
		return name
	}
	for i := range p.requiredRegexes {
		if p.requiredRegexes[i].match(name) {
			return p.requiredRegexes[i].text
		}
	}
	return ""
}
