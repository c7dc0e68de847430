package webhook

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	webhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"countersign/cmd/config"
	"countersign/cmd/terminal"
	"countersign/handlers"
)

// Command receives a webhook's events.
func Command() *cobra.Command {
	c := &cobra.Command{Use: "webhook", Short: "Receive a webhook's events, to try an endpoint out", Args: cobra.NoArgs}
	c.AddCommand(newWebhookListen())
	return c
}

// listenOptions are what the flags say.
type listenOptions struct {
	addr   string
	status int
}

func newWebhookListen() *cobra.Command {
	var o listenOptions
	c := &cobra.Command{
		Use:   "listen [--addr HOST:PORT] [--status CODE]",
		Short: "Receive a webhook's events on this machine, verify and print them",
		Long: "Receive the events of an endpoint of System > Webhooks, verify their signatures and\n" +
			"print them. It is for development: it keeps nothing.\n\n" +
			"It prints the address to enter on System > Webhooks, and the host to allow first on\n" +
			"System > Notifications. The page then shows the endpoint's secret once: paste it here,\n" +
			"or set " + config.WebhookSecretEnv + " and start again.\n\n" +
			"Verified events are answered with 204, or with --status to try what happens when they\n" +
			"are refused. What is not signed with the secret is answered with 401 and not printed.",
		Args: cobra.NoArgs,
	}
	c.Flags().StringVar(&o.addr, "addr", "127.0.0.1:8787", "where to listen")
	c.Flags().IntVar(&o.status, "status", http.StatusNoContent,
		"the status to answer verified events with, such as 503 or 410")
	c.RunE = func(c *cobra.Command, _ []string) error {
		if o.status < 200 || o.status > 599 {
			return errors.New("--status: must be from 200 to 599")
		}
		return o.run(c)
	}
	return c
}

// run takes the address first: what it prints is then true, and events that come before the
// secret is entered wait.
func (o listenOptions) run(c *cobra.Command) error {
	var lc net.ListenConfig
	l, err := lc.Listen(c.Context(), "tcp", o.addr)
	if err != nil {
		return config.ListenError(o.addr, err)
	}
	defer l.Close()
	at := config.Dialable(l.Addr().String())
	said := c.ErrOrStderr()
	fmt.Fprintf(said, "Address for System > Webhooks:           %s\n",
		(&url.URL{Scheme: "http", Host: at, Path: "/"}).String())
	fmt.Fprintf(said, "Host to allow on System > Notifications: %s\n", at)
	hook, err := verifierOf(c)
	if err != nil {
		return err
	}
	fmt.Fprintln(said, "Waiting for events. Ctrl+C ends it.")
	r := &webhookReceiver{hook: hook, status: o.status, out: c.OutOrStdout(), say: said}
	return serveUntil(c.Context(), l, r)
}

// serveUntil serves on l until ctx ends; it finishes answers under way.
func serveUntil(ctx context.Context, l net.Listener, h http.Handler) error {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: handlers.HeaderTimeout, ReadTimeout: handlers.ReadTimeout,
		WriteTimeout: handlers.WriteTimeout, IdleTimeout: handlers.IdleTimeout,
	}
	end := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		limitCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		end <- server.Shutdown(limitCtx)
	})
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		stop()
		return fmt.Errorf("serve: %w", err)
	}
	return <-end
}

// verifierOf takes the secret from the environment, or asks for it.
func verifierOf(c *cobra.Command) (*webhooks.Webhook, error) {
	secret, where := os.Getenv(config.WebhookSecretEnv), config.WebhookSecretEnv
	if secret == "" {
		var err error
		where = "the secret"
		if secret, err = terminal.ReadSecret(c, "The endpoint's secret (whsec_…): "); err != nil {
			return nil, err
		}
	}
	// The library takes an empty secret too, with which anybody could sign.
	code, ok := strings.CutPrefix(strings.TrimSpace(secret), "whsec_")
	key, err := base64.StdEncoding.DecodeString(code)
	if !ok || err != nil || len(key) < 24 {
		return nil, fmt.Errorf("%s: must be the endpoint's secret, which begins with whsec_; a new one is made on its page",
			where)
	}
	return webhooks.NewWebhookRaw(key)
}
