package cmd

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"countersign/handlers"
)

func newServe() *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "Start the server",
		Long: "Start the server. It runs until SIGINT, SIGTERM or SIGHUP; whoever waits then is answered\n" +
			"and asks again after the restart. A second signal kills.",
		Args: cobra.NoArgs,
	}
	addSettings(c.Flags(), dataSetting)
	addSettings(c.Flags(), serveSettings...)
	addSettings(c.Flags(), upstreamSettings...)
	addSettings(c.Flags(), mailSettings...)
	addSettings(c.Flags(), llmSettings...)
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		cfg, err := configOf(c)
		if err != nil {
			return err
		}
		log, flush := newLogger(cfg, c.ErrOrStderr())
		defer flush()
		app, err := New(c.Context(), cfg, log, terminalOf())
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, app.Close()) }()
		if host, _, err := net.SplitHostPort(cfg.Addr); err == nil && cfg.PublicURL == nil && !handlers.IsLoopback(host) {
			log.Warn("only requests for localhost are answered: set --public-url to the address that people and agents use")
		}
		return app.Run(c.Context())
	}
	return c
}

// addressTakenError says in a sentence why the server cannot listen, and what to do.
type addressTakenError struct {
	addr string
	err  error
}

func (e *addressTakenError) Error() string {
	return fmt.Sprintf("%s is already in use, perhaps by another Countersign that is running. Stop it, or choose another address: --addr %s", e.addr, nextPort(e.addr))
}

func (e *addressTakenError) Unwrap() error { return e.err }

func listenError(addr string, err error) error {
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

// dialable is where a listening address can be reached from this machine: one
// that stands for all addresses is localhost.
func dialable(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, port)
}
