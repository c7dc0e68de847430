package suggest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"countersign/models"
	"countersign/models/condition"
	"countersign/models/policy"
)

// when is the condition that is true of the calls within the bounds. Its first parts are false of other calls, of which the
// later ones could not be judged.
func (c *candidate) when(guard string) (string, error) {
	first := c.good[0]
	parts := []string{
		"agent == " + strconv.Quote(first.Facts.Agent), "owner == " + strconv.Quote(first.Facts.Owner),
		"size(input) == " + strconv.Itoa(len(first.shape.names)),
	}
	for _, name := range first.shape.names {
		parts = append(parts, strconv.Quote(name)+" in input")
	}
	if line := first.shape.line; line != "" {
		parts = append(parts, "type("+line+") == string", line+".matches("+strconv.Quote(plainLine.String())+")", line+".startsWith("+strconv.Quote(first.shape.program+" ")+")")
		words := len(slices.DeleteFunc(slices.Clone(c.bounds), func(b bound) bool { return !strings.HasPrefix(b.subject, "command("+line+").args[") }))
		parts = append(parts, fmt.Sprintf("size(command(%s).args) == %d", line, words))
	}
	for i := range c.bounds {
		text, err := c.bounds[i].cel()
		if err != nil {
			return "", err
		}
		parts = append(parts, text...)
	}
	if guard != "" {
		parts = append(parts, "("+guard+")")
	}
	return strings.Join(parts, " && "), nil
}

// cel writes a bound.
func (b *bound) cel() ([]string, error) {
	row := condition.Row{Subject: b.subject, Values: b.values}
	switch b.how {
	case Is:
		if b.kind == exact {
			return []string{b.subject + " == " + b.values[0]}, nil
		}
		if b.kind != amount {
			return []string{b.subject + " == " + strconv.Quote(b.values[0])}, nil
		}
		row.Op, row.Kind = condition.Is, condition.KindNumber
	case OneOf:
		return []string{b.subject + " in [" + strings.Join(b.values, ", ") + "]"}, nil
	case Below:
		return append(b.beginning(), "path("+b.subject+").within("+strconv.Quote(folderOf(b.values[0]))+")"), nil
	case At:
		_, rest, _ := strings.Cut(b.origin, "://")
		host, _, _ := strings.Cut(rest, ":")
		return append(b.beginning(), "host("+b.subject+") == "+strconv.Quote(host)), nil
	case Between:
		row.Op, row.Kind = condition.Between, condition.KindNumber
	}
	text, err := condition.Built{Groups: []condition.Group{{row}}}.CEL()
	return []string{"type(" + b.subject + ") in [int, uint, double]", text}, err // a text may read as a number too
}

// beginning says where a text begins, and what it does not have.
func (b *bound) beginning() []string {
	out := []string{"type(" + b.subject + ") == string", b.subject + ".startsWith(" + strconv.Quote(b.values[0]) + ")"}
	for _, mark := range b.absent {
		out = append(out, "!"+b.subject+".contains("+strconv.Quote(mark)+")")
	}
	return out
}

// proved writes the rule, judges all calls of its group by the policy with and without it, and reports whether it
// settles those that it is made from and no others but open ones.
func (c *candidate) proved(p *policy.Policy, all []*read) (Suggestion, bool) {
	first := c.good[0]
	s := Suggestion{
		Kind: c.kind, Holds: first.holds, Agent: first.Facts.Agent, Tool: first.ToolName, Risk: first.risk, Terms: c.terms(),
	}
	doc := p.Document()
	guard := ""
	if at := doc.RuleNamed(s.Holds); at >= 0 {
		guard = doc.Rules[at].When
	}
	when, err := c.when(guard)
	if err != nil || len(when) > condition.MaxSource {
		return s, false
	}
	s.Rule = policy.Rule{
		Name: doc.UnusedName(s.title()), Tools: []string{first.ToolName}, When: when, Effect: policy.EffectAllow, Risk: first.risk,
		Energy: first.energy, // it costs as much as while it waited
	}
	if c.kind == Deny {
		s.Rule.Effect, s.Rule.Reason = policy.EffectDeny, commonReason(c.good)
	}
	next, err := p.WithRule(s.Rule, s.Holds)
	if err != nil {
		return s, false
	}
	settled, ok := c.settles(p, next, all, &s)
	if !ok || len(settled) < MinCalls {
		return s, false
	}
	s.count(settled)
	s.Key = keyOf(string(s.Kind), string(first.Agent), s.Tool, s.Holds, c.same())
	return s, true
}

// settles judges the calls; ok is false if one would end otherwise than people decided it, or if its contents were removed
// so that this can't be told.
func (c *candidate) settles(p, next *policy.Policy, all []*read, s *Suggestion) (settled []*read, ok bool) {
	want := map[Kind]Outcome{Allow: Approved, Deny: Refused}[c.kind]
	for _, call := range all {
		shift, differs, known := policy.Compare(p, next, call.Call.Call)
		effect := known && differs && !shift.SameEffect()
		switch {
		case !known && call.Outcome != want && call.Outcome != Open:
			return nil, false
		case effect && (shift.New.Effect != s.Rule.Effect || shift.New.Rule != s.Rule.Name || shift.Old.Rule != s.Holds):
			return nil, false
		case effect && call.Outcome == want && (call.eligible || c.kind == Deny):
			settled = append(settled, call)
		case effect && call.Outcome != Open, effect && c.kind == Allow && !call.eligible:
			return nil, false
		case effect:
			s.Open++
		default:
			if known && differs {
				s.OtherTerms++
			}
			s.Rest.add(call)
		}
	}
	return settled, true
}

func (l *Rest) add(c *read) {
	switch c.Outcome {
	case Approved:
		l.Approved++
	case Refused:
		l.Rejected++
	case Edited:
		l.Edited++
	case Open:
		l.Other++
	}
	if c.shape.unreadable {
		l.Unreadable++
	}
}

// terms are the bounds for people.
func (c *candidate) terms() (out []Term) {
	for i := range c.bounds {
		b := &c.bounds[i]
		values := b.shown
		if b.how == Below {
			values = []string{folderOf(b.shown[0])}
		}
		out = append(out, Term{b.name, b.how, values})
	}
	return out
}

// same stays as it is while amounts grow and lists get longer.
func (c *candidate) same() string {
	parts := []string{strings.Join(c.good[0].shape.names, "\x00")}
	for i := range c.bounds {
		b := &c.bounds[i]
		how := b.how
		if how == OneOf {
			how = Is
		}
		parts = append(parts, b.subject, string(how))
		if b.kind != amount {
			parts = append(parts, b.values[0])
		}
	}
	return strings.Join(parts, "\x00")
}

// title names the rule.
func (s *Suggestion) title() string {
	parts := []string{s.Tool + " by " + s.Agent}
	for _, t := range s.Terms {
		if t.How == Below || t.How == At {
			parts = append(parts, t.Values[0])
		}
	}
	return strings.Join(parts, ", ")
}

// commonReason is what most of those said who refused the calls; empty: most of them did not say the same.
func commonReason(calls []*read) string {
	said := map[string]int{}
	for _, c := range calls {
		line, _, _ := strings.Cut(c.Reason, "\n")
		said[strings.TrimSpace(line)]++
	}
	for reason, n := range said {
		if 2*n > len(calls) && len(reason) <= models.MaxReason {
			return reason
		}
	}
	return ""
}
