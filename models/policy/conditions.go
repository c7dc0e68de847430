package policy

import (
	"cmp"
	"slices"
	"time"
	// The zones of time_zone must be the same on every machine.
	_ "time/tzdata"

	"countersign/models"
	"countersign/models/condition"
)

// Facts are what conditions read of a call besides its kind and its tool's name.
type Facts struct {
	Agent, Owner string // the agent's name, and its owner's e-mail
	Conversation string // as the agent names it
	Input        []byte // as JSON
	Removed      bool   // the input was removed since
}

// Zone is whose hours and days conditions read.
func (p *Policy) Zone() *time.Location { return p.zone }

// Conditional reports whether a call of this tool may depend on its Facts.
func (p *Policy) Conditional(tool string) bool {
	if !p.conditional {
		return false
	}
	r := p.reach(tool)
	return slices.ContainsFunc(r.rules, func(i int) bool { return p.conditions[i] != nil }) ||
		slices.ContainsFunc(r.near, func(l *listed) bool { return p.conditionOf(l.rule) != nil })
}

// conditionOf is a rule's; the defaults behind the rules have none.
func (p *Policy) conditionOf(rule int) *condition.Condition {
	if rule >= len(p.conditions) {
		return nil
	}
	return p.conditions[rule]
}

// evaluation judges the conditions that one call reaches.
type evaluation struct {
	policy *Policy
	call   Call
	facts  *condition.Call // nil: no condition was reached yet
	// seen hears of each condition that was evaluated; it may be nil.
	seen func(rule int, out condition.Outcome)
}

// of is what the rule's condition says; a rule without one is for every call.
func (e *evaluation) of(rule int) condition.Outcome {
	when := e.policy.conditionOf(rule)
	if when == nil {
		return condition.Outcome{Result: condition.True}
	}
	if e.facts == nil {
		c := &e.call
		e.facts = &condition.Call{
			Tool: c.ToolName, Kind: string(c.Kind), Agent: c.Facts.Agent, Owner: c.Facts.Owner,
			Conversation: c.Facts.Conversation,
			Now:          c.At.In(e.policy.zone), Input: c.Facts.Input, Removed: c.Facts.Removed,
		}
	}
	out := when.Judge(e.facts)
	if e.seen != nil {
		e.seen(rule, out)
	}
	return out
}

// unjudged is what a rule says whose condition can't be judged: one that requires or
// denies applies all the same.
func unjudged(j Judgement, why string) Judgement {
	j.Unjudged = true
	j.Reason += " (The rule's condition can't be judged, so the rule applies: " + why + ".)"
	return j
}

// doubt is a rule that would let the call through if its condition could be judged.
type doubt struct {
	rule Judgement
	why  string
}

// held is what happens to a call that no later rule settles.
func (d *doubt) held() Judgement {
	j := heldFor(d.rule,
		"The rule “"+d.rule.Rule+"” might let this call through, but its condition can't be judged: "+d.why+". So a person has to look.")
	j.Unjudged, j.Risk = true, atLeastHigh(j.Risk)
	return j
}

// beside is what a later rule says, and why the one before it does not let the call through.
func (d *doubt) beside(j Judgement) Judgement {
	if d == nil {
		return j
	}
	j.Unjudged = true
	j.Reason += " (The rule “" + d.rule.Rule +
		"” before it does not let the call through, since its condition can't be judged: " + d.why + ".)"
	return j
}

func atLeastHigh(r models.Risk) models.Risk {
	if cmp.Compare(slices.Index(models.Risks(), r), slices.Index(models.Risks(), models.RiskHigh)) < 0 {
		return models.RiskHigh
	}
	return r
}

// defaultZone is the default of time_zone.
const defaultZone = "UTC"

// zoneOf finds a time zone by its name; empty is UTC.
func zoneOf(name string) (*time.Location, bool) {
	if name == "Local" { // the machine's, which is not the same everywhere
		return nil, false
	}
	zone, err := time.LoadLocation(cmp.Or(name, defaultZone))
	return zone, err == nil
}
