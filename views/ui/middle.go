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
// mixes scripts or runs from right to left does not lose its middle.
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

// PartsFit reports whether a headline's lead and tail have room everywhere on one line.
func PartsFit(lead, tail string) bool {
	return utf8.RuneCountInString(lead)+utf8.RuneCountInString(tail) <= middleShort
}

// UntrustedParted is a headline on one line: where there is no room the part between lead and tail loses its middle
// first, as UntrustedMiddle does, then the names in the lead but the last one are cut, and last of all that one and the
// tail. Of each some letters stay.
func UntrustedParted(lead, rest, tail string) templ.Component {
	whole := strings.Join(slices.DeleteFunc([]string{lead, rest, tail}, func(s string) bool { return s == "" }), " ")
	if lead == "" && tail == "" || models.IsOdd(whole) {
		return UntrustedMiddle(whole)
	}
	parts := make([]string, 0, 4)
	add := func(class, text string) {
		if text != "" {
			parts = append(parts, `<span class="`+class+`">`+templ.EscapeString(text)+`</span>`)
		}
	}
	at := strings.LastIndex(lead, ", ") + 1
	add("parted-begin", lead[:at])
	if strings.Contains(lead, " ") && lead[0] != '"' {
		add("parted-kept", strings.TrimPrefix(lead[at:], " "))
	} else {
		add("parted-name", lead) // of a tool: it is in the row's first line too
	}
	if end := middleAt(rest); end < len(rest) {
		parts = append(parts, `<span class="middle">`+middleOf(rest, end)+`</span>`)
	} else {
		add("parted-rest", rest)
	}
	add("parted-kept", tail)
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
