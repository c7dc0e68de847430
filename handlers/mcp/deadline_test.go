package mcp_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"countersign/handlers"
	"countersign/handlers/mcp"
)

// stalling is a connection over which no body comes until the deadline.
type stalling struct {
	*httptest.ResponseRecorder

	deadline time.Time
}

func (s *stalling) SetReadDeadline(at time.Time) error {
	s.deadline = at
	return nil
}

func (s *stalling) Read([]byte) (int, error) {
	if s.deadline.IsZero() {
		return 0, io.ErrNoProgress
	}
	return 0, http.ErrBodyReadAfterClose
}

func (s *stalling) Close() error { return nil }

// A body has as long to arrive as on other routes.
func TestABodyHasItsTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, path := range []string{mcp.Path, mcp.SessionPath} {
		s, before := &stalling{ResponseRecorder: httptest.NewRecorder()}, time.Now()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, s)
		r.Host = "127.0.0.1"
		r.Header.Set("Authorization", "Bearer "+w.agent)
		(*w.on.Load()).ServeHTTP(s, r)
		if s.deadline.IsZero() || s.deadline.After(before.Add(handlers.BodyTimeout+time.Minute/4)) {
			t.Errorf("%s: a body may take until %v, %v from now", path, s.deadline, s.deadline.Sub(before))
		}
	}
}
