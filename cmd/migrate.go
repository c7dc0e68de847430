package cmd

import (
	"fmt"

	"github.com/spf13/cobra"

	"countersign/cmd/data"
	"countersign/models/store"
)

func newMigrate() *cobra.Command {
	c := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the database up to date, as every other command does too",
		Args:  cobra.NoArgs,
	}
	return data.First(c, func(c *cobra.Command, _ []string, s *store.Store) error {
		fmt.Fprintf(c.OutOrStdout(), "%s is up to date\n", s.Path())
		return nil
	})
}
