package models

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Segment is a stretch of text that may be shown as it is: either ordinary
// text, or the visible escape of one character that would not be seen.
type Segment struct {
	Text   string
	Escape bool
}

// Findings counts the characters of a text that a reader would not see, by what
// they can do to the reader.
type Findings struct {
	Direction int // reorder the text (bidirectional controls)
	ZeroWidth int // join, split or hide without a width
	Tags      int // U+E0000 block: text that only a program reads
	Control   int // terminal and device controls
	Spaces    int // look like a space, or like nothing
	Marks     int // stacked beyond what one letter carries, or on no letter
	Other     int // private, unassigned, broken or reserved
}

// Any reports whether anything was found.
func (f Findings) Any() bool { return f != Findings{} }

// String is one warning in words, or empty: "2 direction controls, 1 tag
// character".
func (f Findings) String() string {
	var parts []string
	for _, p := range [...]struct {
		n   int
		one string
	}{
		{f.Direction, "direction control"},
		{f.Tags, "tag character"},
		{f.ZeroWidth, "zero-width character"},
		{f.Control, "control character"},
		{f.Spaces, "blank character"},
		{f.Marks, "stacked mark"},
		{f.Other, "unprintable character"},
	} {
		switch {
		case p.n == 1:
			parts = append(parts, "1 "+p.one)
		case p.n > 1:
			parts = append(parts, fmt.Sprintf("%d %ss", p.n, p.one))
		}
	}
	return strings.Join(parts, ", ")
}

// Reveal splits untrusted text into parts that may be shown unchanged and visible escapes such as ⟨U+202E⟩ for
// invisible characters (I13). Nothing is dropped: the segments represent every byte of s. Line feed and tab stay
// unchanged when lines is true and are escaped otherwise. Of the marks on a letter the first MaxMarks stay. The bracket
// that opens an escape is itself escaped, so that text cannot imitate one.
func Reveal(s string, lines bool) ([]Segment, Findings) {
	var (
		out   []Segment
		found Findings
		plain = 0 // where the current ordinary stretch began
		on    marks
	)
	for i := 0; i < len(s); {
		if i = skipASCII(s, i, lines); i == len(s) {
			break
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if r < 1<<16 && r != utf8.RuneError && plainCharacters().has(r) {
			i += size
			continue
		}
		escape := ""
		if r == utf8.RuneError && size == 1 {
			found.Other++
			escape = fmt.Sprintf("⟨0x%02X⟩", s[i])
		} else if r == '⟨' {
			escape = "⟨U+27E8⟩"
		} else if count := found.counter(r); count != nil {
			*count++
			escape = fmt.Sprintf("⟨U+%04X⟩", r)
		} else if unicode.Is(unicode.M, r) && !on.carry(s[plain:i], i, size) {
			found.Marks++
			escape = fmt.Sprintf("⟨U+%04X⟩", r)
		}
		if escape != "" {
			if plain < i {
				out = append(out, Segment{Text: s[plain:i]})
			}
			out = append(out, Segment{Text: escape, Escape: true})
			plain = i + size
		}
		i += size
	}
	if plain < len(s) {
		out = append(out, Segment{Text: s[plain:]})
	}
	return out, found
}

// skipASCII is where the ordinary characters of ASCII from i end.
func skipASCII(s string, i int, lines bool) int {
	for ; i < len(s); i++ {
		if c := s[i]; (c < 0x20 || c >= 0x7f) && (!lines || c != '\n' && c != '\t') {
			break
		}
	}
	return i
}

// RevealString is Reveal as one string, for surfaces that have no styling.
func RevealString(s string, lines bool) string {
	segments, _ := Reveal(s, lines)
	if len(segments) == 1 && !segments[0].Escape {
		return s
	}
	var b strings.Builder
	for _, seg := range segments {
		b.WriteString(seg.Text)
	}
	return b.String()
}

// IsOdd reports whether a text is drawn as more than its letters: with escapes, or a note that no cut may hide.
func IsOdd(s string) bool {
	segments, _ := Reveal(s, false)
	return ScriptNote(s) != "" || HasRightToLeft(s) || slices.ContainsFunc(segments, func(seg Segment) bool { return seg.Escape })
}
