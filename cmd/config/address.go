package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"syscall"
)

// addressTakenError says in a sentence why the server cannot listen, and what to do.
type addressTakenError struct {
	addr string
	err  error
}

func (e *addressTakenError) Error() string {
	return fmt.Sprintf("%s is already in use, perhaps by another Countersign that is running. Stop it, or choose another address: --addr %s", e.addr, nextPort(e.addr))
}

func (e *addressTakenError) Unwrap() error { return e.err }

// ListenError is the error of a server that could not listen at an address, in words that say what to do.
func ListenError(addr string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return &addressTakenError{addr, err}
	}
	return fmt.Errorf("listen: %w", err)
}

// nextPort is the address with the port after it, as an example.
func nextPort(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	n, convErr := strconv.Atoi(port)
	if err != nil || convErr != nil || n >= 65535 {
		return "127.0.0.1:8081"
	}
	return net.JoinHostPort(host, strconv.Itoa(n+1))
}

// Dialable is where a listening address can be reached from this machine: the wildcard address is localhost.
func Dialable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}

// CheckURL refuses text that is not the address of a server.
func CheckURL(address string) error {
	var target Config
	return setPublicURL(&target, address)
}

// PublicURL is the configured address of a server, or else where it listens. The wildcard address is written as
// localhost.
func PublicURL(cfg Config, listens string) *url.URL {
	if cfg.PublicURL != nil {
		return cfg.PublicURL
	}
	return &url.URL{Scheme: "http", Host: Dialable(listens)}
}
