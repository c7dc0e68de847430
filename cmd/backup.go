package cmd

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"countersign/cmd/config"
	"countersign/cmd/terminal"
	"countersign/models"
	"countersign/models/upkeep"
)

func newBackup() *cobra.Command {
	c := &cobra.Command{
		Use:   "backup FILE",
		Short: "Write a verified copy of all data into a new file, beside a running server too",
		Long: "Write a copy of all data at one moment into a new file that only its owner\n" +
			"may read. A running server goes on meanwhile. The copy is verified before it gets its\n" +
			"name: every page, every reference, the whole ledger. A file that is there is refused.\n\n" +
			"The key file of upstreams and channels (" + models.KeyFile + " in the data folder) is not in\n" +
			"it: a finder of a backup cannot use the keys of upstreams, or read where notifications\n" +
			"go. Keep a copy of that file elsewhere, or set the keys and add the channels again after\n" +
			"a restore.\n\n" +
			"It prints the head of the ledger in the copy, for `audit verify --head`.",
		Args: cobra.ExactArgs(1),
	}
	config.Add(c.Flags(), config.DataSetting, config.DatabaseSetting)
	c.RunE = func(c *cobra.Command, args []string) error {
		cfg, err := config.Of(c)
		if err != nil {
			return err
		}
		if cfg.Database != nil {
			return errors.New("PostgreSQL's backups are made with pg_dump: pg_dump --format=custom --file=FILE DATABASE; " +
				"check a copy that was restored with `countersign audit verify --rows --database-url …`")
		}
		head, err := upkeep.Backup(c.Context(), cfg.Data, args[0])
		if err != nil {
			return err
		}
		fmt.Fprintf(c.OutOrStdout(), "wrote %s: verified, %d ledger entries, head %s\n", terminal.Plain(args[0]), head.Seq,
			head)
		return nil
	}
	return c
}
