package models

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits of an input that is edited member by member; a larger one is edited as
// JSON.
const (
	MaxEditFields = 40
	MaxEditBytes  = 64 << 10
)

// EditField is one member of an input: its name, and its value as it was sent.
type EditField struct {
	Name string
	key  jsontext.Value // the name as it was sent
	raw  jsontext.Value
}

// FieldKind is what a value is. An edit keeps it.
type FieldKind string

// The kinds of value.
const (
	FieldText   FieldKind = "text"   // a string, edited as it reads
	FieldQuoted FieldKind = "quoted" // a string with invisible characters, edited as JSON
	FieldNumber FieldKind = "number" // its literal is kept
	FieldBool   FieldKind = "true or false"
	FieldNull   FieldKind = "null" // any value may take its place
	FieldList   FieldKind = "list"
	FieldObject FieldKind = "object"
)

// EditFields takes an input apart, in the order that it was sent in. It is false for
// input that is not an object, or a large one.
func EditFields(input []byte) ([]EditField, bool) {
	if len(input) > MaxEditBytes {
		return nil, false
	}
	d := jsontext.NewDecoder(bytes.NewReader(input))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return nil, false
	}
	var out []EditField
	for d.PeekKind() != '}' {
		key, err := d.ReadValue()
		if err != nil {
			return nil, false
		}
		key = key.Clone()
		name, err := jsontext.AppendUnquote(nil, key)
		if err != nil {
			return nil, false
		}
		raw, err := d.ReadValue()
		if err != nil || len(out) == MaxEditFields {
			return nil, false
		}
		out = append(out, EditField{Name: string(name), key: key, raw: raw.Clone()})
	}
	return out, len(out) > 0
}

// Kind is what the value is.
func (f EditField) Kind() FieldKind {
	switch f.raw.Kind() {
	case '"':
		if _, found := Reveal(f.unquoted(), true); found.Any() {
			return FieldQuoted
		}
		return FieldText
	case '0':
		return FieldNumber
	case 't', 'f':
		return FieldBool
	case '[':
		return FieldList
	case '{':
		return FieldObject
	case jsontext.KindInvalid, jsontext.KindNull, jsontext.KindEndObject, jsontext.KindEndArray:
	}
	return FieldNull
}

func (f EditField) unquoted() string {
	s, err := jsontext.AppendUnquote(nil, f.raw)
	if err != nil {
		return ""
	}
	return string(s)
}

// Text is the value as an editor shows it. Nothing in it is hidden.
func (f EditField) Text() string {
	switch f.Kind() {
	case FieldText:
		return f.unquoted()
	case FieldList, FieldObject:
		v := f.raw.Clone()
		if err := v.Format(jsontext.PreserveRawStrings(true), jsontext.WithIndent("  "), jsontext.CanonicalizeRawInts(false),
			jsontext.CanonicalizeRawFloats(false)); err != nil {
			v = f.raw
		}
		return VisibleJSON(string(v))
	case FieldQuoted:
		plain, err := jsontext.AppendQuote(nil, f.unquoted())
		if err != nil {
			plain = f.raw
		}
		return VisibleJSON(string(plain))
	case FieldNumber, FieldBool, FieldNull:
	}
	return string(f.raw)
}

// parse is the value that a text means, of the member's own kind. A text that is
// as it was shown is the value as it was sent.
func (f EditField) parse(text string) (jsontext.Value, string) {
	if text == f.Text() {
		return f.raw, ""
	}
	kind := f.Kind()
	if kind == FieldText {
		v, err := jsontext.AppendQuote(nil, text)
		if err != nil {
			return nil, "must be text in UTF-8"
		}
		return v, ""
	}
	v := jsontext.Value(strings.TrimSpace(text))
	if _, err := CanonicalJSON("input", v); err != nil {
		v = nil // Kind is 0: none of those below
	}
	is := v.Kind()
	switch {
	case kind == FieldQuoted && is != '"':
		return nil, "must be text in JSON, between quotation marks"
	case kind == FieldNumber && is != '0':
		return nil, "must be a number"
	case kind == FieldBool && is != 't' && is != 'f':
		return nil, "must be true or false"
	case kind == FieldList && is != '[':
		return nil, "must be a list in JSON, such as [1, 2]"
	case kind == FieldObject && is != '{':
		return nil, `must be an object in JSON, such as {"a": 1}`
	case kind == FieldNull && v == nil:
		return nil, `must be a value in JSON, such as null, 1, true or "text"`
	}
	return v, ""
}

// Edit puts together an input from the text in a form for its members, by their place; members without text stay
// unchanged. Members keep their order, and an input in which nothing was changed comes back unchanged. problems has the
// mistakes by place; there is no input then.
func Edit(input []byte, fields []EditField, texts map[int]string) (edited []byte, problems map[int]string) {
	problems = map[int]string{}
	out := []byte("{")
	differs := false
	for i, f := range fields {
		value := f.raw
		if text, ok := texts[i]; ok {
			var problem string
			if value, problem = f.parse(text); problem != "" {
				problems[i] = problem
				continue
			}
		}
		differs = differs || !bytes.Equal(value, f.raw)
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, f.key...), ':'), value...)
	}
	switch {
	case len(problems) > 0:
		return nil, problems
	case !differs:
		return input, nil
	}
	return append(out, '}'), nil
}
