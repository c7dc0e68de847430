package upstream

import (
	"bytes"
	"io"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// object is a JSON object read member by member: a member of another type than
// expected, or one more, costs only itself.
type object map[string]jsontext.Value

// lenient reads what strict JSON would refuse deep inside, so that an error costs only the approval in which it occurs.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// readObject reads one object and nothing after it. An object that has a member
// twice says two things and is not read.
func readObject(raw []byte) (object, bool) {
	dec := jsontext.NewDecoder(bytes.NewReader(raw), lenient)
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '{' {
		return nil, false
	}
	o := object{}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, false
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil || o[key] != nil {
			return nil, false
		}
		o[key] = value.Clone()
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, false
	}
	return o, ended(dec)
}

// readArray reads the values of one array and nothing after it.
func readArray(raw []byte) ([]jsontext.Value, bool) {
	dec := jsontext.NewDecoder(bytes.NewReader(raw), lenient)
	if t, err := dec.ReadToken(); err != nil || t.Kind() != '[' {
		return nil, false
	}
	values := []jsontext.Value{}
	for dec.PeekKind() != ']' {
		value, err := dec.ReadValue()
		if err != nil {
			return nil, false
		}
		values = append(values, value.Clone())
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, false
	}
	return values, ended(dec)
}

// scalars are all texts and numbers in a value, at any depth.
func scalars(raw jsontext.Value) []string {
	var out []string
	for dec := jsontext.NewDecoder(bytes.NewReader(raw), lenient); ; {
		t, err := dec.ReadToken()
		if err != nil {
			return out
		}
		if k := t.Kind(); k == '"' || k == '0' {
			out = append(out, t.String())
		}
	}
}

func ended(dec *jsontext.Decoder) bool {
	_, err := dec.ReadToken()
	return err == io.EOF //nolint:errorlint // the decoder promises exactly this one
}

// has reports whether a member is there and not null.
func (o object) has(name string) bool { return o[name] != nil && o[name].Kind() != 'n' }

// value is the first member that is there and not null.
func (o object) value(names ...string) jsontext.Value {
	for _, name := range names {
		if o.has(name) {
			return o[name]
		}
	}
	return nil
}

// text is the first member that is there, if it is a string. Bytes that are no
// UTF-8 become replacement characters.
func (o object) text(names ...string) (string, bool) {
	v := o.value(names...)
	if v == nil || v.Kind() != '"' {
		return "", false
	}
	b, _ := jsontext.AppendUnquote(nil, v) // its error is that something was replaced
	return string(b), true
}

// id is text or a number, exactly as sent: no other string may become it.
func (o object) id(names ...string) (string, bool) {
	v := o.value(names...)
	switch {
	case v == nil:
		return "", false
	case v.Kind() == '0':
		return string(v), true
	case v.Kind() == '"':
		b, err := jsontext.AppendUnquote(nil, v)
		return string(b), err == nil
	}
	return "", false
}

func (o object) object(name string) (object, bool) {
	if !o.has(name) {
		return nil, false
	}
	return readObject(o[name])
}

func (o object) boolean(name string) (value, ok bool) {
	v := o.value(name)
	return v != nil && v.Kind() == 't', v != nil && (v.Kind() == 't' || v.Kind() == 'f')
}

// count is a whole number, not negative; nil if the member is not there or
// something else.
func (o object) count(name string) *int {
	n, err := strconv.ParseInt(string(o.value(name)), 10, 32)
	if err != nil || n < 0 {
		return nil
	}
	whole := int(n)
	return &whole
}

// time is the first member that is there, in any of the forms of parseTime; zero
// if it is none.
func (o object) time(names ...string) time.Time {
	v := o.value(names...)
	if v == nil {
		return time.Time{}
	}
	if v.Kind() == '0' {
		return parseTime(string(v))
	}
	text, _ := o.text(names...)
	return parseTime(text)
}
