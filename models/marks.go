package models

import (
	"unicode"
	"unicode/utf8"
)

// MaxMarks is how many combining marks on one letter are drawn. No language needs more; stacked higher they cover the
// text around them.
const MaxMarks = 4

// marks counts the combining marks on the last letter of a text.
type marks struct {
	n   int
	end int // where the last mark that was drawn ends
}

// carry reports whether the letter before may carry one more mark, at the place at and size bytes long. The stretch
// before it is drawn unchanged. Spaces, punctuation and escapes carry none.
func (m *marks) carry(before string, at, size int) bool {
	if m.end != at || m.n == 0 {
		base, _ := utf8.DecodeLastRuneInString(before)
		if before == "" || !unicode.In(base, unicode.L, unicode.N, unicode.S) {
			return false
		}
		m.n = 0
	}
	if m.n == MaxMarks {
		return false
	}
	m.n++
	m.end = at + size
	return true
}
