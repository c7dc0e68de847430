package pages

import (
	"encoding/json"
)

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
