package upstream

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const (
	maxAnswer = 64 << 10 // bytes that are read of an answer to a decision
	maxWords  = 1000     // characters of it that are shown
	masked    = "[key]"
)

// words is what an upstream says in an answer, for people to read: the message of an error in JSON, or else all of it,
// with our key masked. Otherwise it is as the upstream wrote it, so pages escape it.
func (c *Client) words(body []byte) string {
	text := strings.TrimSpace(strings.ToValidUTF8(string(body), "\uFFFD"))
	if value := jsontext.Value(text); text != "" && value.Format(lenient, jsontext.PreserveRawStrings(false)) == nil {
		text = string(value)
		if said, ok := messageOf(value); ok {
			text = strings.TrimSpace(said)
		}
	}
	text = c.mask(text)
	if n := utf8.RuneCountInString(text); n > maxWords {
		text = fmt.Sprintf("%s… (the beginning of %d characters)", string([]rune(text)[:maxWords]), n)
	}
	return text
}

// messageMembers hold the message of an error; besideMessage say nothing more.
var (
	messageMembers = []string{"message", "detail", "error", "reason", "error_description", "title"}
	besideMessage  = []string{"code", "status", "type", "instance", "success", "timestamp"}
)

// messageOf is the message of an error, if that is all that it says.
func messageOf(value jsontext.Value) (string, bool) {
	if value.Kind() == '"' {
		return object{"": value}.text("")
	}
	o, ok := readObject(value)
	if !ok {
		return "", false
	}
	said := ""
	for _, name := range messageMembers {
		if !o.has(name) {
			continue
		}
		text, ok := messageOf(o[name])
		if !ok || said != "" && text != said {
			return "", false
		}
		said = text
	}
	for name := range o {
		if o.has(name) && !slices.Contains(messageMembers, name) && !slices.Contains(besideMessage, name) {
			return "", false
		}
	}
	return said, said != ""
}

// masks replaces a key wherever it occurs: as it is, escaped for JSON or an address,
// and in base64 or hexadecimal.
func masks(key string) func(string) string {
	if key == "" {
		return func(s string) string { return s }
	}
	forms := []string{key, url.QueryEscape(key), url.PathEscape(key), hex.EncodeToString([]byte(key))}
	for _, c := range []*base64.Encoding{
		base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding,
	} {
		forms = append(forms, c.EncodeToString([]byte(key)))
	}
	if quote, err := json.Marshal(key); err == nil {
		forms = append(forms, string(quote[1:len(quote)-1]))
	}
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	pairs := []string{}
	for _, form := range slices.Compact(forms) {
		pairs = append(pairs, form, masked)
	}
	return strings.NewReplacer(pairs...).Replace
}
