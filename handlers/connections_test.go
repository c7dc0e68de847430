package handlers_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"countersign/handlers"
)

// guarded serves through Connections: /refused does not read its body, all else
// does.
func guarded(t *testing.T, most int) *httptest.Server {
	t.Helper()
	l := handlers.NewConnections(most)
	s := httptest.NewUnstartedServer(l.Handler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/refused" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		_, _ = io.Copy(w, r.Body)
	})))
	s.Config.ConnState, s.Config.ConnContext = l.State, l.Context
	s.Start()
	t.Cleanup(s.Close)
	return s
}

func connect(t *testing.T, s *httptest.Server) net.Conn {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	stop := context.AfterFunc(t.Context(), func() { _ = conn.Close() })
	t.Cleanup(func() { stop() })
	// So that a connection that is held fails the test, and does not hang it.
	_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	return conn
}

func send(t *testing.T, conn net.Conn, path, body string, length int) *http.Response {
	t.Helper()
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", path, length, body)
	in := bufio.NewReader(conn)
	res, err := http.ReadResponse(in, nil)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	_ = res.Body.Close()
	return res
}

func ended(t *testing.T, conn net.Conn) bool {
	t.Helper()
	_, err := conn.Read(make([]byte, 1))
	if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() {
		return false
	}
	return err != nil
}

func TestARefusalWithAnUnreadBodyEndsItsConnection(t *testing.T) {
	t.Parallel()
	s := guarded(t, 100)
	for name, sent := range map[string]struct {
		body   string
		length int
	}{"one byte of many": {"{", 1000}, "all of it": {"0123456789", 10}} {
		conn := connect(t, s)
		res := send(t, conn, "/refused", sent.body, sent.length)
		if res.StatusCode != http.StatusUnauthorized || !res.Close {
			t.Errorf("%s: %s, Connection: close is %v", name, res.Status, res.Close)
		}
		if !ended(t, conn) {
			t.Errorf("%s: the connection is held", name)
		}
	}
}

func TestAConnectionIsKeptWhenTheBodyWasRead(t *testing.T) {
	t.Parallel()
	conn := connect(t, guarded(t, 100))
	for range 3 {
		if res := send(t, conn, "/", "0123456789", 10); res.Close || res.StatusCode != http.StatusOK {
			t.Fatalf("%s, Connection: close is %v", res.Status, res.Close)
		}
	}
}

func TestTheOldestThatSendsNoWholeRequestMakesRoom(t *testing.T) {
	t.Parallel()
	s := guarded(t, 3)
	served := connect(t, s)
	send(t, served, "/", "0123456789", 10)
	silent, half := connect(t, s), connect(t, s)
	fmt.Fprint(half, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n0")
	// Which of the two is accepted first is the system's to say; both make room.
	for range 3 {
		if res := send(t, connect(t, s), "/", "0123456789", 10); res.StatusCode != http.StatusOK {
			t.Fatal(res.Status)
		}
	}
	if !ended(t, silent) || !ended(t, half) {
		t.Error("they are held while others need the room")
	}
}
