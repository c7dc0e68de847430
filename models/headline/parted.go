package headline

import (
	"unicode"
	"unicode/utf8"
)

// parted is a text without its middle: however often it is cut, the missing part is counted against the original text.
type parted struct {
	begin, end string
	gap        int // characters between them; 0: begin is all of it
}

// String is the text, and how much of it is missing.
func (p parted) String() string {
	if p.gap == 0 {
		return p.begin
	}
	return p.begin + " … " + counted(p.gap, "character") + " … " + p.end
}

// within is at most that many characters of the text, more of them from its beginning.
func (p parted) within(most int) parted {
	begin, end := []rune(p.begin), []rune(p.end)
	if p.gap == 0 {
		if utf8.RuneCountInString(p.begin) <= most {
			return p
		}
		end = begin
	}
	if len(begin)+len(end) <= most && p.gap > 0 {
		return p
	}
	first := min(most*3/5, len(begin))
	last := max(len(end)-(most-most*3/5), 0)
	// A mark belongs to the letter before it.
	for last < len(end) && unicode.Is(unicode.M, end[last]) {
		last++
	}
	for first > 0 && first < len(begin) && unicode.Is(unicode.M, begin[first]) {
		first--
	}
	if p.gap == 0 {
		return parted{begin: string(begin[:first]), end: string(end[last:]), gap: last - first}
	}
	return parted{begin: string(begin[:first]), end: string(end[last:]), gap: len(begin) - first + p.gap + last}
}
