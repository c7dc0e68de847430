package process_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"countersign/cmd/process"
)

// heldConnections is how many one attacker opens with 3 MB.
const heldConnections = 20_000

// 20,000 connections are held open, with one packet each and with none, and the
// server answers others all the while. How fast is logged; it is measured while no
// other test of this package runs.
func TestHeldConnectionsDoNotKeepOthersOut(t *testing.T) {
	n := heldConnections
	limit := unix.Rlimit{Cur: 65_536, Max: 65_536}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
			t.Fatal(err)
		}
		n = min(n, int(limit.Cur)-1000)
		t.Logf("the limit on open files is %d: %d connections are held", limit.Cur, n)
	}
	v := process.NewVictim(t)
	for name, packet := range map[string]string{
		"a refused request with a byte of its body": "POST /v1/approvals HTTP/1.1\r\nHost: " + v.Addr + "\r\nContent-Length: 1000\r\n\r\n{",
		"half a sign-in form":                       "POST /signin HTTP/1.1\r\nHost: " + v.Addr + "\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\ne",
		"nothing":                                   "",
	} {
		t.Run(name, func(t *testing.T) {
			stop := watchReady(t, v)
			conns := hold(t, v.Addr, n, packet)
			slowest, answers := stop()
			t.Logf("/readyz answered %d times while %d were opened, the slowest in %v", answers, len(conns), slowest)
			if answers == 0 {
				t.Error("/readyz did not answer")
			}
			slowest = 0
			for range 20 {
				slowest = max(slowest, ready(t, v))
			}
			t.Logf("/readyz answered in %v at most while they were held", slowest)
			if strings.HasPrefix(packet, "POST /v1") {
				endsAll(t, conns)
			}
		})
	}
}

// ready asks /readyz over a connection of its own and says how long it took.
func ready(t *testing.T, v *process.Victim) time.Duration {
	t.Helper()
	began := time.Now()
	req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodGet, "http://"+v.Addr+"/readyz", http.NoBody)
	if err != nil {
		t.Error(err)
		return 0
	}
	req.Close = true
	res, err := (&http.Client{Timeout: process.Patience}).Do(req)
	if err != nil {
		t.Errorf("/readyz: %v", err)
		return 0
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		t.Errorf("/readyz: %s", res.Status)
	}
	return time.Since(began)
}

// watchReady asks /readyz again and again until stopped.
func watchReady(t *testing.T, v *process.Victim) (stop func() (slowest time.Duration, answers int)) {
	t.Helper()
	var ended atomic.Bool
	var slowest time.Duration
	answers, done := 0, make(chan struct{})
	go func() {
		defer close(done)
		for !ended.Load() {
			slowest = max(slowest, ready(t, v))
			answers++
		}
	}()
	return func() (time.Duration, int) {
		ended.Store(true)
		<-done
		return slowest, answers
	}
}

// hold opens connections from several addresses, for each has some 28,000 ports,
// and sends a packet over each.
func hold(t *testing.T, addr string, n int, packet string) []net.Conn {
	t.Helper()
	conns := make([]net.Conn, n)
	var all sync.WaitGroup
	next := atomic.Int64{}
	for range 4 {
		all.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				from := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(2+i%8))}}
				conn, err := from.DialContext(t.Context(), "tcp", addr)
				if err != nil {
					t.Errorf("connection %d: %v", i, err)
					return
				}
				conns[i] = conn
				_, _ = io.WriteString(conn, packet) // the server may have closed it already
			}
		})
	}
	all.Wait()
	t.Cleanup(func() {
		for _, conn := range conns {
			if conn != nil {
				_ = conn.Close()
			}
		}
	})
	return conns
}

// endsAll looks that each was refused and closed by the server.
func endsAll(t *testing.T, conns []net.Conn) {
	t.Helper()
	for i, conn := range conns {
		if conn == nil {
			continue
		}
		_ = conn.SetReadDeadline(time.Now().Add(process.Patience))
		in := bufio.NewReader(conn)
		res, err := http.ReadResponse(in, nil) //nolint:bodyclose // the connection is closed with the test
		if err != nil {
			t.Fatalf("connection %d has no answer: %v", i, err)
		}
		if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusUnauthorized {
			t.Fatalf("connection %d: %s, %v", i, res.Status, err)
		}
		if _, err := in.ReadByte(); !errors.Is(err, io.EOF) && !errors.Is(err, unix.ECONNRESET) {
			t.Fatalf("connection %d is held: %v", i, err)
		}
	}
}
