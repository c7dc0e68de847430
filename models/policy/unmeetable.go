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

// naming is where a rule or a template names reviewers.
type naming struct {
	path, of  string
	reviewers []string
}

// namings are those of all rules, disabled ones too, and of all templates.
func (d Document) namings() []naming {
	out := make([]naming, 0, len(d.Rules)+len(d.Templates))
	for i, r := range d.Rules {
		out = append(out, namingsOf(fmt.Sprintf("rules[%d]", i), "the rule “"+r.Name+"”", r.Reviewers, r.Escalate, r.Quorum)...)
		if len(r.Readers) > 0 {
			out = append(out, naming{fmt.Sprintf("rules[%d].readers", i), "the rule “" + r.Name + "”", r.Readers})
		}
	}
	for i, t := range d.Templates {
		out = append(out, namingsOf(fmt.Sprintf("templates[%d]", i), "the template “"+t.Name+"”", t.Reviewers, t.Escalate, t.Quorum)...)
	}
	return out
}

func namingsOf(path, of string, reviewers []string, steps []Escalation, q Quorum) []naming {
	out := []naming{{path + ".reviewers", of, reviewers}}
	for i, s := range q.Approvals {
		out = append(out, naming{fmt.Sprintf("%s.approvals[%d].from", path, i), of, s.From})
	}
	if len(q.BreakGlass) > 0 {
		out = append(out, naming{path + ".break_glass", of, q.BreakGlass})
	}
	for i, s := range steps {
		out = append(out, naming{fmt.Sprintf("%s.escalate[%d].to", path, i), of, s.To})
	}
	return out
}

// Named are the e-mails and groups that rules and templates ask, each once; those of disabled
// rules are left out.
func (d Document) Named() []string {
	var out []string
	for _, r := range d.Rules {
		if r.Disabled {
			continue
		}
		for _, n := range namingsOf("", "", r.Reviewers, r.Escalate, r.Quorum) {
			out = append(out, n.reviewers...)
		}
	}
	for _, t := range d.Templates {
		for _, n := range namingsOf("", "", t.Reviewers, t.Escalate, t.Quorum) {
			out = append(out, n.reviewers...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// NamingGroup are the rules and templates that name a group, in words.
func (d Document) NamingGroup(group string) []string {
	var out []string
	for _, n := range d.namings() {
		if slices.Contains(n.reviewers, models.GroupReviewer(group)) && !slices.Contains(out, n.of) {
			out = append(out, n.of)
		}
	}
	return out
}

// NamesGroups reports whether a rule or a template names a group.
func (d Document) NamesGroups() bool {
	return slices.ContainsFunc(d.namings(), func(n naming) bool {
		return slices.ContainsFunc(n.reviewers, func(r string) bool { _, ok := models.GroupOf(r); return ok })
	})
}

// UnknownGroups finds where a group is named that is not among those that there are.
func (d Document) UnknownGroups(groups []string) []Warning {
	var out []Warning
	for _, n := range d.namings() {
		for i, reviewer := range n.reviewers {
			if name, ok := models.GroupOf(reviewer); ok && !slices.Contains(groups, name) {
				out = append(out, Warning{
					Path: fmt.Sprintf("%s[%d]", n.path, i),
					Text: "There is no group named " + name + ", which " + n.of + " asks. An admin adds groups under People.",
				})
			}
		}
	}
	return out
}

// demand is what a rule or a template demands of an approver.
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
		r := d.Resolved(Rule{Reviewers: t.Reviewers, ReviewersOnly: t.ReviewersOnly, SelfApproval: t.SelfApproval, Quorum: t.Quorum})
		out = append(out, demand{r, fmt.Sprintf("templates[%d]", i), "the template “" + t.Name + "”"})
	}
	return slices.DeleteFunc(out, func(m demand) bool {
		return !m.ReviewersOnly && m.SelfApproval != models.SelfNever && m.SelfApproval != models.SelfNotAlone
	})
}

// LimitsApprovers reports whether a rule or a template makes a demand of approvers.
func (d Document) LimitsApprovers() bool { return len(d.demands()) > 0 }

// Unmeetable names the rules and templates whose requests none of the enabled people could ever approve: the named
// reviewers are missing or disabled, or the only one who may approve owns all the agents.
func (d Document) Unmeetable(people []Person) []Warning {
	var out []Warning
	for _, m := range d.demands() {
		able := approversAmong(m.Rule, people)
		switch {
		case len(able) > 0 && m.signed():
			if !slices.ContainsFunc(owners(people), func(o Person) bool { return m.meetable(people, o) }) {
				out = append(out, m.unmeetable("under "+m.of))
			}
		case len(able) == 0:
			out = append(out, Warning{Path: m.path + ".reviewers", Text: "Nobody could approve under " + m.of +
				": none of its reviewers is a person who may sign in, or a group with such a person. Add one, or name others."})
		case m.SelfApproval == models.SelfNever && ownsAll(able, people):
			out = append(out,
				Warning{Path: m.path + ".self_approval", Text: "Nobody could approve under " + m.of + ": only " + able[0].Email +
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
		if m.signed() {
			out = append(out, m.stuck(people)...)
			continue
		}
		if m.SelfApproval != models.SelfNever {
			continue
		}
		if able := approversAmong(m.Rule, people); len(able) == 1 && able[0].Owns && !ownsAll(able, people) {
			out = append(out,
				Warning{Path: m.path + ".self_approval", Text: "Requests of " + able[0].Email + "'s own agents are refused under " + m.of +
					": nobody else may approve them. Name another reviewer."})
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

// signed reports whether it takes several people to approve.
func (m demand) signed() bool { return m.quorate() || m.SelfApproval == models.SelfNotAlone }

// owners are those who own agents; if no one does yet, all who might.
func owners(people []Person) []Person {
	out := slices.DeleteFunc(slices.Clone(people), func(p Person) bool { return !p.Owns })
	if len(out) == 0 {
		return people
	}
	return out
}

// meetable reports whether enough of some people could sign what an agent of the owner asks.
func (m demand) meetable(people []Person, owner Person) bool {
	q := models.Quorum{Any: m.Any, Stages: m.Stages, NotAlone: m.SelfApproval == models.SelfNotAlone}
	for _, s := range m.Approvals {
		entry := models.Signers{Count: s.Count}
		for _, who := range s.From {
			if group, ok := models.GroupOf(who); ok {
				entry.From = append(entry.From, models.Approver{Group: group})
			} else {
				entry.From = append(entry.From, models.Approver{ID: models.UserID(strings.ToLower(who))})
			}
		}
		q.Entries = append(q.Entries, entry)
	}
	var able []models.Signer
	for _, p := range approversAmong(m.Rule, people) {
		if self := p.Email == owner.Email; !self || m.SelfApproval != models.SelfNever {
			id := models.UserID(strings.ToLower(p.Email))
			able = append(able, models.Signer{Voter: models.Voter{ID: id, Groups: strings.Fields(p.Groups)}, By: id, Self: self})
		}
	}
	return q.Meetable(able)
}

func (m demand) unmeetable(where string) Warning {
	if !m.quorate() {
		return Warning{Path: m.path + ".self_approval", Text: "Nobody could approve " + where +
			": the agent's owner must not be alone, and no one else may. Name another reviewer."}
	}
	return Warning{Path: m.path + ".approvals", Text: "Nobody could approve " + where + ", which wants " + m.Quorum.text() +
		": there are not enough different people who may sign in. Add people, or ask for fewer."}
}

// stuck names whose agents' requests can't be signed, though those of others can.
func (m demand) stuck(people []Person) []Warning {
	all := owners(people)
	without := slices.DeleteFunc(slices.Clone(all), func(o Person) bool { return m.meetable(people, o) })
	if len(without) == 0 || len(without) == len(all) {
		return nil
	}
	return []Warning{m.unmeetable("requests of " + without[0].Email + "'s own agents under " + m.of)}
}
