package hooks_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"countersign/handlers"
	"countersign/handlers/hooks"
)

// stalled is a sender without a token that begins a body and does not end it.
func (w *world) stalled(begin string) *http.Response {
	w.tb.Helper()
	to, err := url.Parse(w.url)
	if err != nil {
		w.tb.Fatal(err)
	}
	conn, err := (&net.Dialer{}).DialContext(w.tb.Context(), "tcp", to.Host)
	if err != nil {
		w.tb.Fatal(err)
	}
	w.tb.Cleanup(func() { _ = conn.Close() })
	stop := context.AfterFunc(w.tb.Context(), func() { _ = conn.Close() })
	w.tb.Cleanup(func() { stop() })
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Length: 60000\r\n\r\n%s", hooks.ClaudeCodePath, to.Host, begin)
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		w.tb.Fatal(err)
	}
	return res
}

func bodyOf(t *testing.T, res *http.Response) string {
	t.Helper()
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 1<<12))
	if err != nil && len(body) == 0 {
		t.Fatal(err)
	}
	return string(body)
}

// Of a body without a token no more is read than the moment's name.
func TestAStrangersBodyIsReadToTheMomentI11(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	res := w.stalled(`{"session_id":"s","hook_event_name":"PreToolUse","tool_input":{"a":"`)
	if body := bodyOf(t, res); res.StatusCode != http.StatusOK || !strings.Contains(body, `"permissionDecision":"deny"`) {
		t.Errorf("%d %s", res.StatusCode, body)
	}
}

// A body that does not come is given up, and its sender told to stop: it may be a call.
func TestAStrangersBodyHasItsTimeI11(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, handlers.NewStrangers(1, time.Millisecond))
	for range 3 { // the place is free again
		res := w.stalled(`{"session_id":"`)
		if body := bodyOf(t, res); res.StatusCode != http.StatusOK || !strings.Contains(body, `"continue":false`) {
			t.Errorf("%d %s", res.StatusCode, body)
		}
	}
}

// Where all places are taken, nothing is read of one more, and its sender is told to stop.
// Who has a token needs no place.
func TestStrangersHaveFewPlacesI11(t *testing.T) {
	t.Parallel()
	places := handlers.NewStrangers(1, time.Hour)
	w := newWorldWith(t, places)
	leave, err := places.Enter(nobody{})
	if err != nil {
		t.Fatal(err)
	}
	res := w.stalled("")
	if body := bodyOf(t, res); res.StatusCode != http.StatusOK || !strings.Contains(body, `"continue":false`) || !strings.Contains(body, "Too many") {
		t.Errorf("%d %s", res.StatusCode, body)
	}
	w.send(w.agent, "", event("PreToolUse", call("Read", `{}`, "1"))).want(t, 200, `"allow"`)
	leave()
	w.send("", "", event("PreToolUse", call("Read", `{}`, "1"))).want(t, 200, `"deny"`)
}

// nobody is an answer that leads nowhere.
type nobody struct{ http.ResponseWriter }

func (nobody) SetReadDeadline(time.Time) error { return nil }
