package models

import (
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"
)

// counter is where a character that must be escaped is counted, or nil for one
// that may be shown.
func (f *Findings) counter(r rune) *int {
	switch {
	case r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069, r == 0x200E, r == 0x200F, r == 0x061C:
		return &f.Direction
	case r >= 0xE0000 && r <= 0xE0FFF:
		return &f.Tags
	case unicode.Is(blankGlyphs, r), r != ' ' && unicode.In(r, unicode.Z):
		return &f.Spaces
	case unicode.Is(unicode.Cc, r):
		return &f.Control
	case unicode.IsLetter(r):
		return nil // the letters that are blank were above
	case unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return &f.ZeroWidth
	case unicode.Is(unicode.Cf, r):
		if unicode.Is(visibleFormats, r) {
			return &f.Other
		}
		return &f.ZeroWidth
	case !unicode.IsGraphic(r):
		return &f.Other
	}
	return nil
}

// blankGlyphs are characters that typefaces draw as nothing, though Unicode counts
// them as letters, marks or signs. A test draws all of Unicode to find others.
var blankGlyphs = tableOf(
	0x115F, // Hangul fillers
	0x1160,
	0x3164,
	0xFFA0,
	0x17B4, // Khmer inherent vowels
	0x17B5,
	0x2800,  // Braille without dots
	0xFFFC,  // the placeholder of an object
	0x16FE4, // Khitan filler
	0x1D159, // a note without a head
)

// visibleFormats are format characters that have a shape: they lie around digits,
// or number a line of old script.
var visibleFormats = unicode.Prepended_Concatenation_Mark

func tableOf(runes ...rune) *unicode.RangeTable {
	slices.Sort(runes)
	t := &unicode.RangeTable{}
	for _, r := range runes {
		if r <= 0xFFFF {
			t.R16 = append(t.R16, unicode.Range16{Lo: uint16(r), Hi: uint16(r), Stride: 1})
			continue
		}
		t.R32 = append(t.R32, unicode.Range32{Lo: uint32(r), Hi: uint32(r), Stride: 1})
	}
	return t
}

// set holds characters below U+10000.
type set [1 << 10]uint64

func (s *set) has(r rune) bool { return s[r>>6]&(1<<(r&63)) != 0 }

// plainCharacters are the characters of most texts: they are always shown unchanged.
var plainCharacters = sync.OnceValue(func() *set {
	var out set
	for r := rune(0x80); r < 1<<16; r++ {
		if (&Findings{}).counter(r) == nil && r != '⟨' && !unicode.Is(unicode.M, r) {
			out[r>>6] |= 1 << (r & 63)
		}
	}
	return &out
})

// RightToLeftNote says how a text is shown that a browser would reorder.
const RightToLeftNote = "contains right-to-left letters, shown in stored order"

// HasRightToLeft reports whether a text has letters or digits that are written from right to left, which reorder the
// text around them where nothing stops them.
func HasRightToLeft(s string) bool {
	for i := 0; i < len(s); {
		if s[i] < 0xD6 { // below U+0580, or within a character
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if rightToLeft(r) {
			return true
		}
		i += size
	}
	return false
}

// rightToLeft is by the blocks that Unicode keeps for such scripts (UAX #9).
func rightToLeft(r rune) bool {
	return r >= 0x0590 && r <= 0x08FF || r >= 0xFB1D && r <= 0xFDFF || r >= 0xFE70 && r <= 0xFEFE ||
		r >= 0x10800 && r <= 0x10FFF || r >= 0x1E800 && r <= 0x1EFFF
}

// StoredOrder is RevealName for a place that has no styling and may reorder, such as the title of a window: controls
// around right-to-left letters keep them in the order in which they are stored.
func StoredOrder(s string) string {
	return keepOrder(RevealName(s))
}

// keepOrder puts the controls around text that has none left.
func keepOrder(shown string) string {
	if !HasRightToLeft(shown) {
		return shown
	}
	const isolate, override, end, endIsolate = "\u2066", "\u202D", "\u202C", "\u2069"
	return isolate + override + shown + end + endIsolate
}
