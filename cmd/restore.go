package cmd

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"countersign/models"
	"countersign/models/upkeep"
)

func newRestore() *cobra.Command {
	var force bool
	c := &cobra.Command{
		Use:   "restore FILE [--force]",
		Short: "Put a backup into a data folder, in which no server runs",
		Long: "Put a backup into a data folder, in which no server runs. The file is verified before\n" +
			"and the data folder after it. An existing database is refused or, with --force,\n" +
			"moved aside within the folder.\n\n" +
			"What was revoked, disabled or changed after the backup is again as it was then:\n" +
			"look through tokens, people and policy.\n\n" +
			"The keys of upstreams, and where notifications go, open only with the key file\n" +
			"(" + models.KeyFile + ") of the folder that they were sealed in: copy it into the folder too,\n" +
			"or set the keys and add the channels again.",
		Args: cobra.ExactArgs(1),
	}
	c.Flags().BoolVar(&force, "force", false, "move an existing database aside")
	addSettings(c.Flags(), dataSetting)
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		cfg, err := configOf(c)
		if err != nil {
			return err
		}
		done, err := upkeep.Restore(c.Context(), args[0], cfg.Data, force, time.Now())
		if err != nil {
			return err
		}
		if done.Aside != "" {
			fmt.Fprintf(c.OutOrStdout(), "the previous database is now %s\n", plain(done.Aside))
		}
		s, err := openStore(c.Context(), cfg, slog.New(slog.NewTextHandler(c.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn})))
		if err != nil {
			return fmt.Errorf("the backup was restored to %s but cannot be opened: %w", cfg.Data, err)
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		head, err := s.Ledger.Verify(c.Context(), &done.Head)
		if err != nil {
			return fmt.Errorf("the backup was restored to %s, but its ledger does not verify: %w", cfg.Data, err)
		}
		fmt.Fprintf(c.OutOrStdout(), "restored %s: verified, %d ledger entries, head %s\n", plain(s.Path()), head.Seq, head)
		locked, err := lockedUpstreams(c.Context(), cfg.Data)
		if len(locked) > 0 {
			fmt.Fprintf(c.ErrOrStderr(), "the keys of these upstreams cannot be opened here: %s; %s\n", plain(strings.Join(locked, ", ")), setKeyAnew)
		}
		if err != nil {
			return err
		}
		return tellLockedChannels(c, cfg.Data)
	}
	return c
}
