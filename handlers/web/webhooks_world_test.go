package web_test

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

	"countersign/handlers/web"
	"countersign/models"
	"countersign/workers/webhooks"
)

// webhooks has a world send events as the program does.
func (w *world) webhooks() web.Webhooks {
	w.events = webhooks.New(webhooks.Options{
		Store: w.store, Out: w.out, Log: slog.New(slog.DiscardHandler),
		RequestURL: func(id models.ResponseID) string { return w.url + "/approvals/" + string(id) },
	})
	return web.Webhooks{Test: w.events.Test}
}

// sendsEvents has the worker run until the test ends.
func (w *world) sendsEvents() {
	ctx, stop := context.WithCancel(context.WithoutCancel(w.tb.Context()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.events.Run(ctx)
	}()
	w.tb.Cleanup(func() {
		stop()
		<-ended
	})
}

// program is one that events are sent to: it verifies them by the official library.
type program struct {
	*httptest.Server

	mu     sync.Mutex
	verify *standardwebhooks.Webhook
	status int
	came   []string // types of the events that it accepted
	bad    []string // what it could not verify
}

func (w *world) program() *program {
	w.tb.Helper()
	p := &program{status: http.StatusNoContent}
	p.Server = httptest.NewTLSServer(p)
	w.tb.Cleanup(p.Close)
	w.roots.AddCert(p.Certificate())
	return p
}

// ServeHTTP takes an event. The world's clock is not the library's.
func (p *program) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	p.mu.Lock()
	defer p.mu.Unlock()
	var event struct{ Type string }
	if p.verify == nil || p.verify.VerifyIgnoringTimestamp(body, r.Header) != nil || stdjson.Unmarshal(body, &event) != nil {
		p.bad = append(p.bad, string(body))
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

// answers has it verify by a secret and answer with a status.
func (p *program) answers(tb testing.TB, secret string, status int) {
	tb.Helper()
	verify, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		tb.Fatal(err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.verify, p.status = verify, status
}

// accepted are the types of the events that it accepted.
func (p *program) accepted() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.came...)
}

func (p *program) host() string {
	u, _ := url.Parse(p.URL)
	return u.Host
}

// allowHost has an admin allow a host, by form.
func (p *person) allowHost(host string) {
	p.w.tb.Helper()
	form := p.get("/system/notifications").is(http.StatusOK).form("form:has(#allow-host)", "")
	form.Set("host", host)
	p.post("/system/notifications/hosts", form).redirects("/system/notifications")
}

// comes loads a page until it says something: a worker writes what it did a moment later.
func (p *person) comes(path, selector, text string) *page {
	p.w.tb.Helper()
	late, tick := time.After(browsing), time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for {
		got := p.get(path).is(http.StatusOK)
		if strings.Contains(got.text(selector), text) {
			return got
		}
		select {
		case <-late:
			p.w.tb.Fatalf("%s: %s never says %q: %q", path, selector, text, got.text(selector))
		case <-tick.C:
		}
	}
}
