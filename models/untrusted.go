package models

import (
	"fmt"
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
	Direction int // reorder what is shown (bidirectional controls)
	ZeroWidth int // join, split or hide without a width
	Tags      int // U+E0000 block: text that only a program reads
	Control   int // terminal and device controls
	Spaces    int // look like a space, or like nothing
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
		{f.Spaces, "unusual space"},
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

// Reveal splits untrusted text into what may be shown as it is and visible
// escapes such as ⟨U+202E⟩ for what would not be seen (I13). Nothing is dropped:
// the segments stand for every byte of s. Line feed and tab stay as they are
// when lines is true and are escaped otherwise. The bracket that opens an escape
// is itself escaped, so that text cannot imitate one.
func Reveal(s string, lines bool) ([]Segment, Findings) {
	var (
		out   []Segment
		found Findings
		plain = 0 // where the current ordinary stretch began
	)
	for i := 0; i < len(s); {
		if c := s[i]; c >= 0x20 && c < 0x7f || lines && (c == '\n' || c == '\t') {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		escape := ""
		if r == utf8.RuneError && size == 1 {
			found.Other++
			escape = fmt.Sprintf("⟨0x%02X⟩", s[i])
		} else if count := found.counter(r); count != nil {
			*count++
			escape = fmt.Sprintf("⟨U+%04X⟩", r)
		} else if r == '⟨' {
			escape = "⟨U+27E8⟩"
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

// counter is where a character that must be escaped is counted, or nil for one
// that may be shown.
func (f *Findings) counter(r rune) *int {
	switch {
	case r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069, r == 0x200E, r == 0x200F, r == 0x061C:
		return &f.Direction
	case r >= 0xE0000 && r <= 0xE0FFF:
		return &f.Tags
	case unicode.Is(zeroWidth, r):
		return &f.ZeroWidth
	case unicode.Is(unicode.Cc, r):
		return &f.Control
	case r != ' ' && unicode.IsSpace(r), r == 0x2800, r == 0x3164, r == 0xFFA0, r == 0x115F, r == 0x1160, unicode.In(r, unicode.Zs) && r != ' ':
		return &f.Spaces
	case unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs), !unicode.IsGraphic(r):
		return &f.Other
	}
	return nil
}

// zeroWidth holds what has no width of its own, beyond the direction controls:
// joiners, fillers and variation selectors, which can carry hidden data.
var zeroWidth = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x00AD, Hi: 0x00AD, Stride: 1},
		{Lo: 0x034F, Hi: 0x034F, Stride: 1},
		{Lo: 0x17B4, Hi: 0x17B5, Stride: 1},
		{Lo: 0x180B, Hi: 0x180F, Stride: 1},
		{Lo: 0x200B, Hi: 0x200D, Stride: 1},
		{Lo: 0x2060, Hi: 0x2065, Stride: 1},
		{Lo: 0x206A, Hi: 0x206F, Stride: 1},
		{Lo: 0xFE00, Hi: 0xFE0F, Stride: 1},
		{Lo: 0xFEFF, Hi: 0xFEFF, Stride: 1},
		{Lo: 0xFFF9, Hi: 0xFFFB, Stride: 1},
	},
	R32:         []unicode.Range32{{Lo: 0x1BCA0, Hi: 0x1BCA3, Stride: 1}, {Lo: 0x1D173, Hi: 0x1D17A, Stride: 1}},
	LatinOffset: 1,
}
