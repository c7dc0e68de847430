package cmd_test

import (
	"fmt"
	"net"
	"syscall"
	"testing"
	"time"
)

// hang leaves a request half sent, which keeps a server from stopping at once.
func hang(t *testing.T, v *victim) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", v.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "POST /v1/approvals HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n", v.addr, v.agent)
	// The server asks for the body when the handler reads it: now it hangs.
	if _, err := conn.Read(make([]byte, 64)); err != nil {
		t.Fatal(err)
	}
}

func TestStopDoesNotWaitForARequestThatHangs(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	hang(t, v)
	began := time.Now()
	v.signal(t, syscall.SIGTERM)
	if code := v.exit(t); code != 0 || time.Since(began) > 2*time.Second {
		t.Errorf("exit %d after %v, want 0 within 2 s: %s", code, time.Since(began), v.err)
	}
}

func TestSecondSignalKills(t *testing.T) {
	t.Parallel()
	v := newVictim(t)
	hang(t, v)
	v.signal(t, syscall.SIGTERM)
	eventually(t, "the server takes no new connections", func() bool {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", v.addr)
		if err == nil {
			conn.Close()
		}
		return err != nil
	})
	v.signal(t, syscall.SIGTERM)
	v.exit(t)
	if status, ok := v.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
		t.Errorf("the server ended with %v, want by the second signal", v.ProcessState)
	}
}
