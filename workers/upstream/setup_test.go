package upstream_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/dns/dnsmessage"

	"countersign/workers/upstream"
	"countersign/workers/upstream/upstreamtest"
)

const key = "key-0f4c7a91"

func TestMain(m *testing.M) {
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go names(theirs)
		return ours, nil
	}}
	goleak.VerifyTestMain(m)
}

// local are zones whose names all lie at one address.
var local = map[string]netip.Addr{
	"link-local": netip.MustParseAddr("169.254.169.254"), "metadata": netip.MustParseAddr("100.100.100.200"), "unique-local": netip.MustParseAddr("fd12::7"),
}

// names is a name server that knows the zones of local, and no other name.
func names(conn net.Conn) {
	defer conn.Close()
	for {
		var size uint16
		if binary.Read(conn, binary.BigEndian, &size) != nil {
			return
		}
		query := make([]byte, size)
		if _, err := io.ReadFull(conn, query); err != nil {
			return
		}
		var m dnsmessage.Message
		if m.Unpack(query) != nil {
			return
		}
		m.Response, m.Additionals = true, nil
		q := m.Questions[0]
		labels := strings.Split(q.Name.String(), ".")
		at, known := local[labels[max(len(labels)-2, 0)]]
		header := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class, TTL: 1}
		switch {
		case !known:
			m.RCode = dnsmessage.RCodeNameError
		case q.Type == dnsmessage.TypeA && at.Is4():
			m.Answers = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.AResource{A: at.As4()}}}
		case q.Type == dnsmessage.TypeAAAA && at.Is6():
			m.Answers = []dnsmessage.Resource{{Header: header, Body: &dnsmessage.AAAAResource{AAAA: at.As16()}}}
		}
		reply, err := m.Pack()
		if err != nil || binary.Write(conn, binary.BigEndian, uint16(len(reply))) != nil {
			return
		}
		if _, err := conn.Write(reply); err != nil {
			return
		}
	}
}

// both are the dialects: most tests run in each.
var both = [...]upstream.Dialect{upstream.Plain, upstream.Cloud}

// pair starts an upstream and a client of it.
func pair(t *testing.T, d upstream.Dialect, o upstreamtest.Options) (*upstreamtest.Server, *upstream.Client) {
	t.Helper()
	o.Cloud, o.Key = d == upstream.Cloud, key
	s := upstreamtest.New(t, o)
	return s, client(t, upstream.Options{BaseURL: s.URL, Key: key, Dialect: d})
}

func client(t *testing.T, o upstream.Options) *upstream.Client {
	t.Helper()
	if o.Timeout == 0 {
		o.Timeout = 20 * time.Second
	}
	c, err := upstream.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// faulty plans one fault for every request of an act.
func faulty(act upstreamtest.Act, f upstreamtest.Fault) func(upstreamtest.Request) upstreamtest.Fault {
	return func(r upstreamtest.Request) upstreamtest.Fault {
		if r.Act == act {
			return f
		}
		return upstreamtest.Fault{}
	}
}

// keepsSecrets fails the test if a text that people read holds what it must not.
func keepsSecrets(t *testing.T, what, text string) {
	t.Helper()
	for _, secret := range []string{key, "127.0.0.1", "as planned"} {
		if strings.Contains(text, secret) {
			t.Errorf("%s: %q holds %q", what, text, secret)
		}
	}
}
