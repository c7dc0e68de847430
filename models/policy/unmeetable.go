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
	// Groups are the names of those that they are in, with a space between.
	Groups string
}

func (p Person) isIn(group string) bool { return slices.Contains(strings.Fields(p.Groups), group) }

// NamedBy reports whether a rule's reviewers name the person, as such or by a group.
func (p Person) NamedBy(r Rule) bool {
	return slices.ContainsFunc(r.Reviewers, func(reviewer string) bool {
		if group, ok := models.GroupOf(reviewer); ok {
			return p.isIn(group)
		}
		return strings.EqualFold(reviewer, p.Email)
	})
}

// RulesOfGroup names the rules that name a group, disabled ones too.
func (d Document) RulesOfGroup(group string) []string {
	var out []string
	for _, r := range d.Rules {
		if slices.Contains(r.Reviewers, models.GroupReviewer(group)) {
			out = append(out, r.Name)
		}
	}
	return out
}

// UnknownGroups finds where rules name a group that is not among those that there are.
func (d Document) UnknownGroups(groups []string) []Warning {
	var out []Warning
	for i, r := range d.Rules {
		for j, reviewer := range r.Reviewers {
			if name, ok := models.GroupOf(reviewer); ok && !slices.Contains(groups, name) {
				out = append(out, Warning{fmt.Sprintf("rules[%d].reviewers[%d]", i, j), "There is no group named " + name + ". An admin adds groups under People."})
			}
		}
	}
	return out
}

// Unmeetable names the rules whose requests nobody among the enabled people could
// ever approve: the named reviewers are missing or disabled, or the only one who
// may approve owns all the agents.
func (d Document) Unmeetable(people []Person) []Warning {
	var out []Warning
	for i, r := range d.Rules {
		self := r.SelfApproval == models.SelfNever
		if r.Disabled || r.Effect == EffectDeny || !r.ReviewersOnly && !self {
			continue
		}
		able := approversAmong(r, people)
		path := fmt.Sprintf("rules[%d]", i)
		switch {
		case len(able) == 0:
			out = append(out, Warning{path + ".reviewers", "Nobody could approve under the rule “" + r.Name +
				"”: none of its reviewers is a person who may sign in, or a group with such a person. Add one, or name others."})
		case self && ownsAll(able, people):
			out = append(out, Warning{path + ".self_approval", "Nobody could approve under the rule “" + r.Name + "”: only " + able[0].Email +
				" may, and that person owns the agents. Name another reviewer, or set self_approval to allowed."})
		}
	}
	return out
}

// Stuck names the rules under which the agents of one person can have nothing
// approved, though those of others can: that person is the only one who may approve.
func (d Document) Stuck(people []Person) []Warning {
	var out []Warning
	for i, r := range d.Rules {
		if r.Disabled || r.Effect == EffectDeny || r.SelfApproval != models.SelfNever {
			continue
		}
		if able := approversAmong(r, people); len(able) == 1 && able[0].Owns && !ownsAll(able, people) {
			out = append(out, Warning{fmt.Sprintf("rules[%d].self_approval", i), "Requests of " + able[0].Email + "'s own agents are refused under the rule “" + r.Name +
				"”: nobody else may approve them."})
		}
	}
	return out
}

// approversAmong are those who may approve under a rule, their own agents aside.
func approversAmong(r Rule, people []Person) []Person {
	var out []Person
	for _, p := range people {
		if p.NamedBy(r) || p.Admin && !r.ReviewersOnly {
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
