package pages

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"countersign/models"
	"countersign/models/headline"
	"countersign/views/ui"
)

// lineLength is where a text that is shown on one line is cut, in characters.
const lineLength = 200

// titleLength is how much of a headline's telling part a title shows, in characters.
const titleLength = 80

// summary says in one sentence what a request would do.
func summary(r *models.Response) string { return headline.Shown(r).Text() }

// beginsWithTool reports whether a headline names the tool first, as those do that have no
// better words.
func beginsWithTool(headline, tool string) bool {
	return strings.HasPrefix(headline, tool+":") || strings.HasPrefix(headline, strconv.Quote(tool)+":")
}

// firstOf is the first member that is a text and not empty.
func firstOf(members map[string]json.RawMessage, names []string) string {
	for _, name := range names {
		if s, ok := stringOf(members[name]); ok && s != "" {
			return s
		}
	}
	return ""
}

// scalar is a string's content or a number as written; empty for all else.
func scalar(raw json.RawMessage) string {
	if s, ok := stringOf(raw); ok {
		return s
	}
	if len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9') {
		return string(raw)
	}
	return ""
}

func objectOf(raw []byte) (map[string]json.RawMessage, bool) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		return nil, false
	}
	return members, true
}

func stringOf(raw json.RawMessage) (string, bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
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
