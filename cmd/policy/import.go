package policy

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"

	"countersign/cmd/terminal"
	"countersign/models/permissions"
	"countersign/models/policy"
)

func newPolicyImport() *cobra.Command {
	c := &cobra.Command{
		Use:   "import",
		Short: "Make rules of what another program lets its agents do",
		Args:  cobra.NoArgs,
	}
	c.AddCommand(newImportClaudeSettings())
	return c
}

func newImportClaudeSettings() *cobra.Command {
	var in permissions.Folders
	c := &cobra.Command{
		Use:   "claude-settings FILE",
		Short: "Print rules for what settings of Claude Code deny, ask and allow (- reads standard input)",
		Long: "Print a document with rules for what settings of Claude Code deny, ask and allow, and on standard\n" +
			"error what has no equal. Nothing is changed: paste the rules into a draft, or check and apply them.\n" +
			"Rules that deny or ask cover rather more than the settings, those that allow rather less.\n\n" +
			"    countersign policy import claude-settings .claude/settings.json --project \"$PWD\" > rules.json\n" +
			"    countersign policy check rules.json",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			raw, err := terminal.ReadFile(c.InOrStdin(), args[0], permissions.MaxSettings)
			if err != nil {
				return fmt.Errorf("read settings: %w", err)
			}
			draft, err := permissions.ClaudeCode(raw, in)
			if err != nil {
				return err
			}
			doc, err := json.Marshal(struct {
				Rules []policy.Rule `json:"rules"`
			}{draft.Rules}, jsontext.WithIndent("  "))
			if err != nil {
				return fmt.Errorf("write rules: %w", err)
			}
			for _, d := range draft.Differences {
				fmt.Fprintf(c.ErrOrStderr(), "%s %s\n", terminal.Plain(d.Entry), terminal.Plain(d.Says))
			}
			fmt.Fprintln(c.OutOrStdout(), string(doc))
			return nil
		},
	}
	c.Flags().StringVar(&in.Project, "project", "", "the folder that the settings are for; without it, no relative path is allowed")
	c.Flags().StringVar(&in.Home, "home", "", "the home of who runs the agent, for paths such as ~/notes")
	return c
}
