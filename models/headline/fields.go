package headline

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// fields reads the members of a call of a known kind, by name and type. It fails where one is missing or of another
// type, where one of several names for the same appears twice, and where members are left unread.
type fields struct {
	members map[string]jsontext.Value
	read    map[string]bool
	bad     bool
}

func newFields(members map[string]jsontext.Value) *fields {
	return &fields{members: members, read: make(map[string]bool, len(members))}
}

// value is the member of one of these names; nil: there is none.
func (f *fields) value(names ...string) (raw jsontext.Value, name string) {
	for _, n := range names {
		v, ok := f.members[n]
		if !ok {
			continue
		}
		if raw != nil {
			f.bad = true
		}
		raw, name, f.read[n] = v, n, true
	}
	return raw, name
}

// ofKind is value where it is of one of these JSON types.
func (f *fields) ofKind(kinds string, names ...string) (raw jsontext.Value, name string) {
	raw, name = f.value(names...)
	if raw != nil && !slices.Contains([]byte(kinds), byte(raw.Kind())) {
		f.bad = true
		return nil, name
	}
	return raw, name
}

// maybe is a text that need not be there.
func (f *fields) maybe(names ...string) string {
	raw, _ := f.ofKind(`"`, names...)
	if raw == nil {
		return ""
	}
	text, ok := textOf(raw)
	f.bad = f.bad || !ok
	return text
}

// text is a text that must be there, and not be empty; with the name of its member.
func (f *fields) text(names ...string) (text, name string) {
	raw, name := f.ofKind(`"`, names...)
	text, ok := textOf(raw)
	f.bad = f.bad || !ok || text == ""
	return text, name
}

// some is a text that must be there, and may be empty.
func (f *fields) some(names ...string) string {
	if raw, _ := f.ofKind(`"`, names...); raw == nil {
		f.bad = true
		return ""
	} else if text, ok := textOf(raw); ok {
		return text
	}
	f.bad = true
	return ""
}

// flag is a boolean that need not be there.
func (f *fields) flag(names ...string) bool {
	raw, _ := f.ofKind("tf", names...)
	return raw != nil && raw.Kind() == 't'
}

// number is a number as it was sent, empty if it is not there.
func (f *fields) number(names ...string) string {
	raw, _ := f.ofKind("0", names...)
	return string(raw)
}

// texts is a text or a list of texts; none if it is not there.
func (f *fields) texts(names ...string) []string {
	raw, _ := f.ofKind(`"[`, names...)
	if raw == nil {
		return nil
	}
	if text, ok := textOf(raw); ok {
		return []string{text}
	}
	list, ok := textsOf(raw)
	f.bad = f.bad || !ok
	return list
}

// members are the names of all members, if all were read and nothing failed.
func (f *fields) all() ([]string, bool) {
	if f.bad || len(f.read) != len(f.members) {
		return nil, false
	}
	return slices.Sorted(maps.Keys(f.members)), true
}

// without are the names besides those that are shown.
func without(names []string, shown ...string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return slices.Contains(shown, n) })
}
