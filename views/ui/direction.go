package ui

import (
	"context"
	"io"
	"strings"

	"github.com/a-h/templ"

	"countersign/models"
)

// What a preview says of itself.
const (
	PreviewDecided = "Preview. You are approving the source."
	PreviewQuoted  = "Preview in natural direction. The source is above."
)

const rightToLeftClass = " right-to-left"

// storedOrder is the class of a text with right-to-left letters, and the note
// behind it; both empty for other text.
func storedOrder(s string) (class, note string) {
	if !models.HasRightToLeft(s) {
		return "", ""
	}
	return rightToLeftClass, ` <span class="stored-order">` + models.RightToLeftNote + `</span>`
}

// Prose shows text from outside with its line breaks; where letters run from right
// to left, once more below it as its writer saw it.
func Prose(s, says string) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		if err := UntrustedText(s).Render(ctx, w); err != nil {
			return err
		}
		return NaturalView(s, says).Render(ctx, w)
	})
}

// NaturalView shows text in its natural direction, each paragraph separately, under words that say that it is a
// preview. It is nothing for text without right-to-left letters.
func NaturalView(s, says string) templ.Component {
	if !models.HasRightToLeft(s) {
		return templ.NopComponent
	}
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		b.WriteString(`<span class="preview"><span class="preview-label">` + templ.EscapeString(says) +
			`</span><span class="natural">`)
		for paragraph := range strings.SplitSeq(s, "\n") {
			segments, _ := models.Reveal(paragraph, true)
			b.WriteString(`<bdi class="paragraph" dir="auto">` + markup(segments) + `</bdi>`)
		}
		b.WriteString(`</span></span>`)
		return write(w, b.String())
	})
}

// rightToLeft reports whether any text of the block has right-to-left letters.
func (b Block) rightToLeft() bool {
	if models.HasRightToLeft(b.Text) {
		return true
	}
	if b.Diff == nil {
		return false
	}
	for _, h := range b.Diff.Hunks {
		if models.HasRightToLeft(h.Title) {
			return true
		}
		for _, l := range h.Lines {
			if models.HasRightToLeft(l.Text) {
				return true
			}
		}
	}
	return false
}
