package policy

import (
	"fmt"
	"maps"
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
	m.lists()
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

// together takes a switch and its end from the same document: that of one with the end of another would be a
// combination that no one wrote.
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

// lists merges the two lists, whose objects are the same where their names are.
func (m *merger) lists() {
	_, rule := initial()
	of := func(list func(*Draft) []object) [3][]object {
		return [3][]object{list(m.base), list(m.theirs), list(m.mine)}
	}
	templates := listMerge{
		m, templatesMember, "a template", templateFields, initialTemplate, of(func(d *Draft) []object { return d.templates }),
	}
	rules := listMerge{m, rulesMember, "a rule", ruleFields, rule, of(func(d *Draft) []object { return d.rules })}
	m.out.templates, m.out.rules = templates.merged(), rules.merged()
}

// listMerge merges the rules, or the templates, of valid documents.
type listMerge struct {
	*merger

	member, word string
	fields       []Field
	defaults     object
	from         [3][]object // of base, theirs and mine
}

// fit puts what mine changes of one object into theirs; base may be nil.
func (l listMerge) fit(path string, base, theirs, mine object) object {
	before := Form{}
	if base != nil {
		before = show(base, l.defaults, l.fields)
	}
	other, own := show(theirs, l.defaults, l.fields), show(mine, l.defaults, l.fields)
	changes := l.changed(path+".", l.fields, before, other, own)
	if l.member == rulesMember {
		l.withItsRisk(path+".", changes, before, other, own)
	}
	out := theirs.clone()
	put(&out, l.defaults, l.fields, changes)
	return out
}

// withItsRisk takes a rule's risk from the document that its template is from: a risk that was written beside another
// template, or beside none, was not meant for it.
func (l listMerge) withItsRisk(at string, changes, base, theirs, mine Form) {
	const template, risk = "template", "risk"
	_, ofTemplate := changes[template]
	_, ofRisk := changes[risk]
	switch {
	case ofTemplate && !ofRisk && theirs[risk] != mine[risk]:
		changes[risk] = mine[risk]
		l.clashes = append(l.clashes, Clash{at + risk, base[risk], theirs[risk], mine[risk]})
	case ofRisk && !ofTemplate && theirs[template] != base[template]:
		l.clashes = append(l.clashes, Clash{at + template, base[template], theirs[template], mine[template]})
	}
}

func (l listMerge) merged() []object {
	base, theirs, mine := named(l.from[0]), named(l.from[1]), named(l.from[2])
	kept := named(l.from[1])
	for _, name := range namesOf(l.from[2]) {
		own := mine[name]
		b, known := base[name]
		t, there := theirs[name]
		path := fmt.Sprintf("%s[%q]", l.member, name)
		switch {
		case there: // b is nil where both added one of this name
			kept[name] = l.fit(path, b, t, own)
		case !known:
			kept[name] = own
		case string(b.value()) != string(own.value()):
			kept[name] = own
			l.clashes = append(l.clashes, Clash{path, l.word, "deleted", "changed"})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(base)) {
		_, still := mine[name]
		t, there := theirs[name]
		if still || !there {
			continue
		}
		if string(base[name].value()) == string(t.value()) {
			delete(kept, name)
			continue
		}
		l.clashes = append(l.clashes, Clash{fmt.Sprintf("%s[%q]", l.member, name), l.word, "changed", "deleted"})
	}
	var out []object
	for _, name := range l.order(kept) {
		out = append(out, kept[name])
	}
	return out
}

// order is theirs, unless mine moved rules; the side whose order is not followed has its own rules behind the ones that
// precede them there.
func (l listMerge) order(kept map[string]object) []string {
	base, lead, other := namesOf(l.from[0]), namesOf(l.from[1]), namesOf(l.from[2])
	myMoves, theirMoves := moved(base, other), moved(base, lead)
	if myMoves {
		// The order of rules decides; that of templates is only how they are listed.
		if theirMoves && l.member == rulesMember && !slices.Equal(common(lead, other), common(other, lead)) {
			l.clashes = append(l.clashes, Clash{"order of " + l.member, listText(base), listText(lead), listText(other)})
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

// named finds the objects of a valid document by their names.
func named(list []object) map[string]object {
	out := map[string]object{}
	for _, o := range list {
		out[nameOf(o)] = o
	}
	return out
}
