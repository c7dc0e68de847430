package highlight

import (
	"strings"

	"github.com/alecthomas/chroma/v2"
)

// sure is how far a text holds nothing that its language, or one that is written
// like it, could read in another way.
func (l *lexicon) sure(text string) int {
	end := len(text)
	for _, doubt := range l.doubts {
		if i := strings.Index(text[:end], doubt); i >= 0 {
			end = i
		}
	}
	for _, refusal := range l.refuses {
		if i := strings.Index(text, refusal); i > 0 || i == 0 && refusal != phpOpen {
			return 0
		}
	}
	for i, c := range text[:end] {
		if endsLine(c) && (c != '\r' || !strings.HasPrefix(text[i:], "\r\n")) {
			return i
		}
	}
	return end
}

// endsLine reports whether some languages read a line's end, or nothing at all, where others read a character: the text
// behind it may be code.
func endsLine(c rune) bool {
	return c < ' ' && c != '\n' && c != '\t' || c == 0x7f || c == 0x85 || c == 0x2028 || c == 0x2029
}

// begins reports whether a word begins here: in a shell behind a blank or the end
// of a command, elsewhere behind a blank.
func (r *reading) begins() bool {
	if r.at == 0 {
		return true
	}
	ends := " \t\n"
	if r.shell {
		ends = " \t\n;&|"
	}
	return r.at != r.escape && strings.IndexByte(ends, r.text[r.at-1]) >= 0
}

// lineBegins reports whether only blanks precede this on its line.
func (r *reading) lineBegins() bool {
	line := r.text[strings.LastIndexByte(r.text[:r.at], '\n')+1 : r.at]
	return strings.TrimLeft(line, " \t") == ""
}

func (r *reading) comment(rest string) (chroma.TokenType, bool) {
	opener, closer, _ := strings.Cut(r.block, " ")
	if opener != "" && strings.HasPrefix(rest, opener) {
		return r.blockComment(rest, opener, closer), true
	}
	for _, opener := range r.lines {
		if !strings.HasPrefix(rest, opener) {
			continue
		}
		switch {
		case r.place == behindBlank && !r.begins():
			return 0, false // within a word
		case r.place == behindBlankOnly && !r.begins(),
			r.place == lineStart && !r.lineBegins(),
			r.blank && len(rest) > len(opener) && strings.IndexByte(" \t\n", rest[len(opener)]) < 0,
			len(r.outer) > 0:
			return r.lose(), true
		}
		end := strings.IndexByte(rest, '\n')
		if end < 0 {
			end = len(rest)
		}
		r.at += end
		// In some languages a backslash takes the next line into the comment.
		r.lost = !r.shell && strings.HasSuffix(strings.TrimRight(rest[:end], " \t\r"), `\`)
		return chroma.Comment, true
	}
	return 0, false
}

// blockComment reads one that ends at its closer in every language. Some nest
// them, and others do not.
func (r *reading) blockComment(rest, opener, closer string) chroma.TokenType {
	body := rest[len(opener):]
	n := strings.Index(body, closer)
	if n < 0 || r.place != anyPlace && !r.begins() {
		return r.lose()
	}
	if inner := strings.Index(body[:n], opener); inner >= 0 {
		r.at += len(opener) + inner
		r.lost = true
		return chroma.Comment
	}
	r.at += len(opener) + n + len(closer)
	return chroma.Comment
}
