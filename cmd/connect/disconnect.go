package connect

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"countersign/cmd/terminal"
	"countersign/models/agentsettings"
)

// Disconnect is the command that takes them away again.
func Disconnect() *cobra.Command {
	c := &cobra.Command{Use: "disconnect", Short: "Undo what `connect` did", Args: cobra.NoArgs}
	c.AddCommand(newDisconnectClaudeCode())
	return c
}

func newDisconnectClaudeCode() *cobra.Command {
	var o connectOptions
	c := &cobra.Command{
		Use:   "claude-code",
		Short: "Remove the hooks from Claude Code's settings",
		Long: "Remove the hooks from Claude Code's settings: shows the change, asks and writes.\n" +
			"Settings that nobody has changed since are restored byte for byte; of others only our\n" +
			"hooks are removed. The stored token goes with the last settings that used it.",
		Args: cobra.NoArgs,
	}
	c.Flags().BoolVar(&o.user, "user", false, "in ~/.claude/settings.json (the default)")
	c.Flags().BoolVar(&o.project, "project", false, "in .claude/settings.json of this folder")
	c.MarkFlagsMutuallyExclusive("user", "project")
	c.Flags().BoolVar(&o.yes, "yes", false, "write without asking, for scripts")
	c.RunE = func(c *cobra.Command, _ []string) error { return newConnecting(o, c).disconnect(c.Context()) }
	return c
}

// disconnect undoes `connect` in one settings file.
func (g *connecting) disconnect(ctx context.Context) (err error) {
	if g.settings, err = openSettings(g.o.project); err != nil {
		return err
	}
	_, ours, err := agentsettings.Remove(g.settings.text, isOurHook)
	if err != nil {
		return fmt.Errorf("%s: %w; nothing was changed", g.settings.path, err)
	}
	if ours == 0 {
		fmt.Fprintf(g.out, "%s has no hook of Countersign.\n", terminal.Plain(g.settings.path))
		return g.forgetStale()
	}
	base, err := g.settings.disconnected()
	if err != nil {
		return err
	}
	if err := g.agree(ctx, base.text, "Disconnect Claude Code?"); err != nil {
		return err
	}
	if err := g.settings.writable(); err != nil {
		return err
	}
	if err := g.settings.restore(base); err != nil {
		return err
	}
	fmt.Fprintf(g.out, "Wrote %s. Claude Code no longer asks Countersign.\n", terminal.Plain(g.settings.path))
	return forgetConnection(g.settings.path)
}

// forgetStale removes the records of settings that have lost our hooks. Settings that were never connected here keep
// all tokens.
func (g *connecting) forgetStale() error {
	kept, err := readConnection(g.settings.path)
	if err != nil || kept == nil {
		return err
	}
	return forgetConnection(g.settings.path)
}
