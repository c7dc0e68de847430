package policy

import (
	"fmt"
	"slices"
)

// Clash is a place that two people changed in different ways, or one changed and the
// other took away. Base is what it said before either; empty is nothing.
type Clash struct{ Path, Base, Theirs, Mine string }

// Merge puts what mine changes of base into theirs, so that what both changed is there.
// Where they differ mine holds, but a rule that mine deleted and theirs changed stays;
// each such place is a Clash.
func Merge(base, theirs, mine Document) (*Draft, []Clash, error) {
	var drafts [3]*Draft
	for i, doc := range []Document{base, theirs, mine} {
		d, err := DraftOf(doc)
		if err != nil {
			return nil, nil, err
		}
		drafts[i] = d
	}
	m := &merger{base: drafts[0], theirs: drafts[1], mine: drafts[2], out: drafts[1]}
	m.settings()
	m.rules()
	return m.out, m.clashes, nil
}

type merger struct {
	base, theirs, mine, out *Draft // out begins as theirs
	clashes                 []Clash
}

func (m *merger) settings() {
	base, theirs, mine := m.base.Settings(), m.theirs.Settings(), m.mine.Settings()
	out := m.changed("", settings, base, theirs, mine)
	for _, s := range switches {
		m.together(out, s, base, theirs, mine)
	}
	m.out.PutSettings(out)
}

// together takes a switch and its end from the same document: that of one with the end of
// another would be what nobody wrote.
func (m *merger) together(out Form, s switchMembers, base, theirs, mine Form) {
	_, flag := out[s.flag]
	_, until := out[s.until]
	if flag == until {
		return
	}
	path := s.flag
	if flag {
		path = s.until
	}
	out[path] = mine[path]
	if theirs[path] != base[path] {
		m.clashes = append(m.clashes, Clash{path, base[path], theirs[path], mine[path]})
	}
}

// changed is what mine changes of base, by its path.
func (m *merger) changed(at string, fields []Field, base, theirs, mine Form) Form {
	out := Form{}
	for _, f := range fields {
		b, t, own := base[f.Path], theirs[f.Path], mine[f.Path]
		if own == b {
			continue
		}
		out[f.Path] = own
		if t != b && t != own {
			m.clashes = append(m.clashes, Clash{at + f.Path, b, t, own})
		}
	}
	return out
}

func (m *merger) rules() {
	base, theirs, mine := named(m.base), named(m.theirs), named(m.mine)
	_, defaults := initial()
	kept := map[string]object{}
	for name, i := range theirs {
		kept[name] = m.theirs.rules[i]
	}
	for _, name := range namesOf(m.mine) {
		own := mine[name]
		b, known := base[name]
		t, there := theirs[name]
		path := fmt.Sprintf("rules[%q]", name)
		switch {
		case !known && !there:
			kept[name] = m.mine.rules[own]
		case !known: // both added one of this name
			rule := kept[name].clone()
			put(&rule, defaults, ruleFields, m.changed(path+".", ruleFields, Form{}, m.theirs.Rule(t), m.mine.Rule(own)))
			kept[name] = rule
		case there:
			rule := kept[name].clone()
			put(&rule, defaults, ruleFields, m.changed(path+".", ruleFields, m.base.Rule(b), m.theirs.Rule(t), m.mine.Rule(own)))
			kept[name] = rule
		case string(m.base.rules[b].value()) != string(m.mine.rules[own].value()):
			kept[name] = m.mine.rules[own]
			m.clashes = append(m.clashes, Clash{path, "a rule", "deleted", "changed"})
		}
	}
	for name, b := range base {
		_, still := mine[name]
		t, there := theirs[name]
		if still || !there {
			continue
		}
		if string(m.base.rules[b].value()) == string(m.theirs.rules[t].value()) {
			delete(kept, name)
			continue
		}
		m.clashes = append(m.clashes, Clash{fmt.Sprintf("rules[%q]", name), "a rule", "changed", "deleted"})
	}
	var rules []object
	for _, name := range m.order(kept) {
		rules = append(rules, kept[name])
	}
	m.out.rules = rules
}

// order is theirs, unless mine moved rules; whoever's is not followed has the rules that
// only they know behind the ones that stand before them there.
func (m *merger) order(kept map[string]object) []string {
	lead, other := namesOf(m.theirs), namesOf(m.mine)
	base := namesOf(m.base)
	mineMoved, theirsMoved := moved(base, other), moved(base, lead)
	if mineMoved {
		if theirsMoved && !slices.Equal(common(lead, other), common(other, lead)) {
			m.clashes = append(m.clashes, Clash{"order of rules", listText(base), listText(lead), listText(other)})
		}
		lead, other = other, lead
	}
	there := func(name string) bool { _, ok := kept[name]; return ok }
	var out []string
	for _, name := range lead {
		if there(name) {
			out = append(out, name)
		}
	}
	for i, name := range other {
		if !there(name) || slices.Contains(out, name) {
			continue
		}
		at := 0
		for k := i - 1; k >= 0; k-- {
			if j := slices.Index(out, other[k]); j >= 0 {
				at = j + 1
				break
			}
		}
		out = slices.Insert(out, at, name)
	}
	return out
}

func moved(base, now []string) bool { return !slices.Equal(common(base, now), common(now, base)) }

// common are the names of a that b has too.
func common(a, b []string) []string {
	var out []string
	for _, name := range a {
		if slices.Contains(b, name) {
			out = append(out, name)
		}
	}
	return out
}

func namesOf(d *Draft) []string {
	out := make([]string, d.Rules())
	for i := range out {
		out[i] = d.Rule(i)["name"]
	}
	return out
}

// named finds the rules of a valid document by their names.
func named(d *Draft) map[string]int {
	out := map[string]int{}
	for i, name := range namesOf(d) {
		out[name] = i
	}
	return out
}
