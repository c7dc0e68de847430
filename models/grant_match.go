package models

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Member is a top-level member of a call's input.
type Member struct {
	Name  string
	Value jsontext.Value // in canonical form
}

// Shape is a call's input as grants compare it: by its top-level members, or as a
// whole where it is not an object.
type Shape struct {
	Object  bool
	Members []Member       // of an object, by name
	Whole   jsontext.Value // in canonical form
}

// ShapeOf takes an input apart. CodeInvalid, naming input, unless it is one JSON value that CanonicalJSON takes.
func ShapeOf(input []byte) (Shape, error) {
	canonical, err := CanonicalJSON("input", input)
	if err != nil {
		return Shape{}, err
	}
	s := Shape{Whole: canonical}
	s.Members, s.Object = membersOf(canonical)
	return s, nil
}

// membersOf are the members of a canonical object, in its order. For any other value ok is false, and members are those
// before the mistake.
func membersOf(canonical []byte) (members []Member, ok bool) {
	if len(canonical) == 0 || canonical[0] != '{' {
		return nil, false
	}
	d := jsontext.NewDecoder(bytes.NewReader(canonical))
	if _, err := d.ReadToken(); err != nil {
		return nil, false
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return members, false
		}
		m := Member{Name: name.String()}
		value, err := d.ReadValue()
		if err != nil {
			return members, false
		}
		m.Value = value.Clone()
		members = append(members, m)
	}
	_, err := d.ReadToken()
	return members, err == nil
}

// Split says what a grant made on this input holds on to: the named members with
// their values as one canonical object, and the names of all others as an array.
// An input that is not an object stays whole as it is, and no member can be named.
// CodeInvalid, naming fixed, for a name that the input lacks.
func (s Shape) Split(fixed []string) (kept, free string, err error) {
	if !s.Object {
		if len(fixed) > 0 {
			return "", "", Invalid("fixed", "must be empty: this input is not an object, so all of it must match")
		}
		return string(s.Whole), "[]", nil
	}
	keep := jsontext.Value("{")
	open := []string{}
	found := make(map[string]bool, len(fixed)) // by every name in fixed: whether the input has it
	for _, name := range fixed {
		found[name] = false
	}
	for _, m := range s.Members {
		if _, stays := found[m.Name]; !stays {
			open = append(open, m.Name)
			continue
		}
		found[m.Name] = true
		if len(keep) > 1 {
			keep = append(keep, ',')
		}
		if keep, err = jsontext.AppendQuote(keep, m.Name); err != nil {
			return "", "", Invalid("fixed", "must be valid UTF-8")
		}
		keep = append(append(keep, ':'), m.Value...)
	}
	for _, name := range fixed {
		if !found[name] {
			return "", "", Invalid("fixed", "must name members that the input has")
		}
	}
	names, err := json.Marshal(open)
	if err != nil {
		return "", "", Invalid("fixed", "must be valid UTF-8")
	}
	return string(append(keep, '}')), string(names), nil
}

// Covers reports whether a call of this agent and tool is one of those that the
// grant allows: every fixed member is there with the same canonical value, and
// there is none that is neither fixed nor free. Numbers are the same as they are
// written: 1.0 is not 1. It does not judge whether the grant is live.
func (g *Grant) Covers(agent AgentID, tool string, call Shape) bool {
	if g.AgentID != agent || g.ToolName != tool {
		return false
	}
	names, ok := membersOf([]byte(g.Fixed))
	if !ok {
		return !call.Object && g.Fixed == string(call.Whole)
	}
	if !call.Object {
		return false
	}
	free, err := g.FreeNames()
	if err != nil {
		return false // a grant that cannot be read covers nothing
	}
	held := make(map[string]jsontext.Value, len(names))
	for _, m := range names {
		held[m.Name] = m.Value
	}
	open := make(map[string]bool, len(free))
	for _, name := range free {
		open[name] = true
	}
	for _, m := range call.Members {
		value, stays := held[m.Name]
		switch {
		case stays && !bytes.Equal(value, m.Value), !stays && !open[m.Name]:
			return false
		case stays:
			delete(held, m.Name)
		}
	}
	return len(held) == 0
}

// FixedMembers are the members that stay as they are, in canonical form; none
// for a grant of an input that is not an object. Where Fixed is cut, as in lists, they
// are those before the cut.
func (g *Grant) FixedMembers() []Member {
	members, _ := membersOf([]byte(g.Fixed))
	return members
}

// Whole reports whether the grant is of one input that is not an object, all of
// which stays as it is.
func (g *Grant) Whole() bool {
	_, ok := membersOf([]byte(g.Fixed))
	return !ok
}

// FreeNames are the names of the members that may differ or be missing.
func (g *Grant) FreeNames() ([]string, error) {
	var names []string
	if err := json.Unmarshal([]byte(g.Free), &names); err != nil {
		return nil, Errorf(CodeInternal, "a pre-approval's free members cannot be read")
	}
	return names, nil
}
