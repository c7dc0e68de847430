package upstream

import (
	"cmp"
	"net/http"
	"time"

	"countersign/models"
)

// Clients speak to the upstreams that are stored, each as far as it may go.
type Clients struct {
	allow        Hosts
	guard, older *http.Client
}

// NewClients makes them; given, if not nil, is used for all requests.
func NewClients(base *http.Client, allow Hosts) *Clients {
	return &Clients{
		allow: allow,
		guard: cmp.Or(base, HTTP(Reach{Allow: allow})),
		older: cmp.Or(base, HTTP(Reach{Allow: allow, Older: true})),
	}
}

// For is the client of one upstream. Codes: invalid.
func (c *Clients) For(u *models.Upstream, key string, timeout time.Duration) (*Client, error) {
	o := Options{
		BaseURL: u.BaseURL, Key: key, Dialect: Dialect(u.Dialect), HTTP: c.guard, Timeout: timeout,
		Reach: Reach{Allow: c.allow, Older: !u.CheckedAddress},
	}
	if o.Reach.Older {
		o.HTTP = c.older
	}
	return New(o)
}

// CloseIdleConnections closes unused connections.
func (c *Clients) CloseIdleConnections() {
	c.guard.CloseIdleConnections()
	c.older.CloseIdleConnections()
}
