package headline

import (
	"slices"
	"strings"
	"unicode"
)

// verbs are the first words of headlines of known kinds, and what reads like one.
var verbs = []string{
	"allow", "alter", "answer", "approve", "create", "delete", "deny", "drop", "edit", "email", "force", "get", "insert",
	"on", "patch", "pay", "post", "proposal",
	"push", "put", "reject", "removed", "reply", "run", "set", "transfer", "truncate", "update", "with", "write",
}

// decisions are words for what became of a request.
var decisions = []string{
	"allowed", "answered", "approved", "cancelled", "canceled", "decided", "denied", "expired", "paid", "rejected", "safe",
	"signed", "undone", "verified", "withdrawn",
}

// toolName is the name of a tool: quoted where it could be read as words of ours. Only letters
// of ASCII are not, for others may look like them.
func toolName(s string) string {
	short, cut := middle(s, mostOfValue)
	ascii := strings.IndexFunc(s, func(r rune) bool { return r > unicode.MaxASCII }) < 0
	if cut || !ascii || !isPlain(s) || startsWithVerb(s, verbs) || startsWithVerb(alike.Replace(s), alikeVerbs) ||
		hasDecision(s) {
		return quote(short)
	}
	return s
}

// alike makes one of what looks alike within ASCII: "De1ete", "Edlt", "Retum".
var alike = strings.NewReplacer("0", "o", "1", "l", "I", "l", "i", "l", "5", "s", "rn", "m", "vv", "w")

var alikeVerbs = func() []string {
	out := make([]string, len(verbs))
	for i, verb := range verbs {
		out[i] = alike.Replace(verb)
	}
	return out
}()

// startsWithVerb reports whether a name reads as one of these verbs, or begins so with a
// capital as headlines do: "pay", "Pay-5-EUR", "RunSQL", but not "pay_out" or "Payments".
func startsWithVerb(s string, verbs []string) bool {
	lower := strings.ToLower(s)
	for _, verb := range verbs {
		rest, ok := strings.CutPrefix(lower, verb)
		if !ok {
			continue
		}
		if rest == "" {
			return true
		}
		capital, next := s[0] >= 'A' && s[0] <= 'Z', s[len(verb)]
		small := next >= 'a' && next <= 'z'
		if capital && !small || !capital && next != '_' && strings.IndexByte("./:@%+=~-", next) >= 0 {
			return true
		}
	}
	return false
}

// hasDecision reports whether one of the words of a name says what became of a request.
func hasDecision(s string) bool {
	words := strings.FieldsFunc(alike.Replace(s), func(r rune) bool { return !unicode.IsLetter(r) && r != '_' })
	return slices.ContainsFunc(words,
		func(word string) bool { return slices.Contains(alikeDecisions, strings.ToLower(word)) })
}

var alikeDecisions = func() []string {
	out := make([]string, len(decisions))
	for i, word := range decisions {
		out[i] = alike.Replace(word)
	}
	return out
}()
