package pages

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"countersign/models"
	"countersign/views/ui"
)

// summaryLength is where the one line of an inbox row is cut, in characters.
const summaryLength = 200

// Members whose value says what a call is about, most telling first.
var telling = [...]string{
	"command", "cmd", "question", "file_path", "path", "notebook_path", "query", "sql", "url", "uri",
	"pattern", "subject", "title", "message", "prompt", "text", "name", "description",
}

// summary says in one line what a request would do: its command, its path, its
// amount, or else its input as compact JSON.
func summary(r *models.Response) string {
	if r.Kind == models.KindProposal || r.Kind == models.KindReply {
		return oneLine(r.Content)
	}
	if sum := askedSum(r); sum != "" {
		return oneLine(strings.TrimSuffix("Raise the budget to "+grouped(sum)+": "+r.Description, ": "))
	}
	members, ok := objectOf([]byte(r.ToolInputJSON))
	if !ok {
		return oneLine(compact(r.ToolInputJSON))
	}
	if amount := amountOf(members); amount != "" {
		return oneLine(amount)
	}
	for _, name := range telling {
		if s, ok := stringOf(members[name]); ok && strings.TrimSpace(s) != "" {
			return oneLine(s)
		}
	}
	if r.Kind == models.KindQuestion && r.Description != "" {
		return oneLine(r.Description)
	}
	if len(members) == 0 {
		return "no input"
	}
	return oneLine(compact(r.ToolInputJSON))
}

// amountOf writes a payment: amount, currency and to whom.
func amountOf(members map[string]json.RawMessage) string {
	amount, ok := members["amount"]
	if !ok {
		return ""
	}
	out := scalar(amount)
	if out == "" {
		return ""
	}
	if c := scalar(members["currency"]); c != "" {
		out += " " + c
	}
	for _, name := range [...]string{"to", "recipient", "payee", "account"} {
		if to := scalar(members[name]); to != "" {
			return out + " → " + to
		}
	}
	return out
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

func compact(raw string) string {
	// What is cut away below need not be compacted: a generous prefix will do.
	if len(raw) > 16*summaryLength {
		return strings.Join(strings.Fields(raw[:16*summaryLength]), " ") + "…"
	}
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(raw)); err != nil {
		return raw
	}
	return b.String()
}

// oneLine joins lines visibly, so that a second command cannot hide behind a
// line break, and cuts.
func oneLine(s string) string {
	s = strings.TrimSpace(s)
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", " ⏎ ")
	cut, length := ui.Cut(s, summaryLength)
	if length > summaryLength {
		return cut + "…"
	}
	return s
}
