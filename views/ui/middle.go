package ui

import (
	"context"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/a-h/templ"

	"countersign/models"
)

const (
	middleTail  = 20 // characters that stay at the end of a line with no room
	middleShort = 36 // a line as short as this has room everywhere
)

// UntrustedMiddle is Untrusted on one line that loses its middle where there is no room, so
// that beginning and end stay: what tells one command from the next is often at its end. The
// whole text is in its title, and read aloud. A text with anything that is not seen, that
// mixes scripts or runs from right to left is never cut: it takes the lines that it needs.
func UntrustedMiddle(s string) templ.Component {
	at := middleAt(s)
	if models.IsOdd(s) || at == len(s) {
		return Untrusted(s)
	}
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		return write(w, `<bdi class="untrusted middle" title="`, templ.EscapeString(s), `">`, middleOf(s, at), `</bdi>`)
	})
}

// middleOf is a text that may lose the part before its end.
func middleOf(s string, end int) string {
	return `<span class="middle-head">` + templ.EscapeString(s[:end]) + `</span><span class="middle-tail">` +
		templ.EscapeString(s[end:]) + `</span>`
}

// UntrustedParted is a headline: its lead and tail are never cut and take the lines that they need, and the part
// between them loses its middle, as UntrustedMiddle does.
func UntrustedParted(lead, rest, tail string) templ.Component {
	whole := strings.Join(slices.DeleteFunc([]string{lead, rest, tail}, func(s string) bool { return s == "" }), " ")
	if lead == "" && tail == "" || models.IsOdd(whole) {
		return UntrustedMiddle(whole)
	}
	kept := func(part string) string {
		return `<span class="parted-kept">` + templ.EscapeString(part) + `</span>`
	}
	parts := make([]string, 0, 3)
	if lead != "" {
		parts = append(parts, kept(lead))
	}
	switch end := middleAt(rest); {
	case rest == "":
	case end == len(rest):
		parts = append(parts, kept(rest))
	default:
		parts = append(parts, `<span class="middle">`+middleOf(rest, end)+`</span>`)
	}
	if tail != "" {
		parts = append(parts, kept(tail))
	}
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		return write(w, `<bdi class="untrusted parted" title="`, templ.EscapeString(whole), `">`, strings.Join(parts, " "),
			`</bdi>`)
	})
}

// middleAt is where the end of a text begins that stays: before a letter of ASCII, so that no
// letter is parted from its marks. The length of a text that is short, or has no such place.
func middleAt(s string) int {
	if utf8.RuneCountInString(s) <= middleShort {
		return len(s)
	}
	at := len(s)
	for n := 0; at > 0; n++ {
		if n >= middleTail && s[at] < utf8.RuneSelf {
			return at
		}
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return len(s)
}
