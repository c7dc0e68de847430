package ui

import (
	"context"
	"io"
	"strings"

	"github.com/a-h/templ"

	"countersign/models"
	"countersign/views"
)

// Code is source text from outside, shown as it is: escaped, in logical order,
// nothing left out. What goes beyond the fold opens without script.
type Code struct {
	ID      string // for the copy button; empty: no button
	Label   string
	Size    string // in words; empty: of Text
	Text    string
	Numbers bool // number the lines
}

// Where the fold is: what fits a screen stays open.
const (
	foldLines = 60
	foldBytes = 6000
	// Beyond numberLines, a span for each would cost more than it tells.
	numberLines = 2000
)

// size says how long the whole text is.
func (c Code) size() string {
	if c.Size != "" {
		return c.Size
	}
	n := strings.Count(c.Text, "\n") + 1
	if n == 1 {
		return views.Bytes(len(c.Text))
	}
	return views.Number(int64(n)) + " lines, " + views.Bytes(len(c.Text))
}

// fold splits the text where it is folded; rest is empty if it all fits.
func (c Code) fold() (head, rest string) {
	at, lines := 0, 0
	for at < len(c.Text) {
		next := strings.IndexByte(c.Text[at:], '\n')
		if next < 0 {
			next = len(c.Text) - at
		} else {
			next++
		}
		if lines == foldLines || at+next > foldBytes {
			break
		}
		at += next
		lines++
	}
	if at == 0 && len(c.Text) > foldBytes { // one line that is too long by itself
		cut, _ := Cut(c.Text, foldBytes)
		at = len(cut)
	}
	return c.Text[:at], c.Text[at:]
}

// numbered reports whether lines are numbered.
func (c Code) numbered() bool {
	n := strings.Count(c.Text, "\n")
	return c.Numbers && n > 0 && n < numberLines
}

// source writes one block; first is the number of its first line.
func source(text string, numbered bool) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		segments, _ := models.Reveal(text, true)
		if !numbered {
			return write(w, `<pre><code>`, markup(segments), `</code></pre>`)
		}
		if err := write(w, `<pre class="numbered"><code>`); err != nil {
			return err
		}
		for _, line := range splitLines(segments) {
			if err := write(w, `<span class="line">`, markup(line), `</span>`); err != nil {
				return err
			}
		}
		return write(w, `</code></pre>`)
	})
}

// splitLines regroups segments by line; each line keeps its line feed.
func splitLines(segments []models.Segment) [][]models.Segment {
	var out [][]models.Segment
	var line []models.Segment
	for _, seg := range segments {
		text := seg.Text
		for !seg.Escape {
			before, after, found := strings.Cut(text, "\n")
			if !found {
				break
			}
			out = append(out, append(line, models.Segment{Text: before + "\n"}))
			line, text = nil, after
		}
		if text != "" {
			line = append(line, models.Segment{Text: text, Escape: seg.Escape})
		}
	}
	if len(line) > 0 {
		out = append(out, line)
	}
	return out
}

func number(n int) string { return views.Number(int64(n)) }
