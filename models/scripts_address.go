package models

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"
	"golang.org/x/net/idna"
)

// Limits of reading an address as programs do: their time grows with the square of some lengths.
const (
	maxAuthority = 2 << 10 // bytes before the path
	maxNames     = 16      // signs that set a name apart from the host
)

// HostReadings are the hosts that programs find in an address; empty where they
// refuse it or find none.
type HostReadings struct {
	Browser string // by the URL standard of browsers
	Go      string // by Go's standard library
	Letter  string // by RFC 3986 to the letter: the part behind the last @
	Scheme  string // as browsers read it
}

// ReadHosts reads an address as programs do that would follow it.
func ReadHosts(address string) HostReadings {
	r := HostReadings{Letter: sameHost(hostByLetter(address))}
	start := strings.IndexByte(address, ':') + 1
	start += len(address[start:]) - len(strings.TrimLeft(address[start:], `/\`))
	if end := strings.IndexAny(address[start:], "/?#"); end >= 0 { // no host follows this
		address = address[:start+end+1]
	}
	if len(address) > maxAuthority || strings.Count(address, "@") > maxNames {
		return r
	}
	u, err := whatwg.Parse(address)
	if err != nil { // it may go on from the page that it is on
		u, err = whatwg.ParseRef("https://base.invalid/", address)
	}
	if err == nil {
		r.Scheme = u.Scheme()
		if host := u.Hostname(); host != "base.invalid" {
			r.Browser = sameHost(host)
		}
	}
	if u, err := url.Parse(address); err == nil {
		r.Go = sameHost(u.Hostname())
	}
	return r
}

// Hosts are all that an address may lead to, each once.
func (r HostReadings) Hosts() []string {
	var out []string
	for _, host := range [...]string{r.Browser, r.Go, r.Letter} {
		if host != "" && !slices.Contains(out, host) {
			out = append(out, host)
		}
	}
	return out
}

// Differ says how browsers and Go programs read an address, empty where they
// agree. Only the addresses of the web are compared: browsers follow no others.
func (r HostReadings) Differ() string {
	if r.Browser == r.Go || !webSchemes[r.Scheme] && r.Scheme != "" {
		return ""
	}
	browsers, programs := "Browsers refuse this", "Go programs refuse it or find no host"
	if r.Browser != "" {
		browsers = "Browsers read this as " + r.Browser
	}
	if r.Go != "" {
		programs = "Go programs as " + r.Go
		if r.Browser == "" {
			programs = "Go programs read it as " + r.Go
		}
	}
	return browsers + "; " + programs
}

var webSchemes = map[string]bool{"http": true, "https": true, "ws": true, "wss": true, "ftp": true}

// hostByLetter is the text behind the slashes, from its last @ to a path or port.
func hostByLetter(address string) string {
	_, rest, ok := strings.Cut(address, ":")
	if bare := strings.TrimLeft(address, `/\`); len(address)-len(bare) >= 2 {
		rest, ok = bare, true
	}
	if !ok {
		return ""
	}
	rest = strings.TrimLeft(rest, `/\`)
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	rest = rest[strings.LastIndexByte(rest, '@')+1:]
	if end := strings.IndexAny(rest, "\\ \t\r\n"); end >= 0 {
		rest = rest[:end]
	}
	if strings.HasPrefix(rest, "[") {
		host, _, _ := strings.Cut(rest[1:], "]")
		return host
	}
	host, _, _ := strings.Cut(rest, ":")
	return host
}

// sameHost is a host as it is looked up, so that two ways to write one compare
// equal.
func sameHost(host string) string {
	host = strings.Trim(host, "[]")
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.String()
	}
	if !isASCII(host) && len(host) <= 255 {
		if ascii, err := idna.Lookup.ToASCII(host); err == nil {
			host = ascii
		}
	}
	return strings.ToLower(host)
}
