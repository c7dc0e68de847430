package upstream

import (
	"errors"
	"net/netip"
	"strings"
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
		if _, err := netip.ParseAddr(plain); err != nil && !isName(host) {
			return nil, errors.New("must be hosts as in the upstreams' addresses, joined by commas, without port: such as hub.internal,fd12:3456::7")
		}
		hosts[hostKey(plain)] = true
	}
	return hosts, nil
}

// isName reports whether a text may be a host's name, as it is looked up.
func isName(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	return strings.Trim(s, letters) == ""
}

// Has reports whether a host is among them.
func (h Hosts) Has(host string) bool { return h[hostKey(host)] }

// hostKey is one spelling for all that mean the same host.
func hostKey(host string) string {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().String()
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// What a host or an address is that upstreams are not added at, and as words.
var (
	errLinkLocal   = errors.New("a link-local address")
	errUniqueLocal = errors.New("a unique-local address")
	errMetadata    = errors.New("an address at which clouds tell machines their credentials")
)

// metadataNames are what clouds call the service that tells a machine its
// credentials.
var metadataNames = map[string]bool{
	"metadata": true, "metadata.google.internal": true, "metadata.goog": true, "metadata.azure.internal": true, "metadata.azure.com": true,
	"metadata.tencentyun.com": true, "metadata.packet.net": true, "metadata.platformequinix.com": true, "metadata.hetzner.cloud": true,
	"metadata.oraclecloud.com": true, "metadata.service.softlayer.com": true, "api.metadata.cloud.ibm.com": true,
	"instance-data": true, "instance-data.ec2.internal": true, "rancher-metadata": true,
}

// metadata are the addresses of that service outside the link-local range.
var metadata = map[netip.Addr]bool{
	metadataEC2:                            true,
	netip.MustParseAddr("fd20:ce::254"):    true,
	netip.MustParseAddr("fd00:42::42"):     true,
	netip.MustParseAddr("100.100.100.200"): true,
	netip.MustParseAddr("168.63.129.16"):   true,
	netip.MustParseAddr("192.0.0.192"):     true,
}

var metadataEC2 = netip.MustParseAddr("fd00:ec2::254")

// refusedHost says why a host, as written, is none to add an upstream at, or nil.
// It looks up nothing.
func refusedHost(host string) error {
	if ip, err := netip.ParseAddr(host); err == nil {
		return refusedAddr(ip)
	}
	if metadataNames[hostKey(host)] {
		return errMetadata
	}
	if ip, err := netip.ParseAddr(strings.TrimSuffix(host, ".")); err == nil { // some programs take the dot
		return refusedAddr(ip)
	}
	return nil
}

// refusedAddr says why an address is none to add an upstream at, or nil.
func refusedAddr(ip netip.Addr) error {
	if linkLocal(ip) {
		return errLinkLocal
	}
	for _, a := range withIPv4(ip) {
		switch {
		case metadata[a]:
			return errMetadata
		case uniqueLocal.Contains(a):
			return errUniqueLocal
		}
	}
	return nil
}

var uniqueLocal = netip.MustParsePrefix("fc00::/7")

// mapped are the prefixes of IPv6 in which an IPv4 address is the last four
// bytes: as they are, and by NAT64.
var mapped = []netip.Prefix{netip.MustParsePrefix("::/96"), netip.MustParsePrefix("64:ff9b::/96")}

// withIPv4 is an address, and the IPv4 address within it.
func withIPv4(ip netip.Addr) []netip.Addr {
	ip = ip.Unmap().WithZone("")
	all := []netip.Addr{ip}
	if ip.Is4() {
		return all
	}
	b := ip.As16()
	for _, prefix := range mapped {
		if prefix.Contains(ip) {
			all = append(all, netip.AddrFrom4([4]byte(b[12:])))
		}
	}
	if b[0] == 0x20 && b[1] == 0x02 { // 6to4
		all = append(all, netip.AddrFrom4([4]byte(b[2:6])))
	}
	return all
}

// linkLocal reports whether an address is link-local, also as an IPv4 address
// within an IPv6 one, or the one of that kind that was refused from the start.
func linkLocal(ip netip.Addr) bool {
	for _, a := range withIPv4(ip) {
		if a.IsLinkLocalUnicast() || a.IsLinkLocalMulticast() || a == metadataEC2 {
			return true
		}
	}
	return false
}
