package models

import "unicode/utf8"

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
