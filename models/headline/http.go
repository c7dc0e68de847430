package headline

import (
	"net/netip"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	whatwg "github.com/nlnwa/whatwg-url/url"

	"countersign/models"
)

// HTTP is a request that would be sent to a host.
type HTTP struct {
	drawn
	Method  string
	Address string // as sent
	Host    string // with its port, as browsers and Go's libraries read the address
	Headers jsontext.Value
	Body    jsontext.Value // as sent; nil: none
}

// does are the words for methods, before the host.
var does = map[string]string{
	"GET": "Get from", "POST": "Post to", "PUT": "Put to", "PATCH": "Patch at", "DELETE": "Delete at",
}

// method reads the calls of a tool that has only this one.
func method(verb string) reader {
	return func(members map[string]jsontext.Value) (Headline, bool) { return readHTTP(newFields(members), verb) }
}

func readRequest(members map[string]jsontext.Value) (Headline, bool) {
	f := newFields(members)
	verb, _ := f.text("method")
	return readHTTP(f, verb)
}

func readHTTP(f *fields, verb string) (Headline, bool) {
	h := &HTTP{Method: verb}
	var ok bool
	h.Address, _ = f.text("url")
	if h.Host, ok = hostOf(h.Address); !ok || does[verb] == "" {
		return Headline{}, false
	}
	h.Headers, _ = f.ofKind("{", "headers")
	h.Body, _ = f.value("body", "json", "data")
	f.number("timeout")
	if h.drawn, ok = f.all(); !ok || h.overridden() {
		return Headline{}, false
	}
	out := Headline{Lead: does[verb], Rest: h.Host, Hidden: without(h.drawn, "method"), Known: h}
	if n := h.telling(); n > 0 {
		out.Tail = "with " + counted(n, "header")
	}
	return out, true
}

// maxAddress is the longest address that is read, in bytes.
const maxAddress = 2 << 10

// hostOf is where an address of the web leads, with the port if it is not the usual one: only
// where all programs read the same, and every character of it is seen.
func hostOf(address string) (string, bool) {
	if _, unseen := models.Reveal(address, false); unseen.Any() || len(address) > maxAddress {
		return "", false
	}
	r := models.ReadHosts(address)
	if hosts := r.Hosts(); len(hosts) != 1 || r.Browser == "" || r.Go == "" || r.Scheme != "http" && r.Scheme != "https" {
		return "", false
	}
	u, err := whatwg.Parse(address)
	if err != nil || !isHost(r.Browser) {
		return "", false
	}
	host := r.Browser
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if port := u.Port(); port != "" {
		host += ":" + port
	}
	return host, true
}

// isHost reports whether a host is an address or a name in ASCII, as it is looked up.
func isHost(s string) bool {
	if _, err := netip.ParseAddr(s); err == nil {
		return true
	}
	return len(s) <= 253 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789.-_") == ""
}
