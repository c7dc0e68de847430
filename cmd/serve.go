package cmd

import (
	"errors"
	"net"

	"github.com/spf13/cobra"

	"countersign/cmd/config"
	"countersign/cmd/server"
	"countersign/cmd/terminal"
	"countersign/handlers"
)

func newServe() *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "Start the server",
		Long: "Start the server. It runs until SIGINT, SIGTERM or SIGHUP; those who wait are answered\n" +
			"and ask again after the restart. A second signal kills.",
		Args: cobra.NoArgs,
	}
	config.Add(c.Flags(), config.All()...)
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		cfg, err := config.Of(c)
		if err != nil {
			return err
		}
		log, flush := server.NewLogger(cfg, c.ErrOrStderr())
		defer flush()
		app, err := server.New(c.Context(), cfg, log, terminal.Screen())
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
