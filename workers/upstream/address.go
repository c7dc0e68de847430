package upstream

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"countersign/models"
	"countersign/workers/outward"
)

// Reach says where requests to upstreams may go. Link-local, unique-local and
// metadata addresses belong to a machine, its network and its cloud, with
// credentials among what they tell.
type Reach struct {
	Allow Hosts // connected to wherever they are
	// Older is for upstreams from before all of these were refused: they keep what
	// they had, and only link-local addresses are refused.
	Older bool
}

// CheckBaseURL accepts http and https addresses with a host, perhaps a port and a
// path, and nothing else: no user or password, no query, no fragment, no host that
// is not to be reached. The error names field. Codes: invalid.
func CheckBaseURL(field, raw string, reach Reach) error {
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
		return models.Invalid(field, "must not contain a user or password; the key has its own field")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return models.Invalid(field, "must end with its path: no ? and no #")
	}
	if reach.Allow.Has(u.Hostname()) {
		return nil
	}
	refusal := outward.RefusedHost(u.Hostname())
	if ip, err := netip.ParseAddr(u.Hostname()); reach.Older && (err != nil || !outward.LinkLocal(ip)) {
		refusal = nil
	}
	if refusal != nil {
		return notAllowed(field, u.Hostname(), "is "+refusal.Error())
	}
	return nil
}

// notAllowed is the refusal of a host, with the way out. It shows the host if its letters are plain.
func notAllowed(field, host, why string) error {
	if _, err := netip.ParseAddr(host); err != nil && !outward.IsName(host) {
		host = "HOST"
	}
	return models.Invalid(field,
		"%s, and such addresses are refused; if it is meant, start the server with --upstream-allow %s (COUNTERSIGN_UPSTREAM_ALLOW)", why, host)
}

// lookUpTimeout is how long an upstream's name may take to be looked up when it is
// added. A name that is not known by then is judged when it is connected to.
const lookUpTimeout = 3 * time.Second

// CheckHost looks up the host of an address that CheckBaseURL accepts, and refuses
// one that leads to where an upstream is not added. Codes: invalid.
func CheckHost(ctx context.Context, field, raw string, reach Reach) error {
	u, err := url.Parse(raw)
	if err != nil || reach.Allow.Has(u.Hostname()) {
		return nil // CheckBaseURL tells
	}
	limitCtx, cancel := context.WithTimeout(ctx, lookUpTimeout)
	defer cancel()
	addrs, err := net.DefaultResolver.LookupNetIP(limitCtx, "ip", u.Hostname())
	if err != nil {
		return nil // it may be known later, and is judged then
	}
	for _, ip := range addrs {
		if why := outward.RefusedAddr(ip); why != nil {
			return notAllowed(field, u.Hostname(), "leads to "+why.Error())
		}
	}
	return nil
}

// RefusedHost says what the host of an upstream's address is that new ones are
// refused for, as words; empty if it is allowed. It looks up nothing.
func RefusedHost(raw string, allow Hosts) string {
	u, err := url.Parse(raw)
	if err != nil || allow.Has(u.Hostname()) {
		return ""
	}
	if why := outward.RefusedHost(u.Hostname()); why != nil {
		return why.Error()
	}
	return ""
}

// HTTP is a client that follows no redirect, asks no proxy and connects only where
// reach lets it, whatever name led there.
func HTTP(reach Reach) *http.Client {
	return &http.Client{
		CheckRedirect: noRedirect,
		Transport: &http.Transport{
			DialContext:            reach.dial,
			ForceAttemptHTTP2:      true,
			TLSHandshakeTimeout:    10 * time.Second,
			IdleConnTimeout:        time.Minute,
			MaxIdleConnsPerHost:    4,
			MaxResponseHeaderBytes: 64 << 10,
		},
	}
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// dial connects to a host as it is written in the URL.
func (r Reach) dial(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	if host, _, err := net.SplitHostPort(address); err != nil || !r.Allow.Has(host) {
		dialer.ControlContext = r.control
	}
	return dialer.DialContext(ctx, network, address)
}

// control sees the address after the name was looked up, for each try again, so
// that a name that changes its address does not get around it.
func (r Reach) control(_ context.Context, _, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	switch {
	case err != nil:
		return fmt.Errorf("read address: %w", err)
	case outward.LinkLocal(at.Addr()):
		return outward.ErrLinkLocal
	case r.Older:
		return nil
	}
	return outward.RefusedAddr(at.Addr())
}
