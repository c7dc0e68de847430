package storetest

import (
	"net"
	"strconv"
	"syscall"
	"testing"
)

// ClosedPort is an address, host:port, at which nobody listens until the test ends. A port
// that was only free a moment ago may be the next server's: this one is bound, and
// nothing listens on it.
func ClosedPort(tb testing.TB) string {
	tb.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		tb.Fatalf("bind a port: %v", err)
	}
	tb.Cleanup(func() { _ = syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		tb.Fatalf("bind a port: %v", err)
	}
	name, err := syscall.Getsockname(fd)
	bound, ok := name.(*syscall.SockaddrInet4)
	if err != nil || !ok {
		tb.Fatalf("bind a port: %v, %v", name, err)
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(bound.Port))
}
