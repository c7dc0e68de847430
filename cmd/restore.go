package cmd

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"countersign/cmd/config"
	"countersign/cmd/data"
	"countersign/cmd/terminal"
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
	config.Add(c.Flags(), config.DataSetting, config.DatabaseSetting)
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		cfg, err := config.Of(c)
		if err != nil {
			return err
		}
		if cfg.Database != nil {
			return errors.New("PostgreSQL's backups are restored with pg_restore, into an empty database; " +
				"check it with `countersign audit verify --rows --database-url …`")
		}
		done, err := upkeep.Restore(c.Context(), args[0], cfg.Data, force, time.Now())
		if err != nil {
			return err
		}
		if done.Aside != "" {
			fmt.Fprintf(c.OutOrStdout(), "the previous database is now %s\n", terminal.Plain(done.Aside))
		}
		s, err := data.Open(c.Context(), cfg,
			slog.New(slog.NewTextHandler(c.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn})))
		if err != nil {
			return fmt.Errorf("the backup was restored to %s but cannot be opened: %w", cfg.Data, err)
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		head, err := s.Ledger.Verify(c.Context(), &done.Head)
		if err != nil {
			return fmt.Errorf("the backup was restored to %s, but its ledger does not verify: %w", cfg.Data, err)
		}
		fmt.Fprintf(c.OutOrStdout(), "restored %s: verified, %d ledger entries, head %s\n", terminal.Plain(s.Path()),
			head.Seq, head)
		return tellLocked(c, cfg.Data)
	}
	return c
}

// tellLocked says which upstreams and channels of a folder that was restored can't be used there.
func tellLocked(c *cobra.Command, dir string) error {
	folder, err := upkeep.Inspect(c.Context(), dir, "")
	if err != nil {
		return err
	}
	defer folder.Close()
	upstreams, err := folder.Upstreams(c.Context())
	if err != nil {
		return err
	}
	var names []string
	for _, u := range upstreams {
		if u.Lock != "" {
			names = append(names, u.Name)
		}
	}
	if len(names) > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "the keys of these upstreams cannot be opened here: %s; %s\n",
			terminal.Plain(strings.Join(names, ", ")), data.SetKeyAnew)
	}
	channels, _, err := folder.LockedChannels(c.Context())
	if len(channels) > 0 {
		fmt.Fprintf(c.ErrOrStderr(), "the targets of %d channels of notifications cannot be opened here; %s\n", len(channels),
			data.AddChannelAgain)
	}
	return err
}
