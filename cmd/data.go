package cmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/user"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"countersign/models"
	"countersign/models/store"
	"countersign/models/upkeep"
)

// dataCommand makes a command that works on a data folder that is there, beside a
// running server or without one. It never makes one: a mistyped --data would look
// like an empty installation.
func dataCommand(c *cobra.Command, do func(c *cobra.Command, args []string, s *store.Store) error) *cobra.Command {
	return storeCommand(c, upkeep.HasData, do)
}

// inspectCommand makes a command that only looks at a data folder: it migrates
// nothing, and the folder may be on a read-only volume.
func inspectCommand(c *cobra.Command, do func(c *cobra.Command, folder *upkeep.Inspection) error) *cobra.Command {
	addSettings(c.Flags(), dataSetting)
	c.RunE = func(c *cobra.Command, _ []string) (err error) {
		cfg, err := configOf(c)
		if err != nil {
			return err
		}
		folder, err := upkeep.Inspect(c.Context(), cfg.Data)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, folder.Close()) }()
		return do(c, folder)
	}
	return c
}

// firstCommand makes a command that may begin an installation: the data folder is
// made if it is missing.
func firstCommand(c *cobra.Command, do func(c *cobra.Command, args []string, s *store.Store) error) *cobra.Command {
	return storeCommand(c, func(string) error { return nil }, do)
}

func storeCommand(c *cobra.Command, check func(dir string) error, do func(c *cobra.Command, args []string, s *store.Store) error) *cobra.Command {
	addSettings(c.Flags(), dataSetting)
	c.RunE = func(c *cobra.Command, args []string) (err error) {
		cfg, err := configOf(c)
		if err != nil {
			return err
		}
		if err := check(cfg.Data); err != nil {
			return err
		}
		s, err := openStore(c.Context(), cfg, slog.New(slog.NewTextHandler(c.ErrOrStderr(), &slog.HandlerOptions{Level: slog.LevelWarn})))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, s.Close()) }()
		return do(c, args, s)
	}
	return c
}

// openStore opens the data folder, for the server and the command line alike.
func openStore(ctx context.Context, cfg Config, log *slog.Logger, change ...func(*store.Options)) (*store.Store, error) {
	opts := store.Options{
		Dir: cfg.Data, Log: log, CheckTarget: checkTarget, AcceptLoss: cfg.AcceptLoss, AcceptedBy: operator(),
		AsksPerMinute: orOff(cfg.AsksPerMinute), PendingPerAgent: orOff(cfg.PendingPerAgent),
		ReportsPerHour: orOff(cfg.ReportsPerHour), RunsPerHour: orOff(cfg.RunsPerHour), MessagesPerHour: orOff(cfg.MessagesPerHour),
	}
	for _, c := range change {
		c(&opts)
	}
	return store.Open(ctx, opts)
}

// orOff turns the 0 of a setting, no limit, into the store's word for that.
func orOff(limit int) int {
	if limit == 0 {
		return -1
	}
	return limit
}

// operator is who works at the command line, by the name of the OS user.
func operator() models.Actor {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return models.Operator(u.Username)
	}
	return models.Operator("uid " + strconv.Itoa(os.Getuid()))
}

// plain is untrusted text as a terminal may show it (I13).
func plain(s string) string { return models.RevealString(s, true) }

// printTable writes rows under a header, every cell on one line.
func printTable(w io.Writer, header []string, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, strings.Join(header, "\t"))
	for _, row := range rows {
		for i, cell := range row {
			row[i] = models.RevealName(cell)
		}
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	return t.Flush()
}

// printJSON writes v for programs: exact and indented.
func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// listTime is how lists show a time; "-" for none.
func listTime(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04:05Z")
}
