package outward

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"countersign/models"
)

// How much of an answer is read.
const (
	KeptBody  = 1 << 10  // bytes of the body that are kept
	MaxBody   = 64 << 10 // of an answer that is read to its end; more is refused
	maxHeader = 16 << 10
)

// MaxRetryAfter is the longest pause that a service may ask for.
const MaxRetryAfter = time.Hour

// Options say where requests may go. Hosts is required.
type Options struct {
	Hosts   func(context.Context) (List, error) // the admin's list, read for each request
	Timeout time.Duration                       // of one request, its answer included; 0: 15 s
	Now     func() time.Time                    // required where services name a moment to try again at

	Resolver *net.Resolver  // nil: the machine's
	Roots    *x509.CertPool // nil: the machine's
}

// Client sends requests. It keeps no connection open, so that each is judged by the list
// and the addresses of its own time.
type Client struct{ o Options }

// New makes a client.
func New(o Options) *Client {
	if o.Timeout <= 0 {
		o.Timeout = 15 * time.Second
	}
	return &Client{o}
}

// Answer is what came back.
type Answer struct {
	Status     int
	Body       []byte        // its first KeptBody bytes
	RetryAfter time.Duration // 0: none was asked for
}

// Error is why there is no whole answer.
type Error struct {
	Class  models.SendClass
	Text   string // for admins: it may name addresses of the local network
	Status int    // if it had come by then; else 0
}

func (e *Error) Error() string { return string(e.Class) + ": " + e.Text }

// Do sends one request and reads the answer. Redirects are not followed and are an
// error, as is an answer without an end. Each error is an *Error.
func (c *Client) Do(req *http.Request, vendors Vendors) (*Answer, error) {
	list, err := c.o.Hosts(req.Context())
	if err != nil {
		return nil, &Error{Class: models.SendConnect, Text: "the list of allowed hosts cannot be read"}
	}
	if err := check(req.URL, list, vendors); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(req.Context(), c.o.Timeout)
	defer cancel()
	client := &http.Client{Transport: c.transport(ctx, list, req.URL.Hostname()), CheckRedirect: noRedirect}
	res, err := client.Do(req.WithContext(ctx))
	if err != nil {
		return nil, failure(ctx, err)
	}
	defer res.Body.Close()
	return c.read(ctx, res)
}

// Check refuses an address that Do would refuse as it is written. It looks up nothing. The
// error names field. Codes: invalid.
func (c *Client) Check(ctx context.Context, field, raw string, vendors Vendors) error {
	u, err := url.Parse(raw)
	if err != nil {
		return models.Invalid(field, "must be an address such as https://hooks.example.com/path")
	}
	list, err := c.o.Hosts(ctx)
	if err != nil {
		return err
	}
	if e, ok := errors.AsType[*Error](check(u, list, vendors)); ok {
		return models.Invalid(field, "%s", e.Text)
	}
	return nil
}

// read takes the answer to its end.
func (c *Client) read(ctx context.Context, res *http.Response) (*Answer, error) {
	a := &Answer{Status: res.StatusCode, RetryAfter: c.retryAfter(res.Header.Get("Retry-After"))}
	if res.StatusCode >= 300 && res.StatusCode <= 399 {
		return nil, &Error{
			Class: models.SendRedirect, Status: res.StatusCode, Text: "it redirects to another address, which is not followed",
		}
	}
	if res.StatusCode < 200 {
		return a, nil // another protocol begins, without an end
	}
	var body bytes.Buffer
	n, err := io.Copy(&keep{&body, KeptBody}, io.LimitReader(res.Body, MaxBody+1))
	a.Body = body.Bytes()
	if res.StatusCode >= 400 {
		return a, nil // the status says it all, however the rest of the answer comes
	}
	if err == nil {
		err = ctx.Err() // a body that is cut off by the time may look whole
	}
	switch {
	case err != nil:
		e := failure(ctx, err)
		e.Status = res.StatusCode
		return nil, e
	case n > MaxBody:
		return nil, &Error{
			Class: models.SendTooLarge, Status: res.StatusCode, Text: fmt.Sprintf("the answer has more than %d bytes", MaxBody),
		}
	}
	return a, nil
}

// keep passes the first bytes on and drops the rest.
type keep struct {
	to   io.Writer
	rest int
}

func (k *keep) Write(p []byte) (int, error) {
	part := p[:min(len(p), k.rest)]
	k.rest -= len(part)
	if _, err := k.to.Write(part); err != nil {
		return 0, err
	}
	return len(p), nil
}

// check judges the address as it is written.
func check(u *url.URL, list List, vendors Vendors) error {
	host, port := u.Hostname(), u.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80"}[u.Scheme]
	}
	refuse := func(text string) error { return &Error{Class: models.SendRefusedHost, Text: text} }
	switch {
	case u.Scheme != "https" && u.Scheme != "http":
		return refuse("the address must begin with https://")
	case host == "" || u.Opaque != "" || u.User != nil:
		return refuse("the address must name a host, without a user or password")
	case u.Scheme == "https" && vendors.has(host, port), list.has(host, port) && u.Scheme == "https":
		return nil
	case u.Scheme == "http" && !localHost(host):
		return refuse("the address must begin with https://: only hosts of the local network may be asked without")
	case !list.has(host, port):
		return refuse(models.HostNotAllowed)
	}
	return nil
}

// localHost reports whether a host, as written, is one of the local network.
func localHost(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && notPublic(ip) != nil || localName(host)
}

// transport connects for one request to where its host may lead. It closes its connections at the end of ctx, which is
// the request's: the library goes on with a handshake after the request has ended, and an endpoint could keep it
// waiting for ever.
func (c *Client) transport(ctx context.Context, list List, host string) *http.Transport {
	dialer := &net.Dialer{Timeout: c.o.Timeout, Resolver: c.o.Resolver}
	dialer.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return &Error{Class: models.SendRefusedHost, Text: "it leads to no address"}
		}
		if why := list.mayLead(host, at); why != nil {
			return &Error{
				Class: models.SendRefusedHost,
				Text: fmt.Sprintf("it leads to %s, %v; if it is meant, add this address to the list of allowed hosts", at.Addr(),
					why),
			}
		}
		return nil
	}
	dial := func(_ context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err == nil {
			context.AfterFunc(ctx, func() { conn.Close() })
		}
		return conn, err
	}
	return &http.Transport{
		Proxy:                  nil, // none, whatever the environment says
		DialContext:            dial,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: c.o.Roots},
		ForceAttemptHTTP2:      true,
		DisableKeepAlives:      true,
		DisableCompression:     true, // a small answer stays small here
		MaxResponseHeaderBytes: maxHeader,
	}
}

func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// failure says why a request has no answer.
func failure(ctx context.Context, err error) *Error {
	var refusal *Error
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var number syscall.Errno
	switch {
	case errors.As(err, &refusal):
		return refusal
	case errors.Is(ctx.Err(), context.DeadlineExceeded) || isTimeout(err):
		return &Error{Class: models.SendTimeout, Text: "no whole answer came in time"}
	case errors.As(err, &name):
		return &Error{Class: models.SendNameNotFound, Text: "the name of the host is not known"}
	case errors.As(err, &certificate):
		return &Error{Class: models.SendCertificate, Text: "the certificate is not valid for this host"}
	case strings.Contains(err.Error(), "response headers exceeded"), strings.Contains(err.Error(), "header list larger"):
		return &Error{Class: models.SendTooLarge, Text: "the answer's headers are too large"}
	case errors.As(err, &number):
		return &Error{Class: models.SendConnect, Text: number.Error()}
	}
	return &Error{Class: models.SendConnect, Text: "the connection broke"}
}

func isTimeout(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}

// retryAfter reads the header of that name: seconds, or a moment.
func (c *Client) retryAfter(value string) time.Duration {
	var d time.Duration
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		d = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(value); err == nil && c.o.Now != nil {
		d = at.Sub(c.o.Now())
	}
	return min(max(d, 0), MaxRetryAfter)
}
