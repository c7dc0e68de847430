package send_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"countersign/models"
	"countersign/workers/notify/send"
	"countersign/workers/outward"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func noon() time.Time { return time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC) }

// notice is a notice about a request, with all that one may have.
func notice() models.Notice {
	return models.Notice{
		ID: "0198f0aa-0000-7000-8000-000000000001", Kind: models.NoticeWaiting, Request: "0198f0aa-0000-7000-8000-000000000002",
		Agent: "deploy-bot", Tool: "shell_exec", Risk: models.RiskHigh, Deadline: noon().Add(30 * time.Minute), Left: 30 * time.Minute,
		Deciders: []string{"Ann", "Ben"}, MoreDeciders: 1,
		URL: "https://sign.example.com/approvals/2", SettingsURL: "https://sign.example.com/account/notifications",
	}
}

// sink is a service on this machine that keeps what it gets.
type sink struct {
	*httptest.Server

	mu       sync.Mutex
	requests []received
	status   int // that it answers; 0: 200
	answer   string
}

type received struct {
	method, path string
	header       http.Header
	body         []byte
}

func newSink(t *testing.T) *sink {
	t.Helper()
	s := &sink{}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.requests = append(s.requests, received{r.Method, r.URL.RequestURI(), r.Header.Clone(), body})
		if s.status != 0 {
			w.WriteHeader(s.status)
		}
		_, _ = io.WriteString(w, s.answer)
	}))
	t.Cleanup(s.Close)
	return s
}

// only is the one request that came.
func (s *sink) only(t *testing.T) received {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) != 1 {
		t.Fatalf("%d requests came, want 1", len(s.requests))
	}
	return s.requests[0]
}

// roots are the certificates of the servers on this machine.
func roots(server *httptest.Server) *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	return pool
}

// sender may reach the sink and nothing else.
func sender(t *testing.T, s *sink) *send.Sender {
	t.Helper()
	out := outward.New(outward.Options{
		Hosts:   func(context.Context) (outward.List, error) { return outward.List{s.Listener.Addr().String()}, nil },
		Timeout: time.Minute, Now: noon, Roots: roots(s.Server),
	})
	sender, err := send.New(send.Options{Out: out, Now: noon, Push: send.NewPushKeys(send.NewPushKey), Name: "https://sign.example.com"})
	if err != nil {
		t.Fatal(err)
	}
	return sender
}

// certificate is one of this machine, made by net/http/httptest.
func certificate(t *testing.T) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	return server.TLS.Certificates[0], roots(server)
}

// secret is one of Standard Webhooks.
var secret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("0123456789abcdef0123456789abcdef"))
