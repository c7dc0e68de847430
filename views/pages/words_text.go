package pages

import (
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"countersign/views/ui"

	"countersign/models"
	"countersign/models/headline"
)

// capital writes the first letter large.
func capitalize(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return s
	}
	return string(unicode.ToUpper(first)) + strings.TrimPrefix(s, string(first))
}

// summary says in one sentence what a request would do.
func summary(r *models.Response) string { return headline.Shown(r).Text() }

// beginsWithTool reports whether a headline names the tool first, as those do that have no
// better words.
func beginsWithTool(headline, tool string) bool {
	return strings.HasPrefix(headline, tool+":") || strings.HasPrefix(headline, strconv.Quote(tool)+":")
}

// oneLine joins lines visibly, so that nothing can hide behind a line break, and cuts.
func oneLine(s string) string {
	s = strings.TrimSpace(s)
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", " ⏎ ")
	short, length := ui.Cut(s, lineLength)
	if length > lineLength {
		return short + "…"
	}
	return s
}

// tail is the end of an id, where ids of the same minute differ.
func tail(id string) string {
	if len(id) > 8 {
		return "…" + id[len(id)-8:]
	}
	return id
}

// waitText says how long to wait.
func waitText(seconds int) string {
	if seconds < 60 {
		return "a minute"
	}
	return models.SpokenDuration(time.Duration((seconds+59)/60) * time.Minute)
}

func deref[T ~string](p *T) string {
	if p == nil {
		return ""
	}
	return string(*p)
}

// lineLength is where a text that is shown on one line is cut, in characters.
const lineLength = 200

// titleLength is how much of a headline's telling part a title shows, in characters.
const titleLength = 80
