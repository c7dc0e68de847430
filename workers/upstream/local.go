package upstream

import (
	"errors"
	"net/netip"
	"strings"

	"countersign/workers/outward"
)

// Hosts are names and addresses as they are written in upstreams' URLs.
type Hosts map[string]bool

// ParseHosts reads HOST[,HOST]: names and addresses, without port.
func ParseHosts(list string) (Hosts, error) {
	hosts := Hosts{}
	if list == "" {
		return hosts, nil
	}
	for host := range strings.SplitSeq(list, ",") {
		host = strings.TrimSpace(host)
		plain := strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
		if _, err := netip.ParseAddr(plain); err != nil && !outward.IsName(host) {
			return nil, errors.New("must be hosts as in the upstreams' addresses, joined by commas, without port: such as hub.internal,fd12:3456::7")
		}
		hosts[outward.HostKey(plain)] = true
	}
	return hosts, nil
}

// Has reports whether a host is among them.
func (h Hosts) Has(host string) bool { return h[outward.HostKey(host)] }
