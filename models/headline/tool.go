package headline

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"countersign/models"
)

// What a headline shows of a call of no known kind.
const (
	mostMembers = 4
	mostOfValue = 80 // characters of one that is not whole, and of a name
	mostInAll   = 160
)

// tellingMembers are members whose value says what a call is about, the best first. Their
// names go without saying.
var tellingMembers = []string{
	"command", "cmd", "question", "file_path", "path", "notebook_path", "query", "sql", "url", "uri",
	"pattern", "subject", "title", "message", "prompt", "text", "name",
}

// toolCall is a call by its tool's name and its most telling members.
func toolCall(tool string, in input) Headline {
	h := Headline{Lead: toolName(tool) + ":", Cut: in.object && !in.whole}
	switch {
	case in.whole && len(in.members) == 0:
		h.Rest = "no input"
		return h
	case len(in.members) == 0:
		if h.Rest = compact(in.raw); h.Cut {
			h.Rest = beginning(h.Rest, MaxText)
		}
		return h
	}
	var parts []string
	length := 0
	for _, member := range telling(in) {
		if len(parts) == mostMembers || length > mostInAll {
			h.Hidden = append(h.Hidden, member)
			continue
		}
		value := valueOf(in.members[member])
		if !in.whole && member == in.cut {
			text, _ := textOf(in.members[member])
			value = quote(beginning(text, mostOfValue))
		}
		if len(parts) > 0 || !tells(member, in.members[member]) {
			value = memberName(member) + " " + value
		}
		parts, length = append(parts, value), length+len(value)
	}
	h.Rest = strings.Join(parts, ", ") // it is cut once, as a whole
	if len(h.Hidden) > 0 {
		h.Tail = "and " + counted(len(h.Hidden), "more member")
	}
	h.suspectsMember(telling(in)[0], in)
	return h
}

// runMembers are members whose value is often run by something.
var runMembers = []string{"command", "cmd", "query", "sql", "statement", "script", "code"}

// suspectsMember has the headline of a call of no known kind begin with what may harm most in
// what it may run, where that is too long to be shown.
func (h *Headline) suspectsMember(name string, in input) {
	text, ok := textOf(in.members[name])
	if !ok || !slices.Contains(runMembers, name) {
		return
	}
	if h.suspects(text, MaxText); h.partly {
		h.Hidden, h.Tail, h.Cut = append(h.Hidden, name), "", true
		h.endLead()
	}
}

// cutCall is a call of whose input only the beginning is kept. It says how long all of it is.
func cutCall(r *models.Response) Headline {
	raw := r.InputThatRuns()
	text, ok := textOf(jsontext.Value(raw))
	if !ok {
		text = compact(raw)
	}
	return Headline{
		Lead: toolName(r.ToolName) + ":", Rest: quote(beginning(text, mostInAll)),
		Tail: "(the beginning of " + counted(int(*r.InputBytes), "byte") + ")", Cut: true, partly: true,
	}
}

// telling are the names of the members: the most telling first, lists and objects behind all
// others, and the agent's own description last.
func telling(in input) []string {
	names := in.others()
	rank := func(name string) int {
		switch i := slices.Index(tellingMembers, name); {
		case i >= 0 && tells(name, in.members[name]):
			return i
		case name == "description":
			return len(tellingMembers) + 2
		}
		if k := in.members[name].Kind(); k == '{' || k == '[' {
			return len(tellingMembers) + 1
		}
		return len(tellingMembers)
	}
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	return names
}

// tells reports whether a member is one of those that say what a call is about.
func tells(name string, raw jsontext.Value) bool {
	text, ok := textOf(raw)
	return ok && strings.TrimSpace(text) != "" && slices.Contains(tellingMembers, name)
}

// valueOf is a value as it was sent; texts are quoted unless they are plain words.
func valueOf(raw jsontext.Value) string {
	text, ok := textOf(raw)
	switch {
	case !ok:
		return compact(string(raw))
	case !isPlain(text), jsontext.Value(text).IsValid(): // "5" is not 5
		return quote(text)
	}
	return text
}

// memberName is the name of a member: quoted unless it is like most.
func memberName(s string) string {
	plain := len(s) <= maxName && s != "" && strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-' && r != '.'
	}) < 0
	if plain {
		return s
	}
	return quote(s) // it is cut once, with all that it is shown with
}

// compact is JSON without white space, its literals as they were sent.
func compact(raw string) string {
	v := jsontext.Value(raw).Clone()
	if v.Compact() != nil {
		return strings.Join(strings.Fields(raw), " ")
	}
	return string(v)
}
