package outward_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"countersign/models"
	"countersign/workers/outward"
)

// way is a client that may ask one server on this machine.
func way(server *httptest.Server, timeout time.Duration) *outward.Client {
	return outward.New(outward.Options{Hosts: hosts(server.Listener.Addr().String()), Timeout: timeout, Roots: roots(server), Now: noon})
}

func noon() time.Time { return time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC) }

func roots(server *httptest.Server) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	return pool
}

func post(t *testing.T, url string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// The answers of hostile endpoints are refused, within the time and with little of them read.
func TestHostileAnswers(t *testing.T) {
	t.Parallel()
	var inside atomic.Int32
	mux := http.NewServeMux()
	mux.HandleFunc("/inside", func(http.ResponseWriter, *http.Request) { inside.Add(1) })
	mux.HandleFunc("/redirect", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/inside", http.StatusTemporaryRedirect)
	})
	sent := make(chan int64, 1)
	mux.HandleFunc("/gigabyte", func(w http.ResponseWriter, _ *http.Request) {
		n, _ := io.CopyN(w, endless{}, 1<<30)
		sent <- n
	})
	mux.HandleFunc("/drip", func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, ".")
			_ = http.NewResponseController(w).Flush()
		wait:
			select {
			case <-time.After(20 * time.Millisecond):
			case <-r.Context().Done():
				break wait
			}
		}
	})
	mux.HandleFunc("/silent", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/headers", func(w http.ResponseWriter, _ *http.Request) {
		for i := range 100 {
			w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 4<<10))
		}
	})
	mux.HandleFunc("/closed", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // or the server does not notice that the client is gone
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	for path, want := range map[string]models.SendClass{
		"/redirect": models.SendRedirect, "/gigabyte": models.SendTooLarge, "/drip": models.SendTimeout,
		"/silent": models.SendTimeout, "/headers": models.SendTooLarge, "/closed": models.SendConnect,
	} {
		a, err := way(server, time.Second).Do(post(t, server.URL+path), nil)
		if err == nil {
			t.Errorf("%s: %+v", path, a)
		} else if classOf(t, err) != want {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	if inside.Load() != 0 {
		t.Error("a redirect was followed")
	}
	if n := <-sent; n > 64<<20 {
		t.Errorf("the server could send %d bytes", n)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// Of an answer a kilobyte is kept.
func TestAnswer(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", r.URL.Query().Get("after"))
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, strings.Repeat("x", 5000))
	}))
	t.Cleanup(server.Close)
	for after, want := range map[string]time.Duration{
		"": 0, "90": 90 * time.Second, "-5": 0, "99999999": time.Hour, "soon": 0,
		noon().Add(2 * time.Minute).Format(http.TimeFormat): 2 * time.Minute,
		noon().Add(-time.Minute).Format(http.TimeFormat):    0,
	} {
		req := post(t, server.URL)
		req.URL.RawQuery = "after=" + strings.ReplaceAll(after, " ", "+")
		a, err := way(server, 0).Do(req, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a.Status != 429 || len(a.Body) != 1024 || a.RetryAfter != want {
			t.Errorf("Retry-After %q: %d, %d bytes, again after %v; want %v", after, a.Status, len(a.Body), a.RetryAfter, want)
		}
	}
}

// Without a valid certificate nothing is sent.
func TestCertificates(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	server.StartTLS()
	t.Cleanup(server.Close)
	unknown := outward.New(outward.Options{Hosts: hosts(server.Listener.Addr().String()), Roots: x509.NewCertPool()})
	if _, err := unknown.Do(post(t, server.URL), nil); classOf(t, err) != models.SendCertificate {
		t.Errorf("unknown authority: %v", err)
	}
	port := server.URL[strings.LastIndex(server.URL, ":"):]
	dns := newDNS(t, map[string][]string{"hub.internal": {"127.0.0.1"}})
	other := outward.New(outward.Options{Hosts: hosts("hub.internal" + port), Roots: roots(server), Resolver: dns.resolver()})
	if _, err := other.Do(post(t, "https://hub.internal"+port), nil); classOf(t, err) != models.SendCertificate {
		t.Errorf("another name: %v", err)
	}
	if asked.Load() != 0 {
		t.Error("the server was asked")
	}
}

// A name that changes its address between two look-ups leads nowhere that its first one
// would not have.
func TestNameThatChanges(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(server.Close)
	port := server.URL[strings.LastIndex(server.URL, ":"):]
	dns := newDNS(t, map[string][]string{"example.com": {"2606:4700::1111", "127.0.0.1"}})
	resolver := dns.resolver()
	if first, err := resolver.LookupNetIP(t.Context(), "ip6", "example.com"); err != nil || first[0].String() != "2606:4700::1111" {
		t.Fatalf("first look-up: %v %v", first, err)
	}
	c := outward.New(outward.Options{Hosts: hosts("example.com" + port), Roots: roots(server), Resolver: resolver})
	if _, err := c.Do(post(t, "https://example.com"+port), nil); classOf(t, err) != models.SendRefusedHost {
		t.Errorf("after the change: %v", err)
	}
	if asked.Load() != 0 {
		t.Error("it was connected to")
	}
	listed := outward.New(outward.Options{Hosts: hosts("example.com"+port, server.Listener.Addr().String()), Roots: roots(server), Resolver: resolver})
	if a, err := listed.Do(post(t, "https://example.com"+port), nil); err != nil || a.Status != 200 || asked.Load() != 1 {
		t.Errorf("with its address on the list: %+v %v", a, err)
	}
}

// A list that changes counts for the next request: no connection is kept.
func TestListIsReadForEachRequest(t *testing.T) {
	t.Parallel()
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(server.Close)
	list := outward.List{server.Listener.Addr().String()}
	var broken error
	c := outward.New(outward.Options{Roots: roots(server), Hosts: func(context.Context) (outward.List, error) { return list, broken }})
	if _, err := c.Do(post(t, server.URL), nil); err != nil {
		t.Fatal(err)
	}
	list = nil
	if _, err := c.Do(post(t, server.URL), nil); classOf(t, err) != models.SendRefusedHost {
		t.Errorf("taken off the list: %v", err)
	}
	list, broken = outward.List{server.Listener.Addr().String()}, io.ErrUnexpectedEOF
	if _, err := c.Do(post(t, server.URL), nil); err == nil {
		t.Error("sent without a list")
	}
}
