package streamjson

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
)

// An event has to fit into a request of models.MaxBody bytes with all its members
// escaped: at most one of input, content and result, beside names and ids.
const (
	maxInput   = models.MaxInput // a larger one is digested here
	maxEscaped = 768 << 10       // of a text, as JSON
	maxName    = 16 << 10
	maxKey     = 4 << 10
)

// key is an id as it is sent: a longer one than any real one is cut, the same way wherever it occurs.
func key(id text) string { return models.Cut(string(id), maxKey) }

// cut is the stored part of a text, and its true length if that is not all.
func cut(s string) (kept string, length int64) {
	kept = models.Cut(s, models.MaxResult)
	for escaped(kept) > maxEscaped {
		kept = models.Cut(kept, len(kept)/2)
	}
	if len(kept) == len(s) {
		return s, 0
	}
	return kept, int64(len(s))
}

// escaped is how long a text is at most as a JSON string.
func escaped(s string) int {
	n := len(s) + 2
	for i := range len(s) {
		switch c := s[i]; {
		case c < 0x20 || c == 0x7f:
			n += 5
		case c == '"' || c == '\\':
			n++
		}
	}
	return n
}

// inputOf is a call's input as it is sent, with its length and digest if that is
// not the whole. An input that has no canonical form even when its text has been
// mended is sent as that text.
func inputOf(toolName string, raw jsontext.Value) (input jsontext.Value, length int64, digest string) {
	if kind := raw.Kind(); kind != '{' && kind != '[' && kind != '"' && kind != '0' && kind != 't' && kind != 'f' {
		raw = jsontext.Value(`{}`) // null or nothing at all
	}
	canonical, err := models.Canonical(models.KindToolCall, toolName, raw)
	if err != nil {
		_ = raw.Format(
			jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true),
			jsontext.PreserveRawStrings(false), jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false),
		)
		canonical, err = models.Canonical(models.KindToolCall, toolName, raw)
	}
	if err != nil {
		raw = quote(string(raw))
		canonical, err = models.Canonical(models.KindToolCall, toolName, raw)
	}
	if len(raw) <= maxInput || err != nil {
		return raw, 0, ""
	}
	kept, _ := cut(string(raw))
	return quote(kept), int64(len(raw)), models.Digest(canonical)
}

func quote(s string) jsontext.Value {
	value, _ := jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "\ufffd")) // fails on bad UTF-8 only
	return value
}
