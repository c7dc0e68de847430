package ui

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"countersign/models"
	"countersign/views/highlight"
)

// drawSpans writes spans through the renderer of untrusted text (I13). Marks on a
// letter stay with their letter, wherever a span ends.
func drawSpans(b *strings.Builder, spans []highlight.Span) {
	for i, s := range spans {
		if i > 0 {
			s.Text = s.Text[leadingMarks(s.Text):]
		}
		if i+1 < len(spans) {
			s.Text += spans[i+1].Text[:leadingMarks(spans[i+1].Text)]
		}
		if s.Text == "" {
			continue
		}
		if s.Class != "" {
			b.WriteString(`<span class="`)
			b.WriteString(s.Class)
			b.WriteString(`">`)
		}
		segments, _ := models.Reveal(s.Text, true)
		b.WriteString(markup(segments))
		if s.Class != "" {
			b.WriteString(`</span>`)
		}
	}
}

// leadingMarks is how many bytes from the beginning of s are combining marks.
func leadingMarks(s string) int {
	if s == "" || s[0] < utf8.RuneSelf {
		return 0
	}
	return highlight.Run(s, unicode.IsMark)
}
