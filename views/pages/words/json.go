package words

import (
	"encoding/json"
)

// FirstText is the first member that is a text and not empty.
func FirstText(members map[string]json.RawMessage, names []string) string {
	for _, name := range names {
		if s, ok := Text(members[name]); ok && s != "" {
			return s
		}
	}
	return ""
}

// Scalar is a string's content or a number as written; empty for all else.
func Scalar(raw json.RawMessage) string {
	if s, ok := Text(raw); ok {
		return s
	}
	if len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9') {
		return string(raw)
	}
	return ""
}

// Object are the members of a JSON object; false: it is none.
func Object(raw []byte) (map[string]json.RawMessage, bool) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		return nil, false
	}
	return members, true
}

// Text is the content of a JSON string; false: it is none.
func Text(raw json.RawMessage) (string, bool) {
	var s string
	if len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return "", false
	}
	return s, true
}
