package headline

import (
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// overriding are headers that make servers do something else than method and address say, or
// lead the request to another host.
var overrides = []string{
	"host", "x-forwarded-host", "x-http-method", "x-http-method-override", "x-method-override", "x-original-method",
	"x-original-url", "x-rewrite-url",
}

// formal are headers that say nothing of the act. A headline leaves them out.
var formal = []string{"accept", "accept-encoding", "accept-language", "content-type", "user-agent"}

// telling is how many of the headers a headline speaks of.
func (h *HTTP) telling() int {
	n := 0
	for name := range readInput(string(h.Headers)).members {
		if !slices.Contains(formal, strings.ToLower(name)) {
			n++
		}
	}
	return n
}

// methodField is what frameworks read as the method, in a query or a form.
const methodField = "_method"

// overridden reports whether something in a request may make another one of it than method
// and address say.
func (h *HTTP) overridden() bool {
	u, err := url.Parse(h.Address)
	return err != nil || hasMethod(u.RawQuery) || bodyHasMethod(h.Body) || headersOverride(h.Headers)
}

// headersOverride reports whether headers have one of those, or a text that may end a header.
func headersOverride(raw jsontext.Value) bool {
	if raw == nil {
		return false
	}
	in := readInput(string(raw))
	if !in.whole {
		return true
	}
	for name, value := range in.members {
		texts, ok := textsOf(value)
		if text, one := textOf(value); one {
			texts, ok = []string{text}, true
		}
		if !ok && value.Kind() != '0' && value.Kind() != 't' && value.Kind() != 'f' {
			return true
		}
		if slices.ContainsFunc(append(texts, name), hasControl) {
			return true
		}
		name = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "_", "-")
		if strings.HasPrefix(name, ":") || slices.Contains(overrides, name) {
			return true
		}
	}
	return false
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s,
		func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f || r == 0x85 || r == 0x2028 || r == 0x2029 })
}

// bodyHasMethod reports whether a body is a form, or an object, with a member for the method.
func bodyHasMethod(raw jsontext.Value) bool {
	if text, ok := textOf(raw); ok {
		return hasMethod(text) || strings.Contains(text, methodField)
	}
	_, ok := readInput(string(raw)).members[methodField]
	return ok
}

// hasMethod reports whether a query has a field for the method, however it is escaped.
func hasMethod(query string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == ';' }), func(field string) bool {
		name, _, _ := strings.Cut(field, "=")
		plain, err := url.QueryUnescape(name)
		if err != nil {
			plain = name
		}
		plain = strings.ToLower(strings.TrimSpace(plain))
		return plain == methodField || strings.HasPrefix(plain, methodField+"[") || slices.Contains(overrides[2:], plain)
	})
}
