package text

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"countersign/models"
)

// How much of a text of strangers is shown, in characters. All of it together fits into one
// push message.
const (
	mostName     = 60
	mostDecider  = 30
	mostHeadline = 160
)

// quote writes a text of strangers on one line, with what would not be seen as escapes (I13).
// More than most characters are cut, with the true length.
func quote(s string, most int) string {
	segments, _ := models.Reveal(s, false)
	var b strings.Builder
	n := 0
	for _, part := range segments {
		width := utf8.RuneCountInString(part.Text)
		if n+width <= most {
			b.WriteString(part.Text)
			n += width
			continue
		}
		if !part.Escape { // an escape is shown whole or not at all
			b.WriteString(string([]rune(part.Text)[:most-n]))
		}
		fmt.Fprintf(&b, "… (%d characters)", utf8.RuneCountInString(s))
		break
	}
	return b.String()
}

// joint keeps two characters apart for programs, and shows nothing: a zero-width
// non-joiner. Those that strangers write are shown as escapes, so each one is ours.
const joint = "\u200c"

// unlinked has joints at the places where mail and chat programs find addresses, mentions
// and channels in a text. People read the same.
func unlinked(s string) string { return joints.Replace(s) }

var joints = func() *strings.Replacer {
	var pairs []string
	for _, c := range []string{
		".", ":", "/", "@", "#", "<", "\uff0e", "\u3002", "\uff61", "\u2024", "\uff1a", "\uff0f", "\uff20",
	} {
		pairs = append(pairs, c, joint+c+joint)
	}
	return strings.NewReplacer(pairs...)
}()
