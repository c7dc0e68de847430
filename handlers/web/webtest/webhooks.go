package webtest

import (
	"context"
	stdjson "encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"countersign/models"
	"countersign/workers/webhooks"
)

// Program is one that events are sent to: it verifies them by the official library.
type Program struct {
	*httptest.Server

	mu     sync.Mutex
	verify *standardwebhooks.Webhook
	status int
	came   []string // types of the events that it accepted
	Bad    []string // what it could not verify
}

// webhooks has a world send events as the program does, and returns what sends a test.
func (w *World) webhooks() func(context.Context, models.Actor, models.WebhookID) (models.WebhookAnswer, error) {
	w.events = webhooks.New(webhooks.Options{
		Store: w.Store, Out: w.out, Log: slog.New(slog.DiscardHandler),
		RequestURL: func(id models.ResponseID) string { return w.URL + "/approvals/" + string(id) },
	})
	return w.events.Test
}

// SendsEvents has the worker run until the test ends.
func (w *World) SendsEvents() {
	ctx, stop := context.WithCancel(context.WithoutCancel(w.TB.Context()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.events.Run(ctx)
	}()
	w.TB.Cleanup(func() {
		stop()
		<-ended
	})
}

// Program is one that the world trusts.
func (w *World) Program() *Program {
	w.TB.Helper()
	p := &Program{status: http.StatusNoContent}
	p.Server = httptest.NewTLSServer(p)
	w.TB.Cleanup(p.Close)
	w.Roots.AddCert(p.Certificate())
	return p
}

// ServeHTTP takes an event. The world's clock is not the library's.
func (p *Program) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	p.mu.Lock()
	defer p.mu.Unlock()
	var event struct{ Type string }
	if p.verify == nil || p.verify.VerifyIgnoringTimestamp(body, r.Header) != nil ||
		stdjson.Unmarshal(body, &event) != nil {
		p.Bad = append(p.Bad, string(body))
		http.Error(rw, "not verified", http.StatusUnauthorized)
		return
	}
	if p.status >= 300 {
		http.Error(rw, "no <b>room</b>", p.status)
		return
	}
	p.came = append(p.came, event.Type)
	rw.WriteHeader(p.status)
}

// Answers has it verify by a secret and answer with a status.
func (p *Program) Answers(tb testing.TB, secret string, status int) {
	tb.Helper()
	verify, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		tb.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.verify, p.status = verify, status
}

// Accepted are the types of the events that it accepted.
func (p *Program) Accepted() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.came...)
}

// Host is what an admin allows for it.
func (p *Program) Host() string {
	u, _ := url.Parse(p.URL)
	return u.Host
}

// AllowHost has an admin allow a host, by form.
func (p *Person) AllowHost(host string) {
	p.World.TB.Helper()
	form := p.Get("/system/notifications").Is(http.StatusOK).Form("form:has(#allow-host)", "")
	form.Set("host", host)
	p.Post("/system/notifications/hosts", form).Redirects("/system/notifications")
}

// Comes loads a page until it says something: a worker writes what it did a moment later.
func (p *Person) Comes(path, selector, text string) *Page {
	p.World.TB.Helper()
	late, tick := time.After(Browsing), time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for {
		got := p.Get(path).Is(http.StatusOK)
		if strings.Contains(got.Text(selector), text) {
			return got
		}
		select {
		case <-late:
			p.World.TB.Fatalf("%s: %s never says %q: %q", path, selector, text, got.Text(selector))
		case <-tick.C:
		}
	}
}
