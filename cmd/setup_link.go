package cmd

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"countersign/cmd/config"
	"countersign/cmd/data"
	"countersign/cmd/server"
	"countersign/models"
	"countersign/models/store"
)

func newSetupLink() *cobra.Command {
	c := &cobra.Command{
		Use:   "setup-link",
		Short: "Print a new one-time link that creates the first user; older ones stop working",
		Args:  cobra.NoArgs,
	}
	config.Add(c.Flags(), config.AddressSettings()...)
	return data.First(c, func(c *cobra.Command, _ []string, s *store.Store) error {
		cfg, err := config.Of(c)
		if err != nil {
			return err
		}
		secret, err := s.People.NewSetupLink(c.Context(), data.Operator())
		if err != nil {
			return err
		}
		// A link that the server left in a file has just stopped working.
		if err := server.RemoveSetupFile(cfg.Data); err != nil {
			return err
		}
		fmt.Fprintln(c.OutOrStdout(), server.SetupLink(serverAddress(c, cfg), secret))
		return nil
	})
}

// serverAddress is where a server is reached: as it is set here, else as the one that runs on the data
// folder says.
func serverAddress(c *cobra.Command, cfg config.Config) *url.URL {
	if cfg.PublicURL == nil && !c.Flags().Changed("addr") && os.Getenv("COUNTERSIGN_ADDR") == "" {
		if text, err := os.ReadFile(filepath.Join(cfg.Data, models.AddressFile)); err == nil {
			if u, err := url.Parse(strings.TrimSpace(string(text))); err == nil && u.Host != "" {
				return u
			}
		}
	}
	return config.PublicURL(cfg, cfg.Addr)
}
