package outward_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"countersign/models"
	"countersign/workers/outward"
)

// hosts is a list that does not change.
func hosts(list ...string) func(context.Context) (outward.List, error) {
	return func(context.Context) (outward.List, error) { return list, nil }
}

// classOf is how an attempt ended, which must be an error of the package.
func classOf(t *testing.T, err error) models.SendClass {
	t.Helper()
	e, ok := errors.AsType[*outward.Error](err)
	if !ok {
		t.Fatalf("%v: no *outward.Error", err)
	}
	return e.Class
}

// nameServer answers over UDP. Each name has its addresses, of which each look-up gets the
// next one; the last one stays.
type nameServer struct {
	conn net.PacketConn

	mu    sync.Mutex
	names map[string][]string
	asked map[string]int
}

func newDNS(t *testing.T, names map[string][]string) *nameServer {
	t.Helper()
	var lc net.ListenConfig
	conn, err := lc.ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &nameServer{conn: conn, names: names, asked: map[string]int{}}
	done := make(chan struct{})
	go func() { defer close(done); s.serve() }()
	t.Cleanup(func() { conn.Close(); <-done })
	return s
}

func (s *nameServer) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", s.conn.LocalAddr().String())
	}}
}

func (s *nameServer) serve() {
	buf := make([]byte, 1500)
	for {
		n, from, err := s.conn.ReadFrom(buf)
		if err != nil {
			return
		}
		var query dnsmessage.Message
		if query.Unpack(buf[:n]) != nil || len(query.Questions) != 1 {
			continue
		}
		if packed, err := s.answer(query).Pack(); err == nil {
			_, _ = s.conn.WriteTo(packed, from)
		}
	}
}

func (s *nameServer) answer(query dnsmessage.Message) *dnsmessage.Message {
	q := query.Questions[0]
	m := &dnsmessage.Message{Header: dnsmessage.Header{ID: query.ID, Response: true, RecursionAvailable: true}, Questions: query.Questions}
	s.mu.Lock()
	defer s.mu.Unlock()
	name := strings.TrimSuffix(q.Name.String(), ".")
	addrs, ok := s.names[name]
	if !ok {
		m.RCode = dnsmessage.RCodeNameError
		return m
	}
	addr := netip.MustParseAddr(addrs[min(s.asked[name], len(addrs)-1)])
	head := dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 0}
	switch {
	case q.Type == dnsmessage.TypeA && addr.Is4():
		m.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AResource{A: addr.As4()}}}
		s.asked[name]++
	case q.Type == dnsmessage.TypeAAAA && !addr.Is4():
		m.Answers = []dnsmessage.Resource{{Header: head, Body: &dnsmessage.AAAAResource{AAAA: addr.As16()}}}
		s.asked[name]++
	}
	return m
}
