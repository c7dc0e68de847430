package humanlayer

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"countersign/handlers"
	"countersign/models"
)

// credentials are parts of the names of members that hold one. Such a member of a channel is dropped before anything is
// stored or logged: this server does not use it.
var credentials = []string{
	"token", "secret", "password", "passwd", "apikey", "credential", "authorization", "privatekey", "cookie", "webhook",
	"bearer", "accesskey", "passphrase",
}

// secretTexts are the beginnings of values that are credentials under any name: the chat service's tokens and addresses
// that post for anyone who knows them.
var secretTexts = []string{
	"xoxb-", "xoxp-", "xoxa-", "xoxe-", "xoxe.", "xoxs-", "xoxr-", "xoxc-", "xoxd-", "xapp-", "https://hooks.slack.com/",
}

// isSecret reports whether a value is a credential whatever its member is called.
func isSecret(raw jsontext.Value) bool {
	if raw.Kind() != jsontext.KindString {
		return false
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return false
	}
	plain := strings.ToLower(strings.TrimSpace(string(text)))
	return slices.ContainsFunc(secretTexts, func(begin string) bool { return strings.HasPrefix(plain, begin) })
}

func isCredential(name string) bool {
	plain := strings.NewReplacer("_", "", "-", "", " ", "", ".", "").Replace(strings.ToLower(name))
	for _, word := range credentials {
		if strings.Contains(plain, word) {
			return true
		}
	}
	return false
}

// withoutCredentials is a channel as it was sent, but for its credentials, and which they
// were. Null is none.
func withoutCredentials(field string, raw jsontext.Value) (kept jsontext.Value, drops []string, err error) {
	if raw, err = objectOrNone(field, raw); raw == nil || err != nil {
		return nil, nil, err
	}
	c := cleaner{drops: []string{}}
	var out bytes.Buffer
	if err := c.value(&out, raw, field); err != nil {
		return nil, nil, models.Invalid(field, "must be a JSON object in UTF-8, without a member that appears twice")
	}
	return out.Bytes(), c.drops, nil
}

// objectOrNone is a member that may be an object, null or left out.
func objectOrNone(field string, raw jsontext.Value) (jsontext.Value, error) {
	if isNone(raw) {
		return nil, nil
	}
	if raw.Kind() != jsontext.KindBeginObject {
		return nil, models.Invalid(field, "must be an object")
	}
	_, err := models.CanonicalJSON(field, raw) // which limits its depth
	return raw, err
}

// memberName is a member in the path of a dropped value; it never echoes text that was sent.
func memberName(name string) string {
	if handlers.PlainName(name) {
		return name
	}
	return "(member)"
}

// isNone reports whether a member was left out, or sent as null.
func isNone(raw jsontext.Value) bool { return len(raw) == 0 || raw.Kind() == jsontext.KindNull }

// cleaner copies JSON without credentials.
type cleaner struct{ drops []string }

func (c *cleaner) value(out *bytes.Buffer, raw jsontext.Value, path string) error {
	if raw.Kind() == jsontext.KindBeginObject {
		return c.object(out, raw, path)
	}
	if raw.Kind() == jsontext.KindBeginArray {
		return c.array(out, raw, path)
	}
	out.Write(raw)
	return nil
}

func (c *cleaner) object(out *bytes.Buffer, raw jsontext.Value, path string) error {
	d := jsontext.NewDecoder(bytes.NewReader(raw))
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	out.WriteByte('{')
	first := true
	for d.PeekKind() != '}' {
		key, err := d.ReadToken()
		if err != nil {
			return err
		}
		name := key.String()
		value, err := d.ReadValue()
		if err != nil {
			return err
		}
		at := path + "." + memberName(name)
		if isCredential(name) || isSecret(value) {
			c.drops = append(c.drops, at)
			continue
		}
		if !first {
			out.WriteByte(',')
		}
		first = false
		quote, err := jsontext.AppendQuote(nil, name)
		if err != nil {
			return err
		}
		out.Write(quote)
		out.WriteByte(':')
		if err := c.value(out, value, at); err != nil {
			return err
		}
	}
	out.WriteByte('}')
	return nil
}

func (c *cleaner) array(out *bytes.Buffer, raw jsontext.Value, path string) error {
	d := jsontext.NewDecoder(bytes.NewReader(raw))
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	out.WriteByte('[')
	first := true
	for d.PeekKind() != ']' {
		value, err := d.ReadValue()
		if err != nil {
			return err
		}
		if isSecret(value) {
			c.drops = append(c.drops, path+"[]")
			continue
		}
		if !first {
			out.WriteByte(',')
		}
		first = false
		if err := c.value(out, value, path+"[]"); err != nil {
			return err
		}
	}
	out.WriteByte(']')
	return nil
}
