package ui

import (
	"context"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/a-h/templ"

	"countersign/models"
)

// Untrusted shows one line of text from outside, in the order that it is stored in
// (I13). Where a word in it mixes scripts, or letters run from right to left, that
// is said behind it.
func Untrusted(s string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		segments, _ := models.Reveal(s, false)
		class, note := storedOrder(s)
		return write(w, `<bdi class="untrusted`, class, `">`, markup(segments), `</bdi>`, mixed(s), note)
	})
}

// mixed says which scripts a text mixes, or that it has look-alikes; empty if it does not.
func mixed(s string) string {
	note := models.ScriptNote(s)
	if note == "" {
		return ""
	}
	return ` <span class="mixed">` + templ.EscapeString(note) + `</span>`
}

// UntrustedCut is Untrusted of the first most characters; when some are left out the true length follows them. Use it
// only where the whole text is one click away.
func UntrustedCut(s string, most int) templ.Component {
	cut, length := Cut(s, most)
	if length <= most {
		return Untrusted(s)
	}
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		if err := Untrusted(cut).Render(ctx, w); err != nil {
			return err
		}
		return write(w, `<span class="cut">… `, number(length), ` characters</span>`)
	})
}

// UntrustedText shows text from outside with its line breaks.
func UntrustedText(s string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		segments, _ := models.Reveal(s, true)
		class, note := storedOrder(s)
		return write(w, `<bdi class="untrusted lines`, class, `">`, markup(segments), `</bdi>`, note)
	})
}

// Cut returns the first most characters of s, and how many s has.
func Cut(s string, most int) (cut string, length int) {
	if len(s) <= most {
		return s, utf8.RuneCountInString(s)
	}
	n := 0
	for i := range s {
		if n == most {
			return s[:i], utf8.RuneCountInString(s)
		}
		n++
	}
	return s, n
}

func markup(segments []models.Segment) string {
	if len(segments) == 1 && !segments[0].Escape {
		return templ.EscapeString(segments[0].Text)
	}
	var b strings.Builder
	for _, seg := range segments {
		if !seg.Escape {
			b.WriteString(templ.EscapeString(seg.Text))
			continue
		}
		b.WriteString(`<span class="unseen">`)
		b.WriteString(seg.Text)
		b.WriteString(`</span>`)
	}
	return b.String()
}

func write(w io.Writer, parts ...string) error {
	for _, p := range parts {
		if _, err := io.WriteString(w, p); err != nil {
			return err
		}
	}
	return nil
}

// Quoted is UntrustedCut between quotation marks: a claim, not a fact.
func Quoted(s string, most int) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		if err := write(w, `<q>`); err != nil {
			return err
		}
		if err := UntrustedCut(s, most).Render(ctx, w); err != nil {
			return err
		}
		return write(w, `</q>`)
	})
}
