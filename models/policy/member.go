package policy

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// object is a JSON object as somebody wrote it: in their order, with whatever it holds.
type object []member

type member struct {
	name  string
	value jsontext.Value
}

// readObject reads one object, and its members without change; it fails where the JSON is broken, is not an object, or
// names a member twice.
func readObject(raw []byte) (object, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	if dec.PeekKind() != '{' {
		if _, err := dec.ReadValue(); err != nil {
			return nil, err
		}
		return nil, errNotAnObject
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	o := object{}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		o = append(o, member{key, slices.Clone(value)})
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	return o, nil
}

// readList reads the values of one list.
func readList(raw []byte) ([]jsontext.Value, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(raw))
	if dec.PeekKind() != '[' {
		return nil, errNotAList
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	out := []jsontext.Value{}
	for dec.PeekKind() != ']' {
		value, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		out = append(out, slices.Clone(value))
	}
	return out, nil
}

// get is nil for a missing member.
func (o object) get(name string) jsontext.Value {
	for _, m := range o {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

func (o *object) set(name string, value jsontext.Value) {
	for i := range *o {
		if (*o)[i].name == name {
			(*o)[i].value = value
			return
		}
	}
	*o = append(*o, member{name, value})
}

func (o *object) remove(name string) {
	*o = slices.DeleteFunc(*o, func(m member) bool { return m.name == name })
}

func (o object) clone() object { return slices.Clone(o) }

// value writes the object in one line.
func (o object) value() jsontext.Value {
	out := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, quoted(m.name)...)
		out = append(out, ':')
		out = append(out, m.value...)
	}
	return append(out, '}')
}

func listOf(values []jsontext.Value) jsontext.Value {
	out := []byte{'['}
	for i, v := range values {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}

// quoted is a text as JSON; bytes in it that are not UTF-8 are replaced.
func quoted(text string) jsontext.Value {
	out, _ := jsontext.AppendQuote(nil, text) // only fails for what it has replaced
	return out
}
