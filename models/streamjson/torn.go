package streamjson

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// joinTorn puts a line behind the object that was torn before it, unless it is one itself.
// Done says that the rest is still awaited.
func (r *Reader) joinTorn(raw []byte, position int64) (joined []byte, at int64, done bool) {
	torn, at := r.torn, r.tornAt
	r.torn = nil
	var single line
	if v, _, err := firstObject(raw); err == nil && json.Unmarshal(v, &single, lenient) == nil && single.Type != "" {
		r.Skip(torn, at)
		return raw, position, false
	}
	whole := append(bytes.Clone(torn), raw...)
	_, _, err := firstObject(whole)
	switch {
	case err == nil:
		return whole, at, false
	case errors.Is(err, io.ErrUnexpectedEOF) && r.pieces < mostTorn && len(whole) < mostHeld:
		r.torn, r.tornAt = whole, at
		r.pieces++
		return nil, at, true
	}
	r.Skip(torn, at)
	return raw, position, false
}

// firstObject is the object at the beginning of a line, and the text after it.
func firstObject(raw []byte) (v jsontext.Value, rest []byte, err error) {
	if len(raw) == 0 || raw[0] != '{' {
		return nil, nil, errors.ErrUnsupported
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), lenient)
	if v, err = d.ReadValue(); err != nil {
		return nil, nil, err
	}
	return v, raw[d.InputOffset():], nil
}

// withoutNaN puts numbers that JSON does not know into quotes; nil: there are none.
func withoutNaN(raw []byte) []byte {
	var out []byte
	from, quote := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quote && c == '\\':
			i++
		case c == '"':
			quote = !quote
		case quote:
		case c == 'N' || c == 'I' || c == '-':
			for _, word := range []string{"NaN", "Infinity", "-Infinity"} {
				if bytes.HasPrefix(raw[i:], []byte(word)) {
					out = append(append(out, raw[from:i]...), `"`+word+`"`...)
					i += len(word) - 1
					from = i + 1
					break
				}
			}
		}
	}
	if out == nil {
		return nil
	}
	return append(out, raw[from:]...)
}
