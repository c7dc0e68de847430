package send

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// mostMailAnswer is how many bytes a mail server may send for one message.
const mostMailAnswer = 64 << 10

// mailWay is the connection to the mail server for one message.
type mailWay struct {
	o    SMTP
	host string
	full bool // the server sent more than mostMailAnswer
}

func (w *mailWay) tls() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, ServerName: w.host, RootCAs: w.o.Roots}
}

// notLocalError is that a server that is asked without TLS is not on this machine.
type notLocalError struct{}

func (*notLocalError) Error() string {
	return "the name of the mail server does not lead to this machine: it needs TLS"
}

// onThisMachine refuses any other address, as the dialer names it.
func onThisMachine(address string) error {
	if at, err := netip.ParseAddrPort(address); err != nil || !at.Addr().Unmap().IsLoopback() {
		return &notLocalError{}
	}
	return nil
}

// dial connects until the end of the context, whatever deadlines the library sets later.
func (w *mailWay) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var dialer net.Dialer
	if w.o.TLS == SMTPNone {
		dialer.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
			return onThisMachine(address)
		}
	}
	plain, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	until, _ := ctx.Deadline()
	conn := &limitedConn{Conn: plain, until: until, rest: mostMailAnswer, full: &w.full}
	if w.o.TLS != SMTPImplicit {
		return conn, nil
	}
	secure := tls.Client(conn, w.tls())
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, plain.Close())
	}
	return secure, nil
}

// limitedConn ends at a moment, and after so many bytes that were read.
type limitedConn struct {
	net.Conn

	until time.Time
	rest  int
	full  *bool
}

var errFull = errors.New("the server sent too much")

func (c *limitedConn) Read(p []byte) (int, error) {
	if c.rest <= 0 {
		*c.full = true
		return 0, errFull
	}
	n, err := c.Conn.Read(p[:min(len(p), c.rest)])
	c.rest -= n
	return n, err
}

func (c *limitedConn) earlier(t time.Time) time.Time {
	if t.IsZero() || t.After(c.until) {
		return c.until
	}
	return t
}

func (c *limitedConn) SetDeadline(t time.Time) error     { return c.Conn.SetDeadline(c.earlier(t)) }
func (c *limitedConn) SetReadDeadline(t time.Time) error { return c.Conn.SetReadDeadline(c.earlier(t)) }

func (c *limitedConn) SetWriteDeadline(t time.Time) error {
	return c.Conn.SetWriteDeadline(c.earlier(t))
}
