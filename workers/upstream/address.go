package upstream

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"countersign/models"
)

// CheckBaseURL accepts http and https addresses with a host, perhaps a port and a
// path, and nothing else: no user or password, no query, no fragment, no
// link-local address. The error names field. Codes: invalid.
func CheckBaseURL(field, raw string) error {
	u, err := url.Parse(raw)
	if err != nil {
		return models.Invalid(field, "must be an address such as https://approvals.example.com/v1")
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return models.Invalid(field, "must begin with http:// or https://")
	case u.Hostname() == "" || u.Opaque != "":
		return models.Invalid(field, "must name a host")
	case u.User != nil:
		return models.Invalid(field, "must hold no user and no password; the key goes into its own field")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return models.Invalid(field, "must end with its path: no ? and no #")
	}
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil && linkLocal(ip) {
		return models.Invalid(field, "must not be a link-local address")
	}
	return nil
}

// HTTP is a client that follows no redirect, asks no proxy and connects to no
// link-local address, whatever name led there: those belong to the machine and
// its cloud, with credentials among what they tell.
func HTTP() *http.Client {
	dialer := &net.Dialer{Timeout: 10 * time.Second, ControlContext: control}
	return &http.Client{
		CheckRedirect: stay,
		Transport: &http.Transport{
			DialContext:            dialer.DialContext,
			ForceAttemptHTTP2:      true,
			TLSHandshakeTimeout:    10 * time.Second,
			IdleConnTimeout:        time.Minute,
			MaxIdleConnsPerHost:    4,
			MaxResponseHeaderBytes: 64 << 10,
		},
	}
}

func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

var errLinkLocal = errors.New("the address is link-local")

// control sees the address after the name was looked up, for each try anew, so
// that a name that changes its address does not get around it.
func control(_ context.Context, _, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil || linkLocal(at.Addr()) {
		return errLinkLocal
	}
	return nil
}

// mapped are the prefixes of IPv6 in which an IPv4 address is the last four
// bytes: as they are, and by NAT64.
var mapped = []netip.Prefix{netip.MustParsePrefix("::/96"), netip.MustParsePrefix("64:ff9b::/96")}

// linkLocal reports whether an address is link-local, also as an IPv4 address
// within an IPv6 one, or one at which a cloud tells a machine its credentials.
func linkLocal(ip netip.Addr) bool {
	ip = ip.Unmap().WithZone("")
	if ip.IsLinkLocalUnicast() || ip.IsLinkLocalMulticast() || ip == metadata {
		return true
	}
	if ip.Is4() {
		return false
	}
	b := ip.As16()
	for _, prefix := range mapped {
		if prefix.Contains(ip) && netip.AddrFrom4([4]byte(b[12:])).IsLinkLocalUnicast() {
			return true
		}
	}
	return b[0] == 0x20 && b[1] == 0x02 && netip.AddrFrom4([4]byte(b[2:6])).IsLinkLocalUnicast() // 6to4
}

// metadata is the one such address outside the link-local range.
var metadata = netip.MustParseAddr("fd00:ec2::254")
