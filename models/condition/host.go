package condition

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	whatwg "github.com/nlnwa/whatwg-url/url"
)

const maxAddress = 8 << 10 // bytes

// hostOf is the host that an address leads to, in lower case and without port. It is known
// only where browsers (https://url.spec.whatwg.org) and Go's libraries read the same.
func hostOf(v ref.Val) ref.Val {
	text, ok := textOf(v)
	if !ok {
		return failure("an address must be a text")
	}
	host, why := hostIn(text)
	if why != "" {
		return failure(why)
	}
	return types.String(host)
}

func hostIn(text string) (host, why string) {
	const differ = "programs read the address differently, so it is not known where it leads"
	if len(text) > maxAddress {
		return "", "an address is too long to be read"
	}
	browser, err := whatwg.Parse(text)
	if err != nil {
		return "", "an address is incomplete, or not an address"
	}
	library, err := url.Parse(text)
	if err != nil || !strings.EqualFold(library.Scheme, strings.TrimSuffix(browser.Protocol(), ":")) {
		return "", differ
	}
	switch library.Scheme {
	case "http", "https", "ws", "wss", "ftp":
	default:
		return "", "the address is not one of a host that programs connect to"
	}
	one, oneWhy := bareHost(browser.Hostname())
	other, otherWhy := bareHost(strings.ToLower(library.Hostname()))
	switch {
	case oneWhy != "":
		return "", oneWhy
	case otherWhy != "":
		return "", otherWhy
	case one != other:
		return "", differ
	case one == "":
		return "", "an address has no host"
	}
	return one, ""
}

// bareHost is a host in one spelling; why says why it is unknown where it leads: with a dot at its end it is the same
// host to some programs, and an IPv6 address may represent one of IPv4.
func bareHost(host string) (bare, why string) {
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.HasSuffix(host, ".") {
		return "", "a host ends in a dot, which programs read differently"
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return host, ""
	}
	if ip = ip.Unmap(); ip.IsUnspecified() || ip.Zone() != "" || translated(ip) {
		return "", "an address of IP may lead to another one"
	}
	return ip.String(), ""
}

// translations are the parts of IPv6 whose addresses represent ones of IPv4: NAT64 and its local one, 6to4, Teredo, and
// those that are compatible or translated without state.
var translations = []netip.Prefix{
	netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2002::/16"),
	netip.MustParsePrefix("2001::/32"),
	netip.MustParsePrefix("::/96"), netip.MustParsePrefix("::ffff:0:0:0/96"),
}

// translated reports whether an IPv6 address may represent one of IPv4.
func translated(ip netip.Addr) bool {
	if !ip.Is6() || ip.IsLoopback() {
		return false
	}
	b := ip.As16()
	isatap := b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
	return isatap || slices.ContainsFunc(translations, func(p netip.Prefix) bool { return p.Contains(ip) })
}
