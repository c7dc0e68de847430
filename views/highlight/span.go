package highlight

import "strings"

// Span is a stretch of untrusted text of one class; an empty class is plain. No
// text is lost between spans: together they are the text of which they were made.
type Span struct{ Text, Class string }

// SplitAt divides spans behind the first at bytes.
func SplitAt(spans []Span, at int) (head, rest []Span) {
	for i, s := range spans {
		if at < len(s.Text) {
			if at > 0 {
				head = append(head, Span{s.Text[:at], s.Class})
			}
			rest = append(rest, Span{s.Text[at:], s.Class})
			return head, append(rest, spans[i+1:]...)
		}
		head = append(head, s)
		at -= len(s.Text)
	}
	return head, nil
}

// SplitLines regroups spans by line; each line keeps its line feed.
func SplitLines(spans []Span) [][]Span {
	var out [][]Span
	var line []Span
	for _, s := range spans {
		text := s.Text
		for {
			before, after, found := strings.Cut(text, "\n")
			if !found {
				break
			}
			out = append(out, append(line, Span{before + "\n", s.Class}))
			line, text = nil, after
		}
		if text != "" {
			line = append(line, Span{text, s.Class})
		}
	}
	if len(line) > 0 {
		out = append(out, line)
	}
	return out
}
