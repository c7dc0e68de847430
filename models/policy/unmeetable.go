package policy

import (
	"fmt"
	"slices"
	"strings"

	"countersign/models"
)

// Person is somebody who may sign in, as far as approving goes.
type Person struct {
	Email string // in lower case
	Admin bool
	Owns  bool // agents that may ask
}

// demand is what a rule or a template demands of whoever approves.
type demand struct {
	Rule

	path, of string
}

// demands are those of the rules whose calls may wait, and of the templates, which agents
// may name.
func (d Document) demands() []demand {
	var out []demand
	for i, r := range d.Rules {
		if !r.Disabled && r.Effect != EffectDeny {
			out = append(out, demand{d.Resolved(r), fmt.Sprintf("rules[%d]", i), "the rule “" + r.Name + "”"})
		}
	}
	for i, t := range d.Templates {
		r := Rule{Reviewers: t.Reviewers, ReviewersOnly: t.ReviewersOnly, SelfApproval: t.SelfApproval}
		out = append(out, demand{r, fmt.Sprintf("templates[%d]", i), "the template “" + t.Name + "”"})
	}
	return slices.DeleteFunc(out, func(m demand) bool { return !m.ReviewersOnly && m.SelfApproval != models.SelfNever })
}

// LimitsApprovers reports whether a rule or a template makes a demand of whoever approves.
func (d Document) LimitsApprovers() bool { return len(d.demands()) > 0 }

// Unmeetable names the rules and templates whose requests nobody among the enabled people could
// ever approve: the named reviewers are missing or disabled, or the only one who
// may approve owns all the agents.
func (d Document) Unmeetable(people []Person) []Warning {
	var out []Warning
	for _, m := range d.demands() {
		able := approversAmong(m.Rule, people)
		switch {
		case len(able) == 0:
			out = append(out, Warning{m.path + ".reviewers", "Nobody could approve under " + m.of +
				": none of its reviewers is a person who may sign in. Add one, or name others."})
		case m.SelfApproval == models.SelfNever && ownsAll(able, people):
			out = append(out, Warning{m.path + ".self_approval", "Nobody could approve under " + m.of + ": only " + able[0].Email +
				" may, and that person owns the agents. Name another reviewer, or set self_approval to allowed."})
		}
	}
	return out
}

// Stuck names the rules under which the agents of one person can have nothing
// approved, though those of others can: that person is the only one who may approve.
func (d Document) Stuck(people []Person) []Warning {
	var out []Warning
	for _, m := range d.demands() {
		if m.SelfApproval != models.SelfNever {
			continue
		}
		if able := approversAmong(m.Rule, people); len(able) == 1 && able[0].Owns && !ownsAll(able, people) {
			out = append(out, Warning{m.path + ".self_approval", "Requests of " + able[0].Email + "'s own agents are refused under " + m.of +
				": nobody else may approve them."})
		}
	}
	return out
}

// approversAmong are those who may approve under a rule, their own agents aside.
func approversAmong(r Rule, people []Person) []Person {
	var out []Person
	for _, p := range people {
		named := slices.ContainsFunc(r.Reviewers, func(email string) bool { return strings.EqualFold(email, p.Email) })
		if named || p.Admin && !r.ReviewersOnly {
			out = append(out, p)
		}
	}
	return out
}

// ownsAll reports whether there is one person only, to whom all agents belong, or
// all that there can be.
func ownsAll(able, people []Person) bool {
	if len(able) != 1 {
		return false
	}
	for _, p := range people {
		if p.Owns && p.Email != able[0].Email {
			return false
		}
	}
	return able[0].Owns || len(people) == 1
}
