package process_test

import (
	"fmt"
	"net"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"countersign/cmd/process"
)

// hang leaves a request half sent, which keeps a server from stopping at once.
func hang(t *testing.T, v *process.Victim) {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", v.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "POST /v1/approvals HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n", v.Addr, v.Agent)
	// The server asks for the body when the handler reads it: now it hangs.
	if _, err := conn.Read(make([]byte, 64)); err != nil {
		t.Fatal(err)
	}
}

func TestStopDoesNotWaitForARequestThatHangs(t *testing.T) {
	t.Parallel()
	v := process.NewVictim(t, "--log-level", "warn")
	hang(t, v)
	v.Signal(t, syscall.SIGTERM)
	if code := v.Exit(t); code != 0 || !strings.Contains(v.Out.String()+v.Err.String(), "some requests were cut off") {
		t.Errorf("exit %d, want 0, and not to wait for the request: %s", code, v.Err)
	}
}

// TestEachSignalThatEndsLetsGo: one that only the terminal sends does so too.
func TestEachSignalThatEndsLetsGo(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if signal.Ignored(sig) { // as nohup has it, here and in the server
			continue
		}
		v := process.NewVictim(t)
		v.Signal(t, sig)
		if code := v.Exit(t); code != 0 {
			t.Errorf("%v: exit %d: %s", sig, code, v.Err)
		}
	}
}

func TestSecondSignalKills(t *testing.T) {
	t.Parallel()
	// On a busy machine the server may have stopped by itself before the second signal
	// comes: then it is tried again.
	for range 10 {
		v := process.NewVictim(t, "--log-level", "info")
		hang(t, v)
		v.Signal(t, syscall.SIGTERM)
		process.Eventually(t, "the server stops", func() bool { return strings.Contains(v.Err.String(), "stopping") })
		_ = v.Process.Signal(syscall.SIGTERM)
		v.Exit(t)
		if status, ok := v.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
			return
		}
	}
	t.Error("the second signal never ended the server")
}
