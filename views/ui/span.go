package ui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"countersign/models"
)

// span is a stretch of untrusted text of one class; an empty class is plain. No
// text is lost between spans: together they are what they were made from.
type span struct{ text, class string }

// drawSpans writes spans through the renderer of untrusted text (I13). Marks on a
// letter stay with their letter, wherever a span ends.
func drawSpans(b *strings.Builder, spans []span) {
	for i, s := range spans {
		if i > 0 {
			s.text = s.text[leadingMarks(s.text):]
		}
		if i+1 < len(spans) {
			s.text += spans[i+1].text[:leadingMarks(spans[i+1].text)]
		}
		if s.text == "" {
			continue
		}
		if s.class != "" {
			b.WriteString(`<span class="`)
			b.WriteString(s.class)
			b.WriteString(`">`)
		}
		segments, _ := models.Reveal(s.text, true)
		b.WriteString(markup(segments))
		if s.class != "" {
			b.WriteString(`</span>`)
		}
	}
}

// leadingMarks is how many bytes from the beginning of s are combining marks.
func leadingMarks(s string) int {
	if s == "" || s[0] < utf8.RuneSelf {
		return 0
	}
	return run(s, unicode.IsMark)
}

// splitAt divides spans behind the first at bytes.
func splitAt(spans []span, at int) (head, rest []span) {
	for i, s := range spans {
		if at < len(s.text) {
			if at > 0 {
				head = append(head, span{s.text[:at], s.class})
			}
			rest = append(rest, span{s.text[at:], s.class})
			return head, append(rest, spans[i+1:]...)
		}
		head = append(head, s)
		at -= len(s.text)
	}
	return head, nil
}

// splitLines regroups spans by line; each line keeps its line feed.
func splitLines(spans []span) [][]span {
	var out [][]span
	var line []span
	for _, s := range spans {
		text := s.text
		for {
			before, after, found := strings.Cut(text, "\n")
			if !found {
				break
			}
			out = append(out, append(line, span{before + "\n", s.class}))
			line, text = nil, after
		}
		if text != "" {
			line = append(line, span{text, s.class})
		}
	}
	if len(line) > 0 {
		out = append(out, line)
	}
	return out
}
