package words

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"countersign/models"
	"countersign/models/headline"
	"countersign/views/ui"
)

// Capitalize writes the first letter large.
func Capitalize(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	return string(unicode.ToUpper(first)) + strings.TrimPrefix(s, string(first))
}

// Summary says in one sentence what a request would do.
func Summary(r *models.Response) string { return headline.Shown(r).Text() }

// beginsWithTool reports whether a headline names the tool first, as those do that have no
// better words.
func beginsWithTool(headline, tool string) bool {
	return strings.HasPrefix(headline, tool+":") || strings.HasPrefix(headline, strconv.Quote(tool)+":")
}

// OneLine joins lines visibly, so that nothing can hide behind a line break, and cuts.
func OneLine(s string) string {
	s = strings.TrimSpace(s)
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", " ⏎ ")
	short, length := ui.Cut(s, LineLength)
	if length > LineLength {
		return short + "…"
	}
	return s
}

// Tail is the end of an id, where ids of the same minute differ.
func Tail(id string) string {
	if len(id) > 8 {
		return "…" + id[len(id)-8:]
	}
	return id
}

// WaitText says how long to wait.
func WaitText(seconds int) string {
	if seconds < 60 {
		return "a minute"
	}
	return models.SpokenDuration(time.Duration((seconds+59)/60) * time.Minute)
}

// Deref is the text that p points to; empty: nil.
func Deref[T ~string](p *T) string {
	if p == nil {
		return ""
	}
	return string(*p)
}

// LineLength is where a text that is shown on one line is cut, in characters.
const LineLength = 200

// TitleLength is how much of a headline's telling part a title shows, in characters.
const TitleLength = 80
