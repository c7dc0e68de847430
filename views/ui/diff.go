package ui

import (
	"context"
	"strings"

	"countersign/models"
	"countersign/views"
	"countersign/views/highlight"
)

// MaxDiff is how long two texts may be together, in bytes, to be compared.
const MaxDiff = models.MaxCompared

// MaxDiffLines is how many lines of a comparison a page can bear.
const MaxDiffLines = 2000

const (
	diffContext = 3 // unchanged lines around a change that stay open
	diffGap     = 4 // fewer unchanged lines in a row are not worth a fold
)

// Diff is what a change of text takes away and adds, line by line.
type Diff struct {
	Added, Removed int
	Hunks          []Hunk
	Language       string
}

// Hunk is a run of lines; the lines between two hunks are not known or not shown.
type Hunk struct {
	Title string // what a patch says about its place; empty: none
	Lines []DiffLine
}

// DiffLine is one line with its line feed. Old and New are its numbers on both sides, 0 on a side without it.
type DiffLine struct {
	Sign     byte // ' ', '+' or '-'
	Old, New int
	Text     string
}

// DiffOf compares two texts. Where they are too long together, it is the new
// text as source.
func DiffOf(label, before, after string) Block {
	b := Block{Code: Code{Label: label, Text: after, Numbers: true}}
	if d := NewDiff("", [2]string{before, after}); d != nil && d.Lines() <= MaxDiffLines {
		b.Diff = d
	}
	return b
}

// NewDiff is the change of a file by one or more replacements, each a text and its replacement; nil if they are too
// long to be compared.
func NewDiff(language string, edits ...[2]string) *Diff {
	size := 0
	for _, e := range edits {
		size += len(e[0]) + len(e[1])
	}
	if size > MaxDiff {
		return nil
	}
	return newDiff(language, edits...)
}

func newDiff(language string, edits ...[2]string) *Diff {
	d := &Diff{Language: language}
	for i, e := range edits {
		if e[0] != "" { // an open comment or text may precede a part of a file
			d.Language = ""
		}
		hunk := Hunk{Lines: compare(e[0], e[1])}
		if len(edits) > 1 {
			hunk.Title = "Change " + views.Number(int64(i+1)) + " of " + views.Number(int64(len(edits)))
		}
		d.Hunks = append(d.Hunks, hunk)
	}
	d.count()
	return d
}

func (d *Diff) count() {
	for _, h := range d.Hunks {
		for _, l := range h.Lines {
			switch l.Sign {
			case '+':
				d.Added++
			case '-':
				d.Removed++
			}
		}
	}
}

// compare lines two texts up. The search is bounded: two texts that have little
// in common are soon one taken away and the other added.
func compare(old, fresh string) []DiffLine {
	before, after := models.LineSides(old, fresh)
	var out []DiffLine
	x, y := 0, 0
	same := func(to int) {
		for ; x < to; x, y = x+1, y+1 {
			out = append(out, DiffLine{Sign: ' ', Old: x + 1, New: y + 1, Text: after[y]})
		}
	}
	for _, change := range models.LineChanges(before, after) {
		same(change.Start)
		for ; x < change.End; x++ {
			out = append(out, DiffLine{Sign: '-', Old: x + 1, Text: before[x]})
		}
		for ; y < change.NewEnd; y++ {
			out = append(out, DiffLine{Sign: '+', New: y + 1, Text: after[y]})
		}
	}
	same(len(before))
	return out
}

// coloured are the lines of a hunk in the colours of its language: each side is
// read as a text of its own.
func (d *Diff) coloured(ctx context.Context, h Hunk) [][]highlight.Span {
	sides := [2][][]highlight.Span{}
	for i, skip := range [2]byte{'+', '-'} {
		var b strings.Builder
		for _, l := range h.Lines {
			if l.Sign != skip {
				b.WriteString(strings.TrimRight(l.Text, "\n"))
				b.WriteByte('\n')
			}
		}
		sides[i] = highlight.SplitLines(highlight.Colour(ctx, d.Language, b.String()))
	}
	out := make([][]highlight.Span, len(h.Lines))
	for i, l := range h.Lines {
		for side, skip := range [2]byte{'+', '-'} {
			if l.Sign == skip || len(sides[side]) == 0 {
				continue
			}
			line := sides[side][0]
			sides[side] = sides[side][1:]
			if side == 0 && l.Sign == '-' || side == 1 {
				out[i] = line
			}
		}
	}
	return out
}
