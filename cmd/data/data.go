package data

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/user"
	"strconv"

	"github.com/spf13/cobra"

	"countersign/cmd/config"
	"countersign/models"
	"countersign/models/store"
	"countersign/models/upkeep"
)

// Version of this program, set when the binary is built.
var Version = "dev"

// Command makes a command that works on a data folder that is there, beside a
// running server or without one. It never makes one: a mistyped --data would look
// like an empty installation.
func Command(c *cobra.Command, do func(c *cobra.Command, args []string, s *store.Store) error) *cobra.Command {
	return storeCommand(c, upkeep.HasData, do)
}

// Inspect makes a command that only looks at a data folder: it migrates
// nothing, and the folder may be on a read-only volume.
func Inspect(c *cobra.Command, do func(c *cobra.Command, folder *upkeep.Inspection) error) *cobra.Command {
	config.Add(c.Flags(), config.DataSetting, config.DatabaseSetting, config.KeysSetting)
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		cfg, err := config.Of(c)
		if err != nil {
			return err
		}
		folder, err := upkeep.Inspect(c.Context(), cfg.Data, cfg.DatabaseURL())
		if err != nil {
			return err
		}
		folder.KeysIn(cfg.Keys)
		defer func() { err = errors.Join(err, folder.Close()) }()
		return do(c, folder)
	}
	return c
}

// First makes a command that may begin an installation: the data folder is
// made if it is missing.
func First(c *cobra.Command, do func(c *cobra.Command, args []string, s *store.Store) error) *cobra.Command {
	return storeCommand(c, func(string) error { return nil }, do)
}

func storeCommand(
	c *cobra.Command, check func(dir string) error, do func(c *cobra.Command, args []string, s *store.Store) error,
) *cobra.Command {
	config.Add(c.Flags(), config.DataSetting, config.DatabaseSetting, config.KeysSetting)
	c.RunE = func(c *cobra.Command, args []string) error {
		cfg, err := config.Of(c)
		if err != nil {
			return err
		}
		return use(c, cfg, check, func(s *store.Store) error { return do(c, args, s) })
	}
	return c
}

// Use has a command work on the data folder of its settings, which is there.
func Use(c *cobra.Command, cfg config.Config, do func(s *store.Store) error) error {
	return use(c, cfg, upkeep.HasData, do)
}

func use(c *cobra.Command, cfg config.Config, check func(dir string) error, do func(s *store.Store) error) (err error) {
	if cfg.Database == nil {
		err = check(cfg.Data)
	}
	if err != nil {
		return err
	}
	s, err := Open(c.Context(), cfg,
		slog.New(slog.NewTextHandler(c.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return do(s)
}

// Open opens the data folder, for the server and the command line alike.
func Open(
	ctx context.Context, cfg config.Config, log *slog.Logger, change ...func(*store.Options),
) (*store.Store, error) {
	opts := store.Options{
		Dir: cfg.Data, URL: cfg.DatabaseURL(), Log: log, Version: Version, CheckTarget: checkTarget, AcceptLoss: cfg.AcceptLoss, AcceptedBy: Operator(),
		Keys: cfg.Keys, AcceptKeys: cfg.AcceptKeys,
		AsksPerMinute: config.OrOff(cfg.AsksPerMinute), PendingPerAgent: config.OrOff(cfg.PendingPerAgent),
		ReportsPerHour: config.OrOff(cfg.ReportsPerHour), RunsPerHour: config.OrOff(cfg.RunsPerHour),
		MessagesPerHour: config.OrOff(cfg.MessagesPerHour),
	}
	for _, c := range change {
		c(&opts)
	}
	return store.Open(ctx, opts)
}

// Operator is who works at the command line, by the name of the OS user.
func Operator() models.Actor {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return models.Operator(u.Username)
	}
	return models.Operator("uid " + strconv.Itoa(os.Getuid()))
}
