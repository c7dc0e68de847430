// Package llmtest is an endpoint for chat completions that says what a test
// tells it to, over real HTTP, and records what it was asked. It is imported by
// tests only.
package llmtest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
)

// Server is the endpoint. Its URL is the base URL for a client.
type Server struct {
	URL string

	tb     testing.TB
	http   *httptest.Server
	answer func(Request) Reply
	end    chan struct{} // closed when the test ends: lets go of replies that hang

	mu       sync.Mutex
	requests []Request
	changed  chan struct{} // closed and replaced at every request
}

// New starts an endpoint that lives as long as the test. answer is called for
// each request, from several goroutines if requests come at once; what it does
// not answer (a zero Reply) is a good, empty answer. Script makes one from a list.
func New(tb testing.TB, answer func(Request) Reply) *Server {
	tb.Helper()
	s := &Server{tb: tb, answer: answer, end: make(chan struct{}), changed: make(chan struct{})}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.serve)
	s.http = httptest.NewServer(mux)
	s.URL = s.http.URL + "/v1"
	tb.Cleanup(s.http.Close)
	tb.Cleanup(func() { close(s.end) })
	return s
}

// Script answers with the replies in turn and then with the last one again and
// again.
func Script(replies ...Reply) func(Request) Reply {
	var mu sync.Mutex
	next := 0
	return func(Request) Reply {
		mu.Lock()
		defer mu.Unlock()
		r := replies[next]
		next = min(next+1, len(replies)-1)
		return r
	}
}

// HTTP is a client for the endpoint; what it holds open ends with the test.
func (s *Server) HTTP() *http.Client { return s.http.Client() }

// Requests are what has come so far, in order.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Await waits until at least n requests have come and returns them all. The test
// fails when its context ends first.
func (s *Server) Await(n int) []Request {
	s.tb.Helper()
	for {
		s.mu.Lock()
		changed := s.changed
		requests := append([]Request(nil), s.requests...)
		s.mu.Unlock()
		if len(requests) >= n {
			return requests
		}
		select {
		case <-changed:
		case <-s.tb.Context().Done():
			s.tb.Fatalf("the model was asked %d times, not %d", len(requests), n)
		}
	}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	req := Request{Raw: raw, Header: r.Header}
	if err := json.Unmarshal(raw, &req); err != nil {
		s.tb.Errorf("the request is not understood: %v\n%s", err, raw)
	}
	s.mu.Lock()
	req.N = len(s.requests)
	s.requests = append(s.requests, req)
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
	s.write(w, r, req, s.answer(req))
}
