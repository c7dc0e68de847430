package llm

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// joiner puts together text that came in pieces. Endpoints cut anywhere: between the bytes of a character, or between
// the two halves of an escaped pair of surrogates. An incomplete character waits for the next piece, so that the output
// is always whole characters.
type joiner struct {
	whole strings.Builder
	tail  []byte // the beginning of a character
}

// add takes a piece as unquote gives it and returns the text that has become whole.
func (j *joiner) add(piece []byte) string {
	return j.take(append(j.tail, piece...), false)
}

// end returns what never became whole, as replacement characters.
func (j *joiner) end() string { return j.take(j.tail, true) }

func (j *joiner) take(b []byte, end bool) string {
	from := j.whole.Len()
	for len(b) > 0 {
		r, size, enough := firstRune(b)
		if !enough && !end {
			break
		}
		j.whole.WriteRune(r)
		b = b[size:]
	}
	j.tail = append([]byte(nil), b...)
	return j.whole.String()[from:]
}

// firstRune reads one character, with a pair of surrogates (each in three bytes,
// as UTF-8 would have them if it could) as one. enough is false if the next piece
// might complete it.
func firstRune(b []byte) (r rune, size int, enough bool) {
	if high, ok := surrogate(b); ok {
		if low, ok := surrogate(b[3:]); ok {
			if r := utf16.DecodeRune(high, low); r != utf8.RuneError {
				return r, 6, true
			}
		}
		return utf8.RuneError, 3, high >= 0xdc00 || len(b) > 3 && !beginsSurrogate(b[3:])
	}
	if beginsSurrogate(b) {
		return utf8.RuneError, 1, false
	}
	r, size = utf8.DecodeRune(b)
	return r, size, r != utf8.RuneError || size != 1 || utf8.FullRune(b)
}

// surrogate reads a surrogate in three bytes.
func surrogate(b []byte) (rune, bool) {
	if len(b) < 3 || b[0] != 0xed || b[1]&0xe0 != 0xa0 || b[2]&0xc0 != 0x80 {
		return 0, false
	}
	return rune(0xd000) | rune(b[1]&0x3f)<<6 | rune(b[2]&0x3f), true
}

// beginsSurrogate reports whether b is a surrogate that was cut short.
func beginsSurrogate(b []byte) bool {
	return len(b) < 3 && len(b) > 0 && b[0] == 0xed && (len(b) == 1 || b[1]&0xe0 == 0xa0)
}

// unquote is the text of a JSON string: bytes that are not UTF-8 as they came, and halves of surrogate pairs in three
// bytes each, for a joiner to complete. Any other value (null, or nothing) has no text.
func unquote(v jsontext.Value) []byte {
	if v.Kind() != '"' {
		return nil
	}
	v = v[1 : len(v)-1]
	out := make([]byte, 0, len(v))
	for i := 0; i < len(v); i++ {
		if v[i] != '\\' {
			out = append(out, v[i])
			continue
		}
		i++
		switch c := v[i]; c {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			out = appendUnit(out, hex4(v[i+1:i+5]))
			i += 4
		default: // quote, backslash, slash
			out = append(out, c)
		}
	}
	return out
}

func appendUnit(b []byte, unit rune) []byte {
	if utf16.IsSurrogate(unit) {
		return append(b, 0xe0|byte(unit>>12), 0x80|byte(unit>>6)&0x3f, 0x80|byte(unit)&0x3f)
	}
	return utf8.AppendRune(b, unit)
}

// hex4 reads the four digits that a checked JSON string has after \u.
func hex4(digits []byte) (r rune) {
	for _, d := range digits {
		switch {
		case d >= 'a':
			d -= 'a' - 10
		case d >= 'A':
			d -= 'A' - 10
		default:
			d -= '0'
		}
		r = r<<4 | rune(d)
	}
	return r
}

// whole is the text of a JSON string that comes in one piece.
func whole(v jsontext.Value) string {
	var j joiner
	return j.add(unquote(v)) + j.end()
}
