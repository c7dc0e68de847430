package ui

import (
	"strings"
)

// markupDoubt is text before a comment of HTML or XML that browsers may read as something else: elements that hold no
// comments, sections, instructions, and characters that begin no tag.
var markupDoubt = pattern(`(?i)<(?:script|style|textarea|title|xmp|iframe|noembed|noframes|noscript|plaintext|svg|math|!\[|!-[^-]|![^-d]|!doctype[^>]*\[|\?|%|/[^a-z]|[^a-z/!?%])`)

// sureMarkup is text with its colours as far as it is sure where its comments end:
// from the first one that programs read differently, it is plain.
func sureMarkup(text string, spans []span) []span {
	at := 0
	for i, s := range spans {
		if s.class == "c" && (markupDoubt().MatchString(text[:at]) || !plainComment(s.text)) {
			return append(spans[:i:i], span{text: text[at:]})
		}
		at += len(s.text)
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
