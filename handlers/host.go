package handlers

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/models"
)

// openToAnyHost are the paths that a supervisor asks by whatever address it has.
var openToAnyHost = map[string]bool{"/healthz": true, "/readyz": true, "/metrics": true}

// HostGuard refuses requests whose Host is neither the public URL's nor
// loopback, so that a page elsewhere cannot reach this server under a name of
// its own (DNS rebinding). Ports are not compared: a proxy may change them.
func HostGuard(public *url.URL) echo.MiddlewareFunc {
	own := ""
	if public != nil {
		own = strings.ToLower(public.Hostname())
	}
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			r := c.Request()
			if openToAnyHost[r.URL.Path] || ownHost(r, own) {
				return next(c)
			}
			return models.Errorf(CodeUnknownHost,
				"This server answers to the host of its public URL and to localhost only; set --public-url to the address that people and agents use.")
		}
	}
}

func ownHost(r *http.Request, own string) bool {
	host := strings.ToLower(hostname(r.Host))
	if host == "" {
		return false
	}
	return host == own || IsLoopback(host)
}

// hostname is a Host header without its port and brackets.
func hostname(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

// IsLoopback reports whether a host name or address means this machine to
// everybody: localhost, 127.0.0.0/8, ::1.
func IsLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
