package connect

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"countersign/cmd/remote"
	"countersign/cmd/terminal"
	"countersign/handlers/api/client"
	"countersign/handlers/api/wire"
	"countersign/models/agentsettings"
)

// connectTimeout is the timeout that the installed hooks have: requests end by the policy's
// deadlines, long before it. Reports need no such time.
const (
	connectTimeout = 24 * time.Hour
	reportHookTime = time.Minute
	versionTime    = 2 * time.Second // for a program to say its version

	// connectWithin is how long all of it may take where no person is waited for: six tenths
	// until the sample is seen, two until its hook has ended, two to withdraw it.
	connectWithin = 10 * time.Second
)

// connectOptions are what the flags say.
type connectOptions struct {
	project, user, yes, prompt bool
	server, program, policyDir string
	within                     time.Duration
}

// Command adds our hooks to a coding agent's settings.
func Command() *cobra.Command {
	c := &cobra.Command{Use: "connect", Short: "Connect a coding agent to a server", Args: cobra.NoArgs}
	c.AddCommand(newConnectClaudeCode())
	return c
}

func newConnectClaudeCode() *cobra.Command {
	var o connectOptions
	c := &cobra.Command{
		Use:   "claude-code",
		Short: "Have Claude Code ask before each call, by hooks in its settings",
		Long: "Have Claude Code ask before each call, by hooks in its settings: shows the change,\n" +
			"asks, keeps a backup, and then tries the hook with a sample call, which appears in the\n" +
			"inbox. `countersign disconnect claude-code` undoes it. It refuses where settings that\n" +
			"Claude Code reads (managed, fetched, yours, or of this folder) let no such hook run.\n\n" +
			"The server's address and the agent's token come from COUNTERSIGN_SERVER and\n" +
			"COUNTERSIGN_TOKEN, or are asked for. They are stored in a file that only you may read,\n" +
			"never in the settings.\n\n" +
			"With --permission-prompt it changes nothing, and prints the command line on which\n" +
			"`claude -p` asks through MCP instead.",
		Args: cobra.NoArgs,
	}
	c.Flags().BoolVar(&o.user, "user", false, "in ~/.claude/settings.json, for all your projects (the default)")
	c.Flags().BoolVar(&o.project, "project", false, "in .claude/settings.json of this folder")
	c.MarkFlagsMutuallyExclusive("user", "project")
	c.Flags().BoolVar(&o.yes, "yes", false, "write without asking, for scripts")
	c.Flags().BoolVar(&o.prompt, "permission-prompt", false,
		"print the command line for `claude -p` with a permission prompt through MCP")
	c.Flags().StringVar(&o.program, "claude", "claude", "the program, to learn its version")
	c.Flags().StringVar(&o.policyDir, "managed-settings", managedFolder(),
		"the folder in which Claude Code finds managed settings")
	c.Flags().DurationVar(&o.within, "within", connectWithin, "how long to try, where no person is waited for")
	remote.AddFlag(c.Flags(), &o.server)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if o.prompt {
			return printPermissionPrompt(c.OutOrStdout(), o.server)
		}
		return newConnecting(o, c).run(c.Context())
	}
	return c
}

// connecting is one run of `connect`.
type connecting struct {
	o        connectOptions
	cmd      *cobra.Command
	out      io.Writer
	settings settingsFile
	access   remote.Credentials
	path     string // of the credentials
	hook     string // the command that is installed
	terminal bool
	answers  *bufio.Reader
}

func newConnecting(o connectOptions, c *cobra.Command) *connecting {
	return &connecting{
		o: o, cmd: c, out: c.OutOrStdout(), terminal: c.InOrStdin() == os.Stdin && term.IsTerminal(int(os.Stdin.Fd())),
		answers: bufio.NewReader(c.InOrStdin()),
	}
}

// run connects. Until the change was agreed to, nothing is written.
func (g *connecting) run(ctx context.Context) (err error) {
	if g.o.within <= 0 {
		return errors.New("--within: must be positive")
	}
	trialCtx, cancel := g.trying(ctx)
	defer cancel()
	if g.settings, err = openSettings(g.o.project); err != nil {
		return err
	}
	if err := hooksRun(g.o.project, g.o.policyDir); err != nil {
		return err
	}
	if err := g.complete(trialCtx); err != nil {
		return err
	}
	base, err := g.settings.disconnected()
	if err != nil {
		return err
	}
	next, err := agentsettings.Add(base.text, g.hooks(trialCtx))
	if err != nil {
		return fmt.Errorf("%s: %w; nothing was changed", g.settings.path, err)
	}
	if string(next) == string(g.settings.text) {
		fmt.Fprintf(g.out, "%s is already connected.\n", terminal.Plain(g.settings.path))
	} else if err := g.agree(ctx, next, "Connect Claude Code?"); err != nil {
		return err
	}
	if err := g.write(base, next); err != nil {
		return err
	}
	if !g.o.yes { // the time of a person does not count
		trialCtx, cancel = g.trying(ctx)
		defer cancel()
	}
	return g.prove(ctx, trialCtx)
}

// trying ends when it is time to give up and clean up.
func (g *connecting) trying(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, g.o.within*6/10)
}

// write stores the token, and then the settings: hooks without a token would deny all.
func (g *connecting) write(base *before, next []byte) error {
	if err := g.settings.writable(); err != nil {
		return err
	}
	_, statErr := os.Stat(g.path)
	if err := g.access.Write(g.path); err != nil {
		return fmt.Errorf("store the token: %w; nothing was changed", err)
	}
	if string(next) == string(g.settings.text) {
		return nil
	}
	if err := g.settings.connect(base, next); err != nil {
		if statErr != nil {
			err = errors.Join(err, os.Remove(g.path))
		}
		return err
	}
	fmt.Fprintf(g.out, "Wrote %s%s. The token is in %s, for you alone.\n", terminal.Plain(g.settings.path), base.keptAt(),
		terminal.Plain(g.path))
	return nil
}

// complete finds the server, the token and the hook's command, and sees whether the server
// takes them.
func (g *connecting) complete(ctx context.Context) (err error) {
	if g.path, err = remote.CredentialsFile(); err != nil {
		return err
	}
	if g.access, err = g.credentials(); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	g.hook = hookCommand(self, g.path, connectTimeout)
	if err := client.New(g.access.Server, g.access.Token).CheckHooks(ctx); err != nil {
		return fmt.Errorf("%s does not take this token for hooks: %w; nothing was changed", g.access.Server,
			remote.AnswerText(err))
	}
	return nil
}

// given are the server and the token of the flags and the environment, else the stored
// ones, else those that the person enters.
func (g *connecting) credentials() (remote.Credentials, error) {
	stored, err := remote.ReadCredentials(g.path)
	if err != nil && !errors.Is(err, os.ErrNotExist) && os.Getenv("COUNTERSIGN_TOKEN") == "" {
		return stored, err
	}
	if os.Getenv("COUNTERSIGN_TOKEN") == "" && err == nil {
		address, token, err := remote.HookServer(g.o.server, g.path)
		return remote.Credentials{Server: address, Token: token}, err
	}
	if os.Getenv("COUNTERSIGN_TOKEN") == "" && g.terminal {
		secret, err := terminal.AskSecret(g.cmd, "The agent's token, from the page Agents & tokens: ")
		if err != nil {
			return remote.Credentials{}, err
		}
		address, err := remote.Address(g.o.server)
		return remote.Credentials{Server: address, Token: strings.TrimSpace(secret)}, err
	}
	address, token, err := remote.Server(g.o.server)
	return remote.Credentials{Server: address, Token: token}, err
}

// hooks are the hooks to install. A report that fails must not stop the agent, so only those that ask may.
func (g *connecting) hooks(ctx context.Context) []agentsettings.Hook {
	blocks := knowsOnFailure(claudeVersion(ctx, g.o.program))
	if !blocks {
		fmt.Fprintln(g.out,
			"This version of Claude Code lets a call through when its hook cannot run or is cut off.\nUpdate to 2.1.295 or later and connect again: then such a call is blocked.")
	}
	var out []agentsettings.Hook
	for _, name := range wire.HookNames() {
		h := agentsettings.Hook{
			Moment: string(name), Matcher: "*", Command: g.hook, Timeout: int(connectTimeout / time.Second),
			Blocks: blocks && name.Gates(),
		}
		if !name.Gates() {
			h.Timeout = int(reportHookTime / time.Second)
		}
		if name == wire.HookStop {
			h.Matcher = ""
		}
		out = append(out, h)
	}
	return out
}

// agree shows a change and asks for it.
func (g *connecting) agree(ctx context.Context, next []byte, question string) error {
	fmt.Fprint(g.out, terminal.Plain(g.settings.diff(next)))
	switch {
	case g.o.yes:
		return nil
	case !g.terminal:
		return errors.New("standard input is not a terminal: add --yes to write this; nothing was changed")
	}
	fmt.Fprintf(g.out, "%s [y/N] ", question)
	select {
	case line := <-g.line():
		if answer := strings.ToLower(strings.TrimSpace(line)); answer == "y" || answer == "yes" {
			return nil
		}
	case <-ctx.Done():
	}
	return errors.New("nothing was changed")
}

// line is the next line that the person enters; empty at the end of the input.
func (g *connecting) line() <-chan string {
	lines := make(chan string, 1)
	go func() {
		line, _ := g.answers.ReadString('\n') // an end is an empty answer
		lines <- line
	}()
	return lines
}

// hookCommand is the line that the agent's shell runs.
func hookCommand(program, credentials string, timeout time.Duration) string {
	return fmt.Sprintf("%s hook --credentials %s --timeout %ds", shellQuoted(program), shellQuoted(credentials),
		int(timeout/time.Second))
}

var ourHook = regexp.MustCompile(`^'.+' hook --credentials '.+' --timeout \d+s$`)

// isOurHook reports whether a command of the settings is one that `connect` wrote.
func isOurHook(command string) bool { return ourHook.MatchString(command) }

func shellQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// claudeVersion asks the program; empty: it cannot be found out.
func claudeVersion(ctx context.Context, program string) string {
	path, err := exec.LookPath(program)
	if err != nil {
		return ""
	}
	limitCtx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	said, err := exec.CommandContext(limitCtx, filepath.Clean(path), "--version").Output() //nolint:gosec // the person's own program
	if err != nil {
		return ""
	}
	version, _, _ := strings.Cut(strings.TrimSpace(string(said)), " ")
	return version
}

// knowsOnFailure reports whether a version knows that a hook that cannot run blocks the
// call: from 2.1.295. One that cannot be found out may; those before pass it over.
func knowsOnFailure(version string) bool {
	least := [...]int{2, 1, 295}
	parts := strings.Split(version, ".")
	for i, want := range least {
		if i >= len(parts) {
			return true
		}
		n, err := strconv.Atoi(parts[i])
		if err != nil || n > want {
			return true
		}
		if n < want {
			return false
		}
	}
	return true
}

// printPermissionPrompt prints the command line on which a headless agent asks through MCP.
// The token stays in the environment, which the agent reads.
func printPermissionPrompt(out io.Writer, server string) error {
	address, err := remote.Address(server)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Set COUNTERSIGN_TOKEN to an agent's token. Headless only:\n\n"+
		"    claude -p \"...\" --permission-prompt-tool mcp__countersign__approve \\\n"+
		"      --mcp-config '{\"mcpServers\":{\"countersign\":{\"type\":\"http\",\"url\":\"%s/mcp/session\",\"headers\":{\"Authorization\":\"Bearer ${COUNTERSIGN_TOKEN}\"}}}}'\n\n"+
		"It asks only where Claude Code's own rules want a permission; hooks ask before each call.\n", address)
	return nil
}
