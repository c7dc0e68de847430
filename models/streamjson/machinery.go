package streamjson

import (
	"strings"

	"github.com/go-json-experiment/json"
)

// machinery are the beginnings of what agents put in a person's place themselves.
var machinery = []string{
	"[Request interrupted by user", "This session is being continued from a previous conversation",
	"<local-command-", "<command-name>", "<command-message>", "<task-notification>", "<system-reminder>",
	"<bash-stdout>", "<bash-stderr>",
}

// isMachinery reports whether the agent's machinery wrote what a person seems to have said.
func (l *line) isMachinery(said string) bool {
	if bool(l.Synthetic || l.Meta || l.Summary || l.Transcript) || !l.fromPerson() {
		return true
	}
	said = strings.TrimSpace(said)
	for _, start := range machinery {
		if strings.HasPrefix(said, start) {
			return true
		}
	}
	return false
}

// fromPerson reports whether the origin of a line is a person: one that names none is.
func (l *line) fromPerson() bool {
	if kind := l.Origin.Kind(); kind == 'n' || len(l.Origin) == 0 {
		return true
	}
	var origin struct {
		Kind text `json:"kind"`
	}
	if l.Origin.Kind() != '{' || json.Unmarshal(l.Origin, &origin, lenient) != nil {
		return false
	}
	return origin.Kind == "human" || origin.Kind == "user"
}
