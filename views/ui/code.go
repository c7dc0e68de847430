package ui

import (
	"context"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/a-h/templ"

	"countersign/models"
	"countersign/views"
	"countersign/views/highlight"
)

// Code is source text from outside, shown as it is: escaped, in logical order,
// nothing left out. What goes beyond the fold opens without script.
type Code struct {
	ID       string // for the copy button; empty: no button
	Label    string
	Size     string // in words; empty: of Text
	Text     string
	Numbers  bool   // number the lines
	Language string // that its words are coloured by, see LanguageOf; empty: none

	// Part names a collapsed part, for those who must have opened it before they approve. With an OpenURL it opens by a
	// POST of part=Part there; without, on the page. OpenInto is the element whose place the answer takes; empty: a
	// page of its own. Opened shows it in full.
	Part     string
	OpenURL  string
	OpenInto string
	Opened   bool

	// WholeURL is where the text can be had whole. With it, only the beginning and the end
	// are drawn of a very long text; without, all of it is.
	WholeURL string

	// End marks the last line for the script that notes when it was in view, and says
	// what it is the end of; empty: it is not noted.
	End string
}

// Block is one box: source text, or the same made for its kind. At most one of
// the pointers is set; Text is the source in any case.
type Block struct {
	Code
	Diff    *Diff
	Address *Address
	Tree    *Tree
	Card    *Card
}

// Folds reports whether a part of the block is folded until somebody opens it.
func (b Block) Folds() bool {
	switch {
	case b.Diff != nil:
		return b.Diff.folds()
	case b.Address != nil, b.Card != nil:
		return false
	case b.Tree != nil:
		return b.Tree.folds()
	}
	return b.Code.Folds()
}

// endsBelow reports whether the end of the block is below the drawn part, and nothing of it is collapsed.
func (b Block) endsBelow() bool {
	drawn := b.Diff != nil || b.Address != nil || b.Tree != nil || b.Card != nil || b.Text == ""
	return drawn && (b.Opened || !b.Folds())
}

// Folds reports whether the text goes beyond the fold.
func (c Code) Folds() bool { return c.fold() < len(c.Text) }

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
	n := c.lines()
	if n == 1 {
		return views.Bytes(len(c.Text))
	}
	return views.Number(int64(n)) + " lines, " + views.Bytes(len(c.Text))
}

func (c Code) lines() int { return strings.Count(c.Text, "\n") + 1 }

// fold is where the text is folded: its length if it all fits.
func (c Code) fold() int {
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
	if at < foldBytes/2 && lines < foldLines && len(c.Text) > foldBytes { // a single line that is too long
		cut, _ := Cut(c.Text[at:], foldBytes-at)
		at += len(cut)
	}
	return at
}

// endDrawn is how many bytes are drawn of the beginning, and of the end, of a text that is
// longer than models.MaxDrawn.
const endDrawn = 64 << 10

// LeftOut is how many bytes in the middle of the text are not drawn.
func (c Code) LeftOut() int {
	if c.WholeURL == "" || len(c.Text) <= models.MaxDrawn {
		return 0
	}
	begin, end := c.ends()
	return len(c.Text) - len(begin) - len(end)
}

// ends are the beginning and the end that are drawn of a text that is too long.
func (c Code) ends() (begin, end string) {
	from, to := endDrawn, len(c.Text)-endDrawn
	for !utf8.RuneStart(c.Text[from]) {
		from--
	}
	for !utf8.RuneStart(c.Text[to]) {
		to++
	}
	return c.Text[:from], c.Text[to:]
}

// spans are the drawn part of the text, in colour.
func (c Code) spans(ctx context.Context) []highlight.Span {
	if c.LeftOut() == 0 {
		return highlight.Colour(ctx, c.Language, c.Text)
	}
	begin, end := c.ends()
	return []highlight.Span{
		{Text: begin}, {Text: "\n… " + views.Bytes(c.LeftOut()) + " are left out here …\n", Class: "left-out"}, {Text: end},
	}
}

// parts is the text in colour, the part before the fold and the one behind it.
func (c Code) parts(ctx context.Context) (head, rest []highlight.Span) {
	spans := c.spans(ctx)
	if c.Opened {
		return spans, nil
	}
	return highlight.SplitAt(spans, c.fold())
}

// restSays is the label of the button that opens the part behind the fold.
func (c Code) restSays() string {
	if left := c.LeftOut(); left > 0 {
		return "Show more of the beginning, and the end: " + views.Bytes(len(c.Text)-left) + " of " + views.Bytes(len(c.Text))
	}
	return "Show the rest: " + views.Bytes(len(c.Text)-c.fold()) + " of " + views.Bytes(len(c.Text))
}

// numbered reports whether lines are numbered.
func (c Code) numbered() bool {
	n := strings.Count(c.Text, "\n")
	return c.Numbers && n > 0 && n < numberLines && c.LeftOut() == 0
}

// opens are the attributes of the form that opens the fold.
func (c Code) opens() templ.Attributes {
	attributes := templ.Attributes{"method": "post", "action": c.OpenURL}
	if c.OpenInto != "" {
		attributes["hx-post"], attributes["hx-target"], attributes["hx-swap"] = c.OpenURL, c.OpenInto, "outerMorph"
	}
	return attributes
}

// source writes one stretch of text, and marks its end if that is to be noted.
func source(text []highlight.Span, numbered bool, end string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		if !numbered {
			b.WriteString(`<pre><code>`)
			if lines := highlight.SplitLines(text); longBlank(lines) {
				drawLines(&b, lines, false)
			} else {
				drawSpans(&b, text)
			}
			b.WriteString(endMark(end))
			b.WriteString(`</code></pre>`)
			return write(w, b.String())
		}
		b.WriteString(`<pre class="numbered"><code>`)
		drawLines(&b, highlight.SplitLines(text), true)
		b.WriteString(endMark(end))
		b.WriteString(`</code></pre>`)
		return write(w, b.String())
	})
}

// endMark lies over the last line of its part, inside all boxes that scroll.
func endMark(of string) string {
	if of == "" {
		return ""
	}
	return `<span class="seen-end" data-seen-end="` + templ.EscapeString(of) + `"></span>`
}

// EndMark marks the end of a part that is no code; empty: it is not noted.
func EndMark(of string) templ.Component { return templ.Raw(endMark(of)) }

func number(n int) string { return views.Number(int64(n)) }
