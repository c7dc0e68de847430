package outward

import (
	"errors"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// List is the hosts that an admin allows, as HOST or HOST:PORT. Without a port it is the usual
// one of HTTPS or HTTP, so that no entry opens all that a machine serves.
//
// A name that is listed leads to addresses of the public internet alone, whatever its
// owner makes of it later. An address that is not public has to be listed itself. Names that
// only a local network gives (localhost, ntfy, hub.internal) may also lead to this machine
// or into that network; nothing but its own address leads to a link-local or metadata address.
type List []string

// entry is one line of a list.
type entry struct {
	host string // as HostKey spells it; "*.x.example": any name below x.example
	port string // empty: 443 or 80
}

// parse reads one line. It reports false for what names no host.
func parse(line string) (entry, bool) {
	line = strings.TrimSpace(line)
	host, port := strings.TrimSuffix(strings.TrimPrefix(line, "["), "]"), ""
	if _, err := netip.ParseAddr(host); err != nil {
		if h, p, err := net.SplitHostPort(line); err == nil {
			n, err := strconv.ParseUint(p, 10, 16)
			if err != nil || n == 0 {
				return entry{}, false
			}
			host, port = h, p
		}
	}
	if _, err := netip.ParseAddr(host); err != nil && !IsName(host) {
		return entry{}, false
	}
	return entry{host: HostKey(host), port: port}, true
}

// has reports whether a host may be asked at a port.
func (l List) has(host, port string) bool {
	host = HostKey(host)
	usual := port == "443" || port == "80"
	for _, line := range l {
		if e, ok := parse(line); ok && e.host == host && (e.port == port || e.port == "" && usual) {
			return true
		}
	}
	return false
}

// mayLead says why a host that is asked may not be at an address, or is nil.
func (l List) mayLead(host string, to netip.AddrPort) error {
	why := notPublic(to.Addr())
	if why == nil || l.has(to.Addr().WithZone("").String(), strconv.Itoa(int(to.Port()))) {
		return nil
	}
	entry := l.has(host, strconv.Itoa(int(to.Port()))) && localName(host)
	switch {
	case entry && errors.Is(why, errLoopback),
		entry && !loopbackName(host) && (errors.Is(why, errPrivate) || errors.Is(why, ErrUniqueLocal)):
		return nil
	}
	return why
}

// localName reports whether only a local network gives this name: no one outside can decide where it leads.
func localName(host string) bool {
	host = HostKey(host)
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	if !strings.Contains(host, ".") {
		return true
	}
	for _, end := range []string{".localhost", ".local", ".internal", ".home.arpa"} {
		if strings.HasSuffix(host, end) {
			return true
		}
	}
	return false
}

// loopbackName reports whether a name means this machine and nothing else.
func loopbackName(host string) bool {
	host = HostKey(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// Vendors are hosts that need no entry in a list, because a browser's maker runs them:
// "x.example", or "*.x.example" for every name below it. They are asked by HTTPS at its own
// port, and lead to public addresses alone.
type Vendors []string

func (v Vendors) has(host, port string) bool {
	host = HostKey(host)
	if port != "443" {
		return false
	}
	for _, name := range v {
		below, all := strings.CutPrefix(name, "*")
		if all && strings.HasSuffix(host, below) && len(host) > len(below) || host == name {
			return true
		}
	}
	return false
}
