package suggest

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"countersign/models/condition"
)

// family are calls whose inputs differ in nothing but paths, addresses and amounts, and that one rule holds.
type family struct{ calls []*read }

// candidate is a rule that might be suggested: what its calls have in common.
type candidate struct {
	kind   Kind
	good   []*read // those that it is made from
	bounds []bound // of each part
}

// bound is in what one part is alike.
type bound struct {
	part

	how    How
	values []string // as part has texts; of Below and At: where they begin; of Between: the least and the most
	shown  []string
	absent []string // what none of the texts has behind where they begin
}

// candidates are the rules that a group's families might have.
func (g *group) candidates() (out []candidate) {
	var same []*family // that differ in nothing
	for _, f := range g.order {
		if slices.ContainsFunc(f.calls[0].shape.parts, func(p part) bool { return p.kind != exact }) {
			out = append(out, f.narrowest()...)
		} else {
			same = append(same, f)
		}
	}
	return append(out, lists(same)...)
}

// of are the calls that a rule of a kind is made from, and those that it must not settle.
func (f *family) of(kind Kind) (good, bad []*read) {
	want := map[Kind]Outcome{Allow: Approved, Deny: Refused}[kind]
	for _, c := range f.calls {
		switch {
		case c.Outcome == want && (c.eligible || kind == Deny):
			good = append(good, c)
		case c.Outcome != Open:
			bad = append(bad, c)
		}
	}
	return good, bad
}

// narrowest are the rules of a family: what its calls have in common, or where that has others in it, what they have in
// each folder, or in amounts below the others.
func (f *family) narrowest() (out []candidate) {
	for _, kind := range []Kind{Allow, Deny} {
		good, bad := f.of(kind)
		out = append(out, narrowed(kind, good, bad)...)
	}
	return out
}

func narrowed(kind Kind, good, bad []*read) []candidate {
	if len(good) < MinCalls {
		return nil
	}
	bounds, at := boundsOf(good)
	if at < 0 && !slices.ContainsFunc(bad, func(c *read) bool { return within(bounds, c) }) {
		return []candidate{{kind, good, bounds}}
	}
	if at < 0 {
		at = slices.IndexFunc(bounds, func(b bound) bool { return b.kind == folder && b.how != Is })
	}
	if at >= 0 {
		return inFolders(kind, good, bad, at)
	}
	if less := below(good, bad, bounds); kind == Allow && len(less) < len(good) {
		return narrowed(kind, less, bad)
	}
	return nil
}

// inFolders looks into each folder of the one that all paths of a part are in.
func inFolders(kind Kind, good, bad []*read, at int) (out []candidate) {
	top := commonFolder(good, at)
	children := map[string][2][]*read{}
	for i, calls := range [][]*read{good, bad} {
		for _, c := range calls {
			rest, inside := strings.CutPrefix(c.shape.parts[at].text, top)
			if !inside {
				continue
			}
			child, _, _ := strings.Cut(rest, "/")
			both := children[child]
			both[i] = append(both[i], c)
			children[child] = both
		}
	}
	if len(children) < 2 {
		return nil
	}
	for _, child := range sortedKeys(children) {
		out = append(out, narrowed(kind, children[child][0], children[child][1])...)
	}
	return out
}

// below leaves out calls of at least an amount that was refused.
func below(good, bad []*read, bounds []bound) []*read {
	at := slices.IndexFunc(bounds, func(b bound) bool { return b.how == Between })
	if at < 0 || slices.ContainsFunc(bounds[at+1:], func(b bound) bool { return b.how == Between }) {
		return good
	}
	bad = slices.DeleteFunc(slices.Clone(bad), func(c *read) bool { return !within(bounds, c) })
	least := slices.MinFunc(bad, func(a, b *read) int { return condition.CompareNumbers(a.shape.parts[at].text, b.shape.parts[at].text) })
	return slices.DeleteFunc(slices.Clone(good), func(c *read) bool {
		return condition.CompareNumbers(c.shape.parts[at].text, least.shape.parts[at].text) >= 0
	})
}

// boundsOf is in what calls of a family are alike. wide is the place of a part whose paths have too little in common, else -1.
func boundsOf(calls []*read) (out []bound, wide int) {
	wide = -1
	for i, p := range calls[0].shape.parts {
		texts := make([]string, len(calls))
		for k, c := range calls {
			texts[k] = c.shape.parts[i].text
		}
		b := bound{part: p, how: Is, values: []string{p.text}, shown: []string{p.shown}}
		if slices.ContainsFunc(texts, func(t string) bool { return t != p.text }) {
			switch p.kind {
			case exact: // it is part of the key
			case folder:
				b.begins(Below, commonFolder(calls, i), texts, "/.")
				if strings.Count(b.values[0], "/") < 3 && wide < 0 { // such as /home/: too many things are there
					wide = i
				}
			case address:
				b.begins(At, commonBegin(texts, p.origin), texts, "..", "%", "?", "\\")
			case amount:
				least, most := slices.MinFunc(texts, condition.CompareNumbers), slices.MaxFunc(texts, condition.CompareNumbers)
				b.how, b.values = Between, []string{least, most}
				b.shown = b.values
			}
		}
		out = append(out, b)
	}
	return out, wide
}

// begins says where texts begin, and which of some marks none of them has behind that.
func (b *bound) begins(how How, begin string, texts []string, marks ...string) {
	b.how, b.values, b.shown = how, []string{begin}, []string{begin}
	for _, mark := range marks {
		if !slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t[len(begin)-1:], mark) }) {
			b.absent = append(b.absent, mark)
		}
	}
}

// commonFolder is the deepest folder that all paths of a part are in, with a slash at its end.
func commonFolder(calls []*read, at int) string {
	texts := make([]string, len(calls))
	for i, c := range calls {
		texts[i] = c.shape.parts[at].text
	}
	return commonBegin(texts, "")
}

// commonBegin is where all texts begin, until behind a slash; at least behind the first one after an origin.
func commonBegin(texts []string, origin string) string {
	begin := texts[0]
	for _, text := range texts[1:] {
		n := 0
		for n < min(len(begin), len(text)) && begin[n] == text[n] {
			n++
		}
		begin = begin[:n]
	}
	if len(begin) <= len(origin) {
		return origin + "/"
	}
	return begin[:max(strings.LastIndexByte(begin, '/'), len(origin))+1]
}

// within reports whether a call of the same family is within bounds.
func within(bounds []bound, c *read) bool {
	for i := range bounds {
		b, text := &bounds[i], c.shape.parts[i].text
		switch b.how {
		case Is, OneOf:
			if !slices.Contains(b.values, text) {
				return false
			}
		case Below, At:
			if !strings.HasPrefix(text, b.values[0]) {
				return false
			}
		case Between:
			if condition.CompareNumbers(text, b.values[0]) < 0 || condition.CompareNumbers(text, b.values[1]) > 0 {
				return false
			}
		}
	}
	return true
}

// lists puts families together that differ in one part only, into a list of its values.
func lists(families []*family) (out []candidate) {
	for _, kind := range []Kind{Allow, Deny} {
		left := map[*family][]*read{}
		for _, f := range families {
			if good, bad := f.of(kind); len(good) >= minEach && len(bad) == 0 {
				left[f] = good
			}
		}
		for len(left) > 0 {
			c, used := longest(kind, families, left)
			if len(c.good) < MinCalls {
				break
			}
			for _, f := range used {
				delete(left, f)
			}
			out = append(out, c)
		}
	}
	return out
}

// maxList is how many values a list has at most.
const maxList = 20

// longest is the list of the most calls among the families that are left.
func longest(kind Kind, families []*family, left map[*family][]*read) (c candidate, used []*family) {
	buckets := map[string][]*family{}
	places := map[string]int{}
	for _, f := range families {
		if left[f] == nil {
			continue
		}
		first := f.calls[0]
		for i := range max(1, len(first.shape.parts)) {
			key := first.shape.keyBut(i) + "\x00" + first.holds
			buckets[key], places[key] = append(buckets[key], f), i
		}
	}
	calls := func(list []*family) (n int) {
		for _, f := range list {
			n += len(left[f])
		}
		return n
	}
	best := ""
	for _, key := range sortedKeys(buckets) {
		list := buckets[key]
		slices.SortStableFunc(list, func(a, b *family) int { return cmp.Compare(len(left[b]), len(left[a])) })
		buckets[key] = list[:min(len(list), maxList)]
		if best == "" || calls(buckets[key]) > calls(buckets[best]) {
			best = key
		}
	}
	used = buckets[best]
	for _, f := range used {
		c.good = append(c.good, left[f]...)
	}
	c.kind = kind
	c.bounds, _ = boundsOf(left[used[0]])
	if len(used) > 1 {
		b := &c.bounds[places[best]]
		b.how, b.values, b.shown = OneOf, nil, nil
		for _, f := range used {
			p := f.calls[0].shape.parts[places[best]]
			b.values, b.shown = append(b.values, p.text), append(b.shown, p.shown)
		}
	}
	return c, used
}

// folderOf is a folder without the slash at its end.
func folderOf(begin string) string { return path.Clean(begin) }
