package policy

import (
	"cmp"
	"slices"
	"sync"

	"countersign/models/condition"
)

// reach is what a policy has for one tool's name.
type reach struct {
	// rules match the name, in their order, up to the first that settles every call.
	rules []int
	// near are the entries before the end of rules that only nearly match, in the order
	// of their rules; not those of rules that match.
	near     []*listed
	required bool // the name is in required_approval_tools
}

// maxReached is how many names are remembered. Agents choose names, so they are
// forgotten when there are too many.
const maxReached = 1024

// reached remembers the matches of names.
type reached struct {
	mu    sync.RWMutex
	names map[string]*reach
}

func (p *Policy) reach(name string) *reach {
	p.reaches.mu.RLock()
	r := p.reaches.names[name]
	p.reaches.mu.RUnlock()
	if r != nil {
		return r
	}
	r = p.find(name)
	p.reaches.mu.Lock()
	defer p.reaches.mu.Unlock()
	if p.reaches.names == nil || len(p.reaches.names) >= maxReached {
		p.reaches.names = make(map[string]*reach)
	}
	p.reaches.names[name] = r
	return r
}

// find tries all patterns on a name.
func (p *Policy) find(name string) *reach {
	r := &reach{required: p.isRequired(name)}
	end := len(p.rules) + 1 // required_approval_tools come behind all rules
	add := func(rule int) {
		r.rules = append(r.rules, rule)
		if p.settles(rule) {
			end = min(end, rule)
		}
	}
	for _, rule := range p.exact[name] {
		if rule < end {
			add(rule)
		}
	}
	for i := range p.regexes {
		if p.regexes[i].rule >= end {
			break
		}
		if p.regexes[i].match(name) {
			add(p.regexes[i].rule)
		}
	}
	slices.Sort(r.rules)
	r.rules = slices.Compact(r.rules)
	r.rules = slices.Clip(slices.DeleteFunc(r.rules, func(rule int) bool { return rule > end }))
	p.findNear(r, name, end)
	return r
}

// settles reports whether no rule behind this one is asked about a call that it matches:
// it has no condition, nor is it skipped because one before it can't be judged.
func (p *Policy) settles(rule int) bool {
	return p.conditions[rule] == nil && (p.rules[rule].Effect != EffectAllow || rule < p.firstDoubt)
}

// findNear adds what only nearly matches.
func (p *Policy) findNear(r *reach, name string, end int) {
	match := func(rule int) bool {
		_, found := slices.BinarySearch(r.rules, rule)
		return found || r.required && rule == len(p.rules)
	}
	all := p.similar[fold(name)]
	for i := range all {
		if l := &all[i]; l.rule < end && l.name != name && !match(l.rule) {
			r.near = append(r.near, l)
		}
	}
	for i := range p.fold {
		f := &p.fold[i]
		if f.rule >= end {
			break
		}
		if !match(f.rule) && f.re.MatchString(name) {
			r.near = append(r.near, &f.listed)
		}
	}
	slices.SortStableFunc(r.near, func(a, b *listed) int { return cmp.Compare(a.rule, b.rule) })
}

// almost is the rule that the name nearly matches before the rule end: the first that holds the call, else a name that
// is listed on an allow rule. A match under a condition that is false does not count.
func (r *reach) almost(end int, e *evaluation) *listed {
	var allow *listed
	for _, l := range r.near {
		switch {
		case l.rule >= end:
			return allow
		case e.of(l.rule).Result == condition.False:
		case !l.allow:
			return l
		case allow == nil:
			allow = l
		}
	}
	return allow
}
