package ui

import (
	"context"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/a-h/templ"

	"countersign/models"
	"countersign/views/highlight"
)

// chunk is a run of a hunk's lines that is shown or folded together.
type chunk struct {
	hunk     int
	from, to int
	title    bool // the hunk's title comes before it
	fold     bool // unchanged, and far from the changes
}

// chunks are the lines as they are shown at once, and those beyond the fold.
func (d *Diff) chunks() (open, rest []chunk) {
	lines, bytes := 0, 0
	for i, h := range d.Hunks {
		for _, c := range h.chunks(i) {
			for at := c.from; at < c.to && !c.fold && len(rest) == 0; at++ {
				lines++
				if bytes += len(h.Lines[at].Text); lines > foldLines || bytes > foldBytes {
					if at > c.from || c.title {
						open = append(open, chunk{hunk: i, from: c.from, to: at, title: c.title})
					}
					rest = append(rest, chunk{hunk: i, from: at, to: c.to})
				}
			}
			switch {
			case len(rest) == 0:
				open = append(open, c)
			case rest[0].hunk != i || rest[0].to != c.to:
				rest = append(rest, c)
			}
		}
	}
	return open, rest
}

// chunks of one hunk: unchanged lines fold where there are many in a row.
func (h Hunk) chunks(index int) []chunk {
	keep := make([]bool, len(h.Lines))
	for i, l := range h.Lines {
		if l.Sign != ' ' {
			for j := max(0, i-diffContext); j < min(len(h.Lines), i+diffContext+1); j++ {
				keep[j] = true
			}
		}
	}
	var out []chunk
	for at := 0; at < len(h.Lines); {
		end := at
		for end < len(h.Lines) && keep[end] == keep[at] {
			end++
		}
		fold := !keep[at] && end-at >= diffGap
		if n := len(out); n > 0 && !fold && !out[n-1].fold {
			out[n-1].to = end
		} else {
			out = append(out, chunk{hunk: index, from: at, to: end, fold: fold})
		}
		at = end
	}
	if h.Title != "" {
		if len(out) == 0 || out[0].fold {
			out = slices.Insert(out, 0, chunk{hunk: index})
		}
		out[0].title = true
	}
	return out
}

func (d *Diff) folds() bool {
	open, rest := d.chunks()
	return len(rest) > 0 || slices.ContainsFunc(open, func(c chunk) bool { return c.fold })
}

// Lines is how many lines there are to show.
func (d *Diff) Lines() int {
	n := 0
	for _, h := range d.Hunks {
		n += len(h.Lines)
	}
	return n
}

// diffLines writes chunks; folded ones in full with open, or else on the page,
// or with here false as a line that says how many they are.
func diffLines(d *Diff, chunks []chunk, open, here bool) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		var b strings.Builder
		var (
			coloured [][]highlight.Span
			marks    [][]mark
		)
		last := -1
		for _, c := range chunks {
			if c.hunk != last {
				coloured, marks, last = d.coloured(ctx, d.Hunks[c.hunk]), d.Hunks[c.hunk].marks(), c.hunk
			}
			h := d.Hunks[c.hunk]
			if c.title {
				b.WriteString(`<div class="diff-title">`)
				drawSpans(&b, []highlight.Span{{Text: h.Title}})
				b.WriteString(`</div>`)
			}
			same := number(c.to-c.from) + " unchanged lines"
			switch {
			case !c.fold || open:
				h.draw(&b, c, coloured, marks)
			case here:
				b.WriteString(`<details class="diff-fold"><summary>` + same + `</summary>`)
				h.draw(&b, c, coloured, marks)
				b.WriteString(`</details>`)
			default:
				b.WriteString(`<div class="diff-title">` + same + `</div>`)
			}
		}
		return write(w, b.String())
	})
}

// draw writes lines: their numbers for the eye, their sign and text for all.
func (h Hunk) draw(b *strings.Builder, c chunk, coloured [][]highlight.Span, marks [][]mark) {
	for i := c.from; i < c.to; i++ {
		l := h.Lines[i]
		name, sign := "div", " "
		switch l.Sign {
		case '+':
			name, sign = "ins", "+"
		case '-':
			name, sign = "del", "−"
		}
		b.WriteString("<" + name + ` class="dl"`)
		lineNumber(b, " data-old", l.Old)
		b.WriteString(`><span class="ds"`)
		lineNumber(b, " data-new", l.New)
		b.WriteString(`>` + sign + `</span><code>`)
		line := []highlight.Span{{Text: strings.TrimRight(l.Text, "\n")}}
		if coloured[i] != nil {
			line = coloured[i]
		}
		drawMarked(b, line, marks[i])
		if strings.HasSuffix(l.Text, models.NoLineFeed) {
			b.WriteString(`<span class="quiet"> (no newline at the end)</span>`)
		}
		b.WriteString("</code></" + name + ">")
	}
}

func lineNumber(b *strings.Builder, name string, n int) {
	if n > 0 {
		b.WriteString(name + `="` + strconv.Itoa(n) + `"`)
	}
}

// drawMarked writes one line with the ranges that are marked in it.
func drawMarked(b *strings.Builder, line []highlight.Span, marks []mark) {
	if n := len(line); n > 0 {
		line[n-1].Text = strings.TrimSuffix(line[n-1].Text, "\n")
	}
	at := 0
	for _, m := range marks {
		var head, mid []highlight.Span
		head, line = highlight.SplitAt(line, m.from-at)
		mid, line = highlight.SplitAt(line, m.to-m.from)
		at = m.to
		drawSpans(b, head)
		b.WriteString("<mark>")
		drawSpans(b, mid)
		b.WriteString("</mark>")
	}
	drawSpans(b, line)
}

// Count says how many lines a change adds and takes away: "+12 −3".
func (d *Diff) Count() string {
	return "+" + number(d.Added) + " −" + number(d.Removed)
}
