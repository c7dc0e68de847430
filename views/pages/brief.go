package pages

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode/utf8"
)

// briefOf reads the members of an object that may be cut anywhere, as lists get
// it: those that are whole, and of a text that is cut its beginning. cut names
// the member that is not whole, with "" for none.
func briefOf(raw string) (members map[string]json.RawMessage, cut string, ok bool) {
	if members, ok = objectOf([]byte(raw)); ok {
		return members, "", true
	}
	d := json.NewDecoder(strings.NewReader(raw))
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return nil, "", false
	}
	members = map[string]json.RawMessage{}
	for {
		token, err := d.Token()
		name, isName := token.(string)
		if err != nil || !isName {
			return members, cut, len(members) > 0
		}
		at := d.InputOffset()
		var value json.RawMessage
		if d.Decode(&value) == nil {
			members[name] = value
			continue
		}
		rest := strings.TrimLeft(raw[at:], ": \t\r\n")
		if value, ok := closed(rest); ok {
			members[name] = value
		}
		return members, name, len(members) > 0
	}
}

// halfPair is an escape that means something only with the one behind it.
var halfPair = regexp.MustCompile(`\\u[dD][89abAB][0-9a-fA-F]{2}$`)

// closed ends a text that was cut: what is left of an escape or of a character
// goes.
func closed(text string) (json.RawMessage, bool) {
	if !strings.HasPrefix(text, `"`) {
		return nil, false
	}
	for range 12 { // the longest escape is a pair of \uXXXX
		value := json.RawMessage(text + `"`)
		if utf8.ValidString(text) && json.Valid(value) && len(text) > 1 && !halfPair.MatchString(text) {
			return value, true
		}
		if len(text) < 2 {
			return nil, false
		}
		text = text[:len(text)-1]
	}
	return nil, false
}
