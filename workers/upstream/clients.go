package upstream

import (
	"cmp"
	"net/http"
	"time"

	"countersign/models"
)

// Clients speak to the upstreams that are stored, each as far as it may go.
type Clients struct {
	allow          Hosts
	checked, older *http.Client
}

// NewClients makes them; given, if not nil, is used for all requests.
func NewClients(given *http.Client, allow Hosts) *Clients {
	return &Clients{
		allow:   allow,
		checked: cmp.Or(given, HTTP(Reach{Allow: allow})),
		older:   cmp.Or(given, HTTP(Reach{Allow: allow, Older: true})),
	}
}

// For is the client of one upstream. Codes: invalid.
func (c *Clients) For(u *models.Upstream, key string, timeout time.Duration) (*Client, error) {
	o := Options{BaseURL: u.BaseURL, Key: key, Dialect: Dialect(u.Dialect), HTTP: c.checked, Timeout: timeout, Reach: Reach{Allow: c.allow, Older: !u.CheckedAddress}}
	if o.Reach.Older {
		o.HTTP = c.older
	}
	return New(o)
}

// CloseIdleConnections lets go of connections that nobody uses.
func (c *Clients) CloseIdleConnections() {
	c.checked.CloseIdleConnections()
	c.older.CloseIdleConnections()
}
