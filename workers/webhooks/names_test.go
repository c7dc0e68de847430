package webhooks_test

import (
	"context"
	"crypto/x509"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/storetest"
	"countersign/workers/outward"
	"countersign/workers/webhooks"
)

// resolving is a resolver that gives every name the address that is set.
func resolving(t *testing.T, to *atomic.Pointer[netip.Addr]) *net.Resolver {
	t.Helper()
	var lc net.ListenConfig
	conn, err := lc.ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	storetest.Must(t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for buf := make([]byte, 1500); ; {
			n, from, err := conn.ReadFrom(buf)
			if err != nil {
				return
			}
			var query dnsmessage.Message
			if query.Unpack(buf[:n]) != nil || len(query.Questions) != 1 {
				continue
			}
			q := query.Questions[0]
			m := dnsmessage.Message{Header: dnsmessage.Header{ID: query.ID, Response: true}, Questions: query.Questions}
			if q.Type == dnsmessage.TypeA {
				m.Answers = []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class}, Body: &dnsmessage.AResource{A: to.Load().As4()}}}
			}
			if packed, err := m.Pack(); err == nil {
				_, _ = conn.WriteTo(packed, from)
			}
		}
	}()
	t.Cleanup(func() { conn.Close(); <-done })
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// onOnePort is a receiver, and a listener at another address of this machine with the same port: one that is free at both.
func onOnePort(t *testing.T, take http.HandlerFunc) (secured *httptest.Server, inside net.Listener, port string) {
	t.Helper()
	var err error
	for range 20 {
		secured = httptest.NewTLSServer(take)
		_, port, err = net.SplitHostPort(secured.Listener.Addr().String())
		storetest.Must(t, err)
		var lc net.ListenConfig
		if inside, err = lc.Listen(t.Context(), "tcp", net.JoinHostPort("127.0.0.2", port)); err == nil {
			t.Cleanup(secured.Close)
			t.Cleanup(func() { inside.Close() })
			return secured, inside, port
		}
		secured.Close()
	}
	t.Fatal(err)
	return nil, nil, ""
}

// An endpoint whose name comes to lead to this machine is refused, and told as refused; back at
// where it may be, it gets what was refused.
func TestANameThatComesToLeadInside(t *testing.T) {
	t.Parallel()
	p, r := newPlace(t), newReceiver(t)
	secured, inside, port := onOnePort(t, r.take)
	var reached atomic.Bool
	go func() {
		if c, err := inside.Accept(); err == nil {
			reached.Store(true)
			c.Close()
		}
	}()
	// The first address is one that somebody allowed as it is; the other nobody did.
	outside, within := netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("127.0.0.2")
	var leads atomic.Pointer[netip.Addr]
	leads.Store(&outside)
	resolver := resolving(t, &leads)
	for _, host := range []string{"example.com:" + port, secured.Listener.Addr().String()} {
		storetest.Must(t, p.People.AllowHost(t.Context(), p.admin, host))
	}
	in := requested()
	in.Name, in.URL = "changes", "https://example.com:"+port+"/hook"
	h, key, err := p.Webhooks.Add(t.Context(), p.admin, in)
	storetest.Must(t, err)
	r.key(t, key)
	roots := x509.NewCertPool()
	roots.AddCert(secured.Certificate())
	p.runs(t, func(o *webhooks.Options) { o.Out = p.outBy(outward.Options{Resolver: resolver, Roots: roots}) })
	p.ask(t, "run", "one")
	r.await(t, "the first", func() bool { return r.count() == 1 })
	leads.Store(&within)
	p.ask(t, "run", "two")
	r.await(t, "the refusal", func() bool {
		s := p.state(t, h.ID)
		return s.BlockCount == 1 && s.Last.Class == models.SendRefusedHost
	})
	leads.Store(&outside)
	storetest.Must(t, p.Webhooks.RetryNow(t.Context(), p.admin, h.ID))
	r.await(t, "the second", func() bool { return r.count() == 2 })
	if reached.Load() {
		t.Error("this machine was connected to")
	}
}

// A certificate that nobody vouches for gets nothing.
func TestACertificateThatIsNotValidGetsNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	var asked atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError) // it would tell of clients that leave
	server.StartTLS()
	t.Cleanup(server.Close)
	at, err := url.Parse(server.URL)
	storetest.Must(t, err)
	storetest.Must(t, p.People.AllowHost(t.Context(), p.admin, at.Host))
	in := requested()
	in.Name, in.URL = "self-signed", server.URL
	h, _, err := p.Webhooks.Add(t.Context(), p.admin, in)
	storetest.Must(t, err)
	p.runs(t)
	p.ask(t, "run", "one")
	(&receiver{}).await(t, "the refusal", func() bool {
		s := p.state(t, h.ID)
		return s.BlockCount == 1 && s.Last.Class == models.SendCertificate
	})
	if asked.Load() > 0 {
		t.Error("it was asked")
	}
}

// Names with line ends and headers in them stay names: they are in the body as JSON writes them,
// and nothing becomes a header.
func TestNamesAddNoHeader(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	var heard *tap
	r := newReceiverAt(t, func(l net.Listener) net.Listener { heard = &tap{Listener: l}; return heard })
	const evil = "Ann\r\nX-Evil: yes\r\n\r\n@everyone https://x.example <b>\u2028"
	p.add(t, r, models.WebhookInput{Types: []string{"approval.requested", "approval.approved"}})
	admin := p.admin
	admin.Name = evil // as it would be, had it ever been let in
	p.runs(t)
	a := p.ask(t, "run", "one")
	storetest.Must(t, storetest.Err(p.Decide(t.Context(), admin, a.ID, models.DecisionInput{Approved: new(true), Digest: a.Digest})))
	r.await(t, "both", func() bool { return r.count() == 2 })
	actor, ok := r.got()[1].Data.Actor["name"].(string)
	if !ok || actor != evil {
		t.Errorf("the name came as %q", actor)
	}
	if strings.Contains(heard.heard(), "\r\nX-Evil") || r.got()[1].Head.Get("X-Evil") != "" {
		t.Error("a name became a header")
	}
}

// An answer that asks for a pause without end gets an hour; one that unpacks to much is not
// unpacked.
func TestAbsurdAnswers(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for name, pause := range map[string]string{"seconds": "999999999", "a date": "Fri, 31 Dec 9999 23:59:59 GMT", "too many": "99999999999999999999999", "less than nothing": "-5"} {
		r := newReceiver(t)
		r.head = http.Header{"Retry-After": {pause}}
		in := requested()
		in.Name = name
		h := p.add(t, r, in)
		r.set(func(event) int { return http.StatusTooManyRequests })
		p.runs(t)
		a := p.ask(t, "run", name)
		r.await(t, "a refusal", func() bool { return p.state(t, h.ID).BlockCount == 1 })
		blocks, err := p.Webhooks.Blocks(t.Context(), p.admin, h.ID)
		storetest.Must(t, err)
		if due := blocks[0].DueAt.Sub(p.clock.Now()); due > outward.MaxRetryAfter {
			t.Errorf("%s: it is tried again after %v", name, due)
		}
		r.set(nil)
		p.clock.Step(outward.MaxRetryAfter)
		p.Bus().Publish(events.Webhooks)
		r.await(t, "the event", func() bool { return attempts(r.got(), a) == 1 })
		p.stop()
		storetest.Must(t, p.Webhooks.Remove(t.Context(), p.admin, h.ID))
	}
	r := newReceiver(t)
	r.head, r.says = http.Header{"Content-Encoding": {"gzip"}}, zeros(t, 32<<20)
	in := requested()
	in.Name = "bomb"
	h := p.add(t, r, in)
	p.runs(t)
	p.ask(t, "run", "bomb")
	r.await(t, "the event", func() bool { s := p.state(t, h.ID); return r.count() == 1 && s.Last != nil })
	answers, err := p.Webhooks.Answers(t.Context(), p.admin, h.ID)
	storetest.Must(t, err)
	if got := answers[0]; got.Class != models.SendSent || string(got.Body) != string(r.says[:1<<10]) {
		t.Errorf("%s, and %d bytes are kept, beginning %x", got.Class, len(got.Body), got.Body[:min(8, len(got.Body))])
	}
}
