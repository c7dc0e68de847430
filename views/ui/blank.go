package ui

import (
	"fmt"
	"strings"

	"countersign/views/highlight"
)

// mostBlank is how many blank lines in a row are shown: more push what follows out of
// sight, and become a mark with their count, which opens.
const mostBlank = 3

// drawLines writes source line by line. The mark's words are no part of the text, so
// that a copy is exact.
func drawLines(b *strings.Builder, lines [][]highlight.Span, numbered bool) {
	for i := 0; i < len(lines); {
		run := 0
		for i+run < len(lines) && blankLine(lines[i+run]) {
			run++
		}
		if run > mostBlank {
			fmt.Fprintf(b,
				`<details class="blank-lines"><summary data-says="%[1]s blank lines" aria-label="%[1]s blank lines"></summary>`,
				number(run))
		}
		for _, line := range lines[i : i+max(run, 1)] {
			if numbered {
				b.WriteString(`<span class="line">`)
			}
			drawSpans(b, line)
			if numbered {
				b.WriteString(`</span>`)
			}
		}
		if run > mostBlank {
			b.WriteString(`</details>`)
		}
		i += max(run, 1)
	}
}

// longBlank reports whether there is a run that becomes a mark.
func longBlank(lines [][]highlight.Span) bool {
	run := 0
	for _, line := range lines {
		if run++; !blankLine(line) {
			run = 0
		}
		if run > mostBlank {
			return true
		}
	}
	return false
}

// blankLine reports whether a line shows nothing at all.
func blankLine(line []highlight.Span) bool {
	for _, s := range line {
		if strings.Trim(s.Text, " \t\r\n") != "" {
			return false
		}
	}
	return true
}
