package headline

import (
	"errors"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// input is an input as far as it can be read.
type input struct {
	raw     string
	members map[string]jsontext.Value // as sent
	object  bool                      // it is one, or begins as one
	whole   bool                      // it is an object, and all of it is here
	cut     string                    // the member of whose text only the beginning is here
}

// readInput reads the members of an object that may be cut anywhere, as lists get it: those
// that are whole, and of a text that is cut its beginning.
func readInput(raw string) input {
	in := input{raw: raw, members: map[string]jsontext.Value{}}
	d := jsontext.NewDecoder(strings.NewReader(raw))
	if d.PeekKind() != '{' {
		return in
	}
	if _, err := d.ReadToken(); err != nil {
		return in
	}
	in.object = true
	for d.PeekKind() == '"' {
		token, err := d.ReadToken()
		if err != nil {
			return in.ended(err)
		}
		name, at := token.String(), d.InputOffset()
		value, err := d.ReadValue()
		if err != nil {
			if text, ok := closed(strings.TrimLeft(raw[at:], ": \t\r\n")); ok && errors.Is(err, io.ErrUnexpectedEOF) {
				in.members[name], in.cut = text, name
			}
			return in.ended(err)
		}
		if value.Kind() == '0' && d.InputOffset() == int64(len(raw)) { // more digits may follow
			return in
		}
		in.members[name] = slices.Clone(value)
	}
	if _, err := d.ReadToken(); err != nil {
		return in.ended(err)
	}
	_, err := d.ReadToken()
	in.whole = errors.Is(err, io.EOF)
	return in
}

// ended is an input that ends too early, or is no object: of the latter nothing is believed.
func (in input) ended(err error) input {
	if !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return input{raw: in.raw}
	}
	return in
}

// others are the members besides those that are shown, sorted.
func (in input) others(shown ...string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(in.members)) {
		if !slices.Contains(shown, name) {
			out = append(out, name)
		}
	}
	return out
}

// halfPair is an escape that means something only with the one behind it.
var halfPair = regexp.MustCompile(`\\u[dD][89abAB][0-9a-fA-F]{2}$`)

// closed ends a text that was cut: the rest of an escape or of a character goes.
func closed(text string) (jsontext.Value, bool) {
	if !strings.HasPrefix(text, `"`) {
		return nil, false
	}
	for range 12 { // the longest escape is a pair of \uXXXX
		value := jsontext.Value(text + `"`)
		if len(text) > 1 && utf8.ValidString(text) && !halfPair.MatchString(text) && value.IsValid() {
			return value, true
		}
		if len(text) < 2 {
			return nil, false
		}
		text = text[:len(text)-1]
	}
	return nil, false
}

// textOf is the content of a text.
func textOf(raw jsontext.Value) (string, bool) {
	if raw.Kind() != '"' {
		return "", false
	}
	b, err := jsontext.AppendUnquote(nil, raw)
	return string(b), err == nil
}

// textsOf are the contents of a list of texts.
func textsOf(raw jsontext.Value) ([]string, bool) {
	list, ok := valuesOf(raw)
	if !ok {
		return nil, false
	}
	out := make([]string, len(list))
	for i, one := range list {
		text, ok := textOf(one)
		if !ok {
			return nil, false
		}
		out[i] = text
	}
	return out, true
}

// valuesOf are the values of a list.
func valuesOf(raw jsontext.Value) ([]jsontext.Value, bool) {
	var list []jsontext.Value
	return list, raw.Kind() == '[' && json.Unmarshal(raw, &list) == nil
}
