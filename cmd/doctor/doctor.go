package doctor

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"countersign/cmd/config"
	"countersign/cmd/terminal"
	"countersign/models/upkeep"
)

// The results of a check.
const (
	checkOK      = "ok"
	checkWarn    = "warn"
	checkFail    = "fail"
	checkSkipped = "skipped" // what it needs is not there, which another check told
)

// diagnosis is what one check found.
type diagnosis struct {
	Check  string `json:"check"`
	Result string `json:"result"`
	Text   string `json:"text"`
	Remedy string `json:"remedy,omitempty"`
}

func passed(format string, args ...any) diagnosis {
	return diagnosis{Result: checkOK, Text: fmt.Sprintf(format, args...)}
}

func warn(remedy, format string, args ...any) diagnosis {
	return diagnosis{Result: checkWarn, Text: fmt.Sprintf(format, args...), Remedy: remedy}
}

func fail(remedy, format string, args ...any) diagnosis {
	return diagnosis{Result: checkFail, Text: fmt.Sprintf(format, args...), Remedy: remedy}
}

// doctor is one run: what the checks look at.
type doctor struct {
	cfg     config.Config
	now     time.Time
	minFree uint64
	folder  *upkeep.Inspection // nil: the database cannot be opened
	openErr error              // why
}

// Command examines an installation.
func Command() *cobra.Command {
	var asJSON bool
	var minFree, fix string
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check an installation and say how to fix what is wrong",
		Long: "Check the database, permissions, migrations, the ledger, rows against the ledger, energy,\n" +
			"pre-approvals, the clock, the public URL, disk space, the policy, who can decide, the upstreams and the channels, and say how\n" +
			"to mend what is wrong. It changes nothing and works beside a running server; give it\n" +
			"the server's settings.\n\n" +
			"With --fix insights it checks nothing: it makes the sums of the page Insights again.\n\n" +
			"Exit codes: 0 all is well, warnings aside; 1 something is wrong.",
		Args: cobra.NoArgs,
	}
	config.Add(c.Flags(), config.DataSetting, config.DatabaseSetting)
	config.Add(c.Flags(), config.AddressSettings()...)
	config.Add(c.Flags(), config.UpstreamAllow)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().StringVar(&minFree, "min-free", "256MiB", "free disk space that is required, in KiB, MiB, GiB or TiB")
	c.Flags().StringVar(&fix, "fix", "", "what to mend: insights")
	c.RunE = func(c *cobra.Command, _ []string) error {
		cfg, err := config.Of(c)
		if err != nil {
			return err
		}
		switch fix {
		case "":
		case "insights":
			return fixInsights(c, cfg)
		default:
			return fmt.Errorf("--fix: want insights, have %q", fix)
		}
		d := &doctor{cfg: cfg, now: time.Now()}
		if d.minFree, err = terminal.ParseSize(minFree); err != nil {
			return fmt.Errorf("--min-free: %w", err)
		}
		found := d.examine(c.Context())
		if err := printDiagnoses(c.OutOrStdout(), found, asJSON); err != nil {
			return err
		}
		if slices.ContainsFunc(found, func(f diagnosis) bool { return f.Result == checkFail }) {
			return terminal.Exit(1, nil)
		}
		return nil
	}
	return c
}

// examine makes every check, also after one has failed.
func (d *doctor) examine(ctx context.Context) []diagnosis {
	d.folder, d.openErr = upkeep.Inspect(ctx, d.cfg.Data, d.cfg.DatabaseURL())
	if d.folder != nil {
		d.folder.KeysIn(d.cfg.Keys)
		defer d.folder.Close()
	}
	var found []diagnosis
	for _, check := range [...]struct {
		name, needs string
		do          func(context.Context) diagnosis
	}{
		{"database", nothing, d.database},
		{"permissions", nothing, d.permissions},
		{"migrations", database, d.migrations},
		{"ledger", database, d.ledger},
		{"rows", migrated, d.rows},
		{"energy", schema, d.energy},
		{"grants", schema, d.grants},
		{"insights", schema, d.insights},
		{"clock", database, d.clock},
		{"public URL", nothing, d.publicURL},
		{"disk space", nothing, d.space},
		{"policy lint", database, d.policy},
		{"retention", migrated, d.retention},
		{"who can decide", migrated, d.deciders},
		{"break glass", migrated, d.glass},
		{"unseen", schema, d.unseen},
		{"upstreams", migrated, d.upstreams},
		{"channels", migrated, d.channels},
		{"webhooks", migrated, d.webhooks},
		{"servers", schema, d.nodes},
	} {
		f := diagnosis{Result: checkSkipped}
		if lacks := d.lacks(ctx, check.needs); lacks != nothing {
			f.Text = "needs " + lacks
		} else {
			f = check.do(ctx)
		}
		f.Check = check.name
		found = append(found, f)
	}
	return found
}

// What a check needs to be made, in the words of one that is skipped.
const (
	nothing  = ""
	database = "the database"
	schema   = "the schema that this program brings" // or a newer one
	migrated = "the migrations"                      // and no newer one
)

// lacks names what a check needs and does not have, or nothing.
func (d *doctor) lacks(ctx context.Context, needs string) string {
	if needs == nothing {
		return nothing
	}
	if d.folder == nil {
		return database
	}
	have, want, err := d.folder.Schema(ctx)
	if needs == schema && (err != nil || have < want) || needs == migrated && (err != nil || have != want) {
		return needs
	}
	return nothing
}

// printDiagnoses shows the results. Texts hold names that others chose.
func printDiagnoses(w io.Writer, found []diagnosis, asJSON bool) error {
	if asJSON {
		ok := !slices.ContainsFunc(found, func(f diagnosis) bool { return f.Result == checkFail })
		return terminal.PrintJSON(w, map[string]any{"ok": ok, "checks": found})
	}
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "%-8s %-15s %s\n", f.Result, f.Check, indented(f.Text))
		if f.Remedy != "" {
			fmt.Fprintf(&b, "%s -> %s\n", strings.Repeat(" ", 8+1+15-2), indented(f.Remedy))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// indented keeps the lines of a text under each other.
func indented(s string) string {
	return strings.ReplaceAll(terminal.Plain(s), "\n", "\n"+strings.Repeat(" ", 8+1+15+1))
}
