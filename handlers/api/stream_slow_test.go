package api_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"countersign/models/events"
)

// dial sends the request for a stream and leaves the answer unread.
func (w *world) dial(token, path, from string) net.Conn {
	w.tb.Helper()
	conn, err := new(net.Dialer).DialContext(w.tb.Context(), "tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		w.tb.Fatal(err)
	}
	w.tb.Cleanup(func() { conn.Close() })
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nLast-Event-ID: %s\r\n\r\n", path, token, from); err != nil {
		w.tb.Fatal(err)
	}
	return conn
}

// A reader that does not read is closed, and nothing is kept for it.
func TestASlowReaderIsClosed(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for longer than a reader may take")
	}
	w := newWorld(t)
	big := strings.Repeat("x", 250<<10)
	for i := range 64 { // more than the sockets hold
		w.ask(fmt.Sprintf(`{"toolUseId":"%d","toolName":"rm","input":"%s"}`, i, big))
	}
	w.dial(w.agent, queueStream, "0")
	for w.store.Bus().Subscribers(events.Access) == 0 {
		w.call(w.agent, "GET", "/v1/approvals/stats", "")
	}
	look := time.NewTicker(100 * time.Millisecond)
	defer look.Stop()
	for late := time.After(patience); w.streams.Open() > 0; {
		select {
		case <-look.C:
		case <-late:
			t.Fatal("a reader that does not read is kept")
		}
		w.call(w.agent, "GET", "/v1/approvals/stats", "")
	}
	if n := w.store.Bus().Subscribers(events.Access); n != 0 {
		t.Errorf("%d subscriptions are left", n)
	}
	if all := w.replay(w.agent, queueStream, "0", `"toolName":"rm"`); len(all) != 1 {
		t.Errorf("others are told %d events", len(all))
	}
}

// A quiet stream says again and again that it stands.
func TestAQuietStreamIsKeptOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.api.KeepAlive(20 * time.Millisecond)
	conn := w.dial(w.agent, eventStream, fmt.Sprint(w.head().Seq))
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	defer conn.Close() // first: closing the body alone would read on
	for name, want := range map[string]string{"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"} {
		if got := res.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	said := 0
	for scan := bufio.NewScanner(res.Body); scan.Scan(); {
		if line := scan.Text(); line == ": still here" {
			if said++; said == 3 {
				return
			}
		} else if strings.HasPrefix(line, "data") {
			t.Errorf("told of nothing: %s", line)
		}
	}
	t.Errorf("it ended after %d comments", said)
}
