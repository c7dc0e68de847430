package handlers

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Proxies are the networks of the reverse proxies in front of this server. What
// a request says about its origin counts only if one of them sent it.
type Proxies []netip.Prefix

// ParseProxies reads networks (10.0.0.0/8) and single addresses, separated by
// commas; an empty text lists none. A network of all addresses is refused: with it
// anybody could pose as anybody.
func ParseProxies(s string) (Proxies, error) {
	var out Proxies
	for part := range strings.SplitSeq(s, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		network, err := netip.ParsePrefix(part)
		if addr, single := netip.ParseAddr(part); single == nil && addr.Zone() == "" {
			addr = addr.Unmap()
			network, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil || network.Addr().Is4In6() {
			return nil, errors.New("must be networks or addresses separated by commas, such as 127.0.0.1,10.0.0.0/8")
		}
		if network.Bits() == 0 {
			return nil, errors.New("must not be every address: anyone could impersonate anyone")
		}
		out = append(out, network.Masked())
	}
	return out, nil
}

// String is the form that ParseProxies reads.
func (p Proxies) String() string {
	parts := make([]string, len(p))
	for i, network := range p {
		parts[i] = network.String()
	}
	return strings.Join(parts, ",")
}

// Client is the address that a request comes from: the peer's own or, where a proxy of ours is the peer, the last one
// in X-Forwarded-For that is not a proxy of ours. Any address before that one is the client's own word and is not read.
func (p Proxies) Client(r *http.Request) string {
	peer, ok := parseAddress(r.RemoteAddr)
	if !ok {
		return r.RemoteAddr
	}
	at := peer
	said := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(said) - 1; i >= 0 && p.contain(at); i-- {
		before, ok := parseAddress(strings.TrimSpace(said[i]))
		if !ok {
			break
		}
		at = before
	}
	return at.String()
}

func (p Proxies) contain(addr netip.Addr) bool {
	for _, network := range p {
		if network.Contains(addr) {
			return true
		}
	}
	return false
}

// parseAddress reads an address with or without a port, an IPv4 one in whatever
// dress, without the zone that means something on one machine only.
func parseAddress(s string) (netip.Addr, bool) {
	host := s
	if h, _, err := net.SplitHostPort(s); err == nil {
		host = h
	}
	addr, err := netip.ParseAddr(strings.Trim(host, "[]"))
	if err != nil {
		return netip.Addr{}, false
	}
	return addr.Unmap().WithZone(""), true
}
