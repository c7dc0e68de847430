package highlight

import (
	"regexp"
	"strings"
	"sync"
)

// markupDoubt is text before a comment of HTML or XML that browsers may read as something else: elements that hold no
// comments, sections, instructions, and characters that begin no tag.
var markupDoubt = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)<(?:script|style|textarea|title|xmp|iframe|noembed|noframes|noscript|plaintext|svg|math|!\[|!-[^-]|![^-d]|!doctype[^>]*\[|\?|%|/[^a-z]|[^a-z/!?%])`)
})

// sureMarkup is text with its colours as far as it is sure where its comments end:
// from the first one that programs read differently, it is plain.
func sureMarkup(text string, spans []Span) []Span {
	at := 0
	for i, s := range spans {
		if s.Class == "c" && (markupDoubt().MatchString(text[:at]) || !plainComment(s.Text)) {
			return append(spans[:i:i], Span{Text: text[at:]})
		}
		at += len(s.Text)
	}
	return spans
}

// plainComment reports whether a comment of markup ends where it seems to.
func plainComment(s string) bool {
	body, opened := strings.CutPrefix(s, "<!--")
	body, closed := strings.CutSuffix(body, "-->")
	return opened && closed && !strings.HasPrefix(body, ">") && !strings.HasPrefix(body, "-") &&
		!strings.Contains(body, "--") && !strings.HasSuffix(body, "-") && !strings.Contains(body, "[") &&
		!strings.Contains(body, "<") &&
		strings.IndexFunc(body, endsLine) < 0
}
