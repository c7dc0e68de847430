package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"countersign/cmd/config"
	"countersign/cmd/data"
	"countersign/cmd/terminal"
	"countersign/models"
	"countersign/models/upkeep"
)

func newMove() *cobra.Command {
	var to string
	var undo bool
	c := &cobra.Command{
		Use:   "move --to postgres://… | --to FOLDER",
		Short: "Move all data to PostgreSQL, or from there into a data folder",
		Long: "Move a stopped installation to another database: from the data folder to PostgreSQL, or\n" +
			"from the database that --database-url names into a data folder.\n\n" +
			"    countersign move --to postgres://countersign@db.example/countersign\n\n" +
			"All rows are copied into an empty database, then compared on both sides, and with the ledger.\n" +
			"If one differs, it is named and nothing is moved. A move that was cut off goes on where it was\n" +
			"when the same command runs again; until it has ended, nothing starts at the new place.\n\n" +
			"At the end the old place is marked as moved, so that it is not started by mistake, and the\n" +
			"ledger at the new place says who moved it. Its data stay. To start the old place again, as it was:\n\n" +
			"    countersign move --undo\n\n" +
			"The key files " + models.KeyFile + " and " + models.PushKeyFile + " are never in a database. They stay in the data folder,\n" +
			"which is needed beside PostgreSQL too, and are copied into a new one.",
		Args: cobra.NoArgs,
	}
	c.Flags().StringVar(&to, "to", "", "the new place: a PostgreSQL database, or a data folder without a database")
	c.Flags().BoolVar(&undo, "undo", false, "start an installation again that was moved, without what has happened since")
	config.Add(c.Flags(), config.DataSetting, config.DatabaseSetting, config.KeysSetting)
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := config.Of(c)
		if err != nil {
			return err
		}
		from := upkeep.Installation{Dir: cfg.Data, URL: cfg.DatabaseURL(), Keys: cfg.Keys}
		if undo {
			if to != "" {
				return errors.New("--undo and --to: give one of them")
			}
			return undoMove(c, from)
		}
		target, err := movesTo(from, to)
		if err != nil {
			return err
		}
		move := upkeep.Move{From: from, To: target, By: data.Operator(), Version: data.Version, Now: time.Now(), Tell: progress(c.ErrOrStderr(), time.Now)}
		result, err := move.Run(c.Context())
		if err != nil && c.Context().Err() != nil {
			return fmt.Errorf("interrupted; the same command goes on from here (%w)", err)
		}
		if err != nil {
			return err
		}
		return printMoved(c.OutOrStdout(), result, move)
	}
	return c
}

// movesTo reads --to: it must be of the other kind than the source.
func movesTo(from upkeep.Installation, to string) (upkeep.Installation, error) {
	switch {
	case to == "":
		return upkeep.Installation{}, errors.New("--to is missing: name a PostgreSQL database, such as postgres://countersign@db.example/countersign, or a data folder")
	case !strings.Contains(to, "://"):
		if from.URL == "" {
			return upkeep.Installation{}, errors.New("--to: from one data folder to another, use `countersign backup` and `countersign restore`; to come back from PostgreSQL, name its database with --database-url")
		}
		return upkeep.Installation{Dir: to}, nil
	}
	u, err := config.ParseDatabase(to)
	if err != nil {
		return upkeep.Installation{}, fmt.Errorf("--to: %w", err)
	}
	if from.URL != "" {
		return upkeep.Installation{}, errors.New("--to: from one PostgreSQL database to another, use pg_dump and pg_restore; to move the data folder there, leave --database-url and COUNTERSIGN_DATABASE_URL out")
	}
	return upkeep.Installation{Dir: from.Dir, URL: u.String(), Keys: from.Keys}, nil
}

// progressEvery is how often the number of rows is printed.
const progressEvery = 2 * time.Second

// progress prints what a move does: each step, and every two seconds how far the rows are.
func progress(w io.Writer, now func() time.Time) func(upkeep.MoveState) {
	var began, last time.Time
	var first int64
	return func(s upkeep.MoveState) {
		at := now()
		if s.Of == 0 {
			fmt.Fprintln(w, terminal.Plain(s.Text))
			began = time.Time{}
			return
		}
		if began.IsZero() {
			began, last, first = at, at, s.Rows
		}
		if s.Rows < s.Of && at.Sub(last) < progressEvery {
			return
		}
		last = at
		rate := float64(s.Rows-first) / max(at.Sub(began).Seconds(), 1)
		fmt.Fprintf(w, "%s: %d of %d rows, %.0f a second\n", s.Text, s.Rows, s.Of, rate)
	}
}

func printMoved(w io.Writer, r *upkeep.MoveResult, m upkeep.Move) error {
	rows := make([][]string, 0, len(r.Tables))
	for _, t := range r.Tables {
		if t.Rows > 0 {
			rows = append(rows, []string{t.Name, fmt.Sprint(t.Rows), t.Digest})
		}
	}
	if err := terminal.PrintTable(w, []string{"TABLE", "ROWS", "SHA-256, THE SAME ON BOTH SIDES"}, rows); err != nil {
		return err
	}
	fmt.Fprintf(w, "%d rows of %d tables are equal on both sides, and match the ledger: %d entries, head %s\n", r.Rows, len(r.Tables), r.Head.Seq, r.Head)
	fmt.Fprintf(w, "moved from %s to %s; start it there:\n    %s\n", terminal.Plain(r.From), terminal.Plain(r.To), terminal.Plain(serveAt(m.To)))
	if r.ReadOnly {
		fmt.Fprintf(w, "%s is read-only, so it could not be marked as moved: do not start it there, and give the server at the new place another --data\n", terminal.Plain(r.From))
	}
	for _, name := range r.Keys {
		fmt.Fprintf(w, "%s was copied to %s\n", name, terminal.Plain(m.To.Dir))
	}
	if m.To.URL != "" {
		fmt.Fprintf(w, "%s and %s, where there are any, stay in %s; on another machine, copy them there\n", models.KeyFile, models.PushKeyFile, terminal.Plain(cmp.Or(m.To.Keys, m.To.Dir)))
	}
	return nil
}

// serveAt is the command that starts a server there.
func serveAt(at upkeep.Installation) string {
	text := "countersign serve --data " + at.Dir
	if at.URL != "" {
		text += " --database-url '" + at.URL + "'"
	}
	if at.Keys != "" {
		text += " --keys " + at.Keys
	}
	return text
}

func undoMove(c *cobra.Command, at upkeep.Installation) error {
	place, err := upkeep.UndoMove(c.Context(), at, data.Operator())
	if err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "it can be started here again, as it was when it was moved; what has happened since at %s is not here. Keep that one stopped: agents and people would find two\n", terminal.Plain(place))
	return nil
}
