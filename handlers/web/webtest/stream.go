package webtest

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Patience is after how long a test gives up on what ought to come at once.
const Patience = 5 * time.Minute

// Stream is an open stream of events.
type Stream struct {
	tb     testing.TB
	Header http.Header
	Lines  chan string
	ended  chan struct{}
	Close  context.CancelFunc
}

// Listen opens a stream of events. One that is refused has no lines.
func (p *Person) Listen(path string) *Stream {
	p.World.TB.Helper()
	ctx, cancel := context.WithCancel(p.World.TB.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.World.URL+path, nil)
	if err != nil {
		p.World.TB.Fatal(err)
	}
	req.Header.Set("Accept", "text/html, text/event-stream")
	req.Header.Set("HX-Request", "true")
	client := *p.HTTP
	client.Timeout = 0
	resp, err := client.Do(req) //nolint:bodyclose // closed by who reads it, below
	if err != nil {
		p.World.TB.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		cancel()
		return &Stream{
			tb: p.World.TB, Header: http.Header{"Status": {resp.Status}, "Retry-After": resp.Header["Retry-After"]},
		}
	}
	s := &Stream{
		tb: p.World.TB, Header: resp.Header, Lines: make(chan string, 1000), ended: make(chan struct{}), Close: cancel,
	}
	go func() {
		defer close(s.ended)
		defer resp.Body.Close()
		for scan := bufio.NewScanner(resp.Body); scan.Scan(); {
			s.Lines <- scan.Text()
		}
	}()
	p.World.TB.Cleanup(func() {
		cancel()
		<-s.ended
	})
	return s
}

// Next is the name of the next event.
func (s *Stream) Next() string {
	s.tb.Helper()
	if s.Lines == nil {
		s.tb.Fatalf("no stream: %s", s.Header.Get("Status"))
	}
	for late := time.After(Patience); ; {
		select {
		case line := <-s.Lines:
			if name, ok := strings.CutPrefix(line, "event: "); ok && name != "beat" {
				return name
			}
		case <-late:
			s.tb.Fatal("no event came")
		}
	}
}

// Opening reads the names that every stream begins with, in order.
func (s *Stream) Opening(names ...string) *Stream {
	s.tb.Helper()
	for _, want := range names {
		if got := s.Next(); got != want {
			s.tb.Fatalf("the stream opens with %q, want %q", got, want)
		}
	}
	return s
}

// Ends checks that the server ends it.
func (s *Stream) Ends() {
	s.tb.Helper()
	select {
	case <-s.ended:
	case <-time.After(Patience):
		s.tb.Fatal("the stream goes on")
	}
}
