// Package upstream speaks to other systems that ask people for approvals, in two dialects: it fetches pending requests
// there and sends the decisions that were made here. It keeps nothing; its caller says what a failure means for a
// verdict.
package upstream

import (
	"net/http"
	"strings"
	"time"

	"countersign/models"
)

// Dialect is the form in which an upstream speaks.
type Dialect string

// The dialects.
const (
	Plain Dialect = "plain" // /function_calls?status=pending, {decision, reason}
	Cloud Dialect = "cloud" // the older cloud API: pages, /agent/… paths
)

// Options say which upstream, and how much is taken from it. BaseURL and Dialect
// are required.
type Options struct {
	BaseURL string // as CheckBaseURL accepts it
	Key     string // sent as a bearer token; empty: none is sent
	Dialect Dialect

	Reach   Reach         // where it may lie
	HTTP    *http.Client  // nil: HTTP(Reach). Redirects are not followed, whatever it says
	Timeout time.Duration // of one request, its answer included; 0: 30 s
	MaxBody int64         // of one answer, in bytes; 0: 8 MiB
}

// Client speaks to one upstream. It may be used from several goroutines.
type Client struct {
	base      string
	dialect   *dialect
	http      *http.Client
	authorize func(*http.Request) // holds the key, so that no print of a Client does
	mask      func(string) string // takes the key out of a text
	timeout   time.Duration
	maxBody   int64
	own       bool // the HTTP client is ours to close
}

// dialect is where things lie and how verdicts are written. Paths with an id take
// it escaped.
type dialect struct {
	calls, contacts             string // paths of the pending items
	respondCall, respondContact func(id string) string
	call, contact               func(id string) string // one of them; nil: it cannot be read
	verdict                     func(approved bool, reason string) any
	answer                      func(response, option string) any
	pages                       bool
}

var dialects = map[Dialect]*dialect{Plain: &plain, Cloud: &cloud}

// New checks the options; nothing is asked yet. Codes: invalid.
func New(o Options) (*Client, error) {
	if err := CheckBaseURL("baseUrl", o.BaseURL, o.Reach); err != nil {
		return nil, err
	}
	d, ok := dialects[o.Dialect]
	if !ok {
		return nil, models.Invalid("dialect", "must be plain or cloud")
	}
	for i := range len(o.Key) {
		if o.Key[i] <= ' ' || o.Key[i] > '~' {
			return nil, models.Invalid("key", "must contain only visible ASCII characters")
		}
	}
	c := &Client{
		base: strings.TrimRight(o.BaseURL, "/"), dialect: d,
		authorize: func(*http.Request) {}, mask: masks(o.Key), timeout: o.Timeout, maxBody: o.MaxBody,
	}
	if o.Key != "" {
		c.authorize = func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+o.Key) }
	}
	if c.timeout <= 0 {
		c.timeout = 30 * time.Second
	}
	if c.maxBody <= 0 {
		c.maxBody = 8 << 20
	}
	if o.HTTP == nil {
		c.http, c.own = HTTP(o.Reach), true
	} else {
		other := *o.HTTP
		other.CheckRedirect = noRedirect
		c.http = &other
	}
	return c, nil
}

// Close lets go of idle connections, unless they belong to Options.HTTP.
func (c *Client) Close() {
	if c.own {
		c.http.CloseIdleConnections()
	}
}
