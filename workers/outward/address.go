package outward

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
)

// What an address is, where it is not one of the public internet, in words.
var (
	ErrLinkLocal   = errors.New("a link-local address")
	ErrUniqueLocal = errors.New("a unique-local address")
	ErrMetadata    = errors.New("an address at which clouds tell machines their credentials")
	errLoopback    = errors.New("this machine")
	errPrivate     = errors.New("an address of a local network")
	errSpecial     = errors.New("an address that no host of the public internet has")
)

// metadataNames are what clouds call the service that tells a machine its
// credentials.
var metadataNames = map[string]bool{
	"metadata": true, "metadata.google.internal": true, "metadata.goog": true, "metadata.azure.internal": true,
	"metadata.azure.com":      true,
	"metadata.tencentyun.com": true, "metadata.packet.net": true, "metadata.platformequinix.com": true,
	"metadata.hetzner.cloud":   true,
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

// IsName reports whether a text may be a host's name, as it is looked up.
func IsName(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	return strings.Trim(s, letters) == ""
}

// HostKey is one spelling for all that mean the same host.
func HostKey(host string) string {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.Unmap().String()
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// RefusedHost is ErrLinkLocal, ErrUniqueLocal or ErrMetadata for a host that is one, as
// written, or nil. It looks up nothing.
func RefusedHost(host string) error {
	if ip, err := netip.ParseAddr(host); err == nil {
		return RefusedAddr(ip)
	}
	if metadataNames[HostKey(host)] {
		return ErrMetadata
	}
	if ip, err := netip.ParseAddr(strings.TrimSuffix(host, ".")); err == nil { // some programs take the dot
		return RefusedAddr(ip)
	}
	return nil
}

// RefusedAddr is ErrLinkLocal, ErrUniqueLocal or ErrMetadata for an address that is one,
// or nil.
func RefusedAddr(ip netip.Addr) error {
	if LinkLocal(ip) {
		return ErrLinkLocal
	}
	for _, a := range withIPv4(ip) {
		switch {
		case metadata[a]:
			return ErrMetadata
		case uniqueLocal.Contains(a):
			return ErrUniqueLocal
		}
	}
	return nil
}

var uniqueLocal = netip.MustParsePrefix("fc00::/7")

// mapped are the prefixes of IPv6 in which an IPv4 address is the last four
// bytes: as they are, and by NAT64.
var embeddings = []netip.Prefix{netip.MustParsePrefix("::/96"), nat64}

var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// withIPv4 is an address, and the IPv4 address within it.
func withIPv4(ip netip.Addr) []netip.Addr {
	ip = ip.Unmap().WithZone("")
	all := []netip.Addr{ip}
	if ip.Is4() {
		return all
	}
	b := ip.As16()
	for _, prefix := range embeddings {
		if prefix.Contains(ip) {
			all = append(all, netip.AddrFrom4([4]byte(b[12:])))
		}
	}
	if b[0] == 0x20 && b[1] == 0x02 { // 6to4
		all = append(all, netip.AddrFrom4([4]byte(b[2:6])))
	}
	return all
}

// LinkLocal reports whether an address is link-local, also as an IPv4 address
// within an IPv6 one, or the one of that kind that upstreams refused from the start.
func LinkLocal(ip netip.Addr) bool {
	for _, a := range withIPv4(ip) {
		if a.IsLinkLocalUnicast() || a.IsLinkLocalMulticast() || a == metadataEC2 {
			return true
		}
	}
	return false
}

// notPublic says why an address is not one of the public internet, or is nil.
func notPublic(ip netip.Addr) error {
	if why := RefusedAddr(ip); why != nil {
		return why
	}
	for _, a := range withIPv4(ip) {
		switch {
		case a.IsLoopback():
			return errLoopback
		case a.IsPrivate():
			return errPrivate
		}
		for _, prefix := range localNetworks {
			if prefix.Contains(a) {
				return errPrivate
			}
		}
	}
	a := ip.Unmap().WithZone("")
	if a.Is6() && !global6.Contains(a) && !nat64.Contains(a) {
		return errSpecial
	}
	for _, prefix := range special {
		if slices.ContainsFunc(withIPv4(ip), prefix.Contains) {
			return errSpecial
		}
	}
	return nil
}

// localNetworks are addresses that lead to different hosts in each network, besides those
// that net/netip knows as private.
var localNetworks = []netip.Prefix{
	netip.MustParsePrefix("100.64.0.0/10"), // behind a provider's own translation
	netip.MustParsePrefix("198.18.0.0/15"), // to measure networks
	netip.MustParsePrefix("64:ff9b:1::/48"),
	netip.MustParsePrefix("fec0::/10"),
}

// global6 is all of IPv6 that hosts of the internet have.
var global6 = netip.MustParsePrefix("2000::/3")

// special are addresses that belong to no host of the public internet.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"),
	netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"),
	netip.MustParsePrefix("192.88.99.0/24"),
	netip.MustParsePrefix("198.51.100.0/24"),
	netip.MustParsePrefix("203.0.113.0/24"),
	netip.MustParsePrefix("224.0.0.0/3"), // multicast, reserved, broadcast
	netip.MustParsePrefix("2001::/23"),   // among them Teredo, which hides an IPv4 address
	netip.MustParsePrefix("2001:db8::/32"),
	netip.MustParsePrefix("3fff::/20"),
}
