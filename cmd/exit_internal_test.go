package cmd

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"countersign/cmd/remote"
)

// How the exit code of a command is used.
const (
	gates  = "gates"  // a script or host lets something run by it
	checks = "checks" // a script takes 0 for "all is well", or for "all was done"
	serves = "serves" // it runs until it is ended
	acts   = "acts"   // it does one thing, or fails
)

// Exit codes of commands whose folders keep them to themselves.
const (
	hookDenied = 2
	unchecked  = 2
)

// exits classifies every command that can be run: a new one is added here, with what it does
// where it cannot do its work.
var exits = map[string]string{
	"ask": gates, "hook": gates, "mcp": gates,
	"ingest": checks, "audit verify": checks, "doctor": checks, "policy check": checks, "connect claude-code": checks,
	"serve": serves, "demo": serves, "demo-agent": serves, "webhook listen": serves,
	"audit export": acts, "backup": acts, "disconnect claude-code": acts, "migrate": acts, "note": acts, "purge": acts, "move": acts, "restore": acts, "setup-link": acts,
	"policy show": acts, "policy apply": acts, "policy import claude-settings": acts, "stop": acts, "stop list": acts, "stop lift": acts,
	"completion bash": acts, "completion fish": acts, "completion powershell": acts, "completion zsh": acts, "help": acts,
}

// families are groups whose commands all act.
var families = []string{"group", "request", "token", "upstream", "user", "webhook"}

func classOf(path string) string {
	if class := exits[path]; class != "" {
		return class
	}
	group, _, _ := strings.Cut(path, " ")
	if slices.Contains(families, group) {
		return acts
	}
	return ""
}

// TestEveryCommandSaysNoWithItsExitCode walks every command: each is classified, and none ends
// with 0 where it was called wrongly. Those by which something is let run have their own table.
func TestEveryCommandSaysNoWithItsExitCode(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("COUNTERSIGN_TOKEN", "")
	walked := 0
	for path, c := range commands(newRoot()) {
		if !c.Runnable() || c.HasSubCommands() && path != "stop" {
			continue
		}
		walked++
		if classOf(path) == "" {
			t.Errorf("%q: say in exits how its exit code is used", path)
			continue
		}
		if path == "help" {
			continue
		}
		out, errs, code := execute(t, "", append(strings.Fields(path), "--no-such-flag")...)
		if code == 0 || errs == "" || out != "" {
			t.Errorf("%q with an unknown flag: %d, %q, %q", path, code, out, errs)
		}
	}
	for path := range exits {
		if c := commands(newRoot())[path]; c == nil {
			t.Errorf("%q is classified, and is no command", path)
		}
	}
	if walked < len(exits) {
		t.Errorf("%d commands were walked", walked)
	}
}

// TestACodeThatIsActedOnIsNeverAYes has each command by which something is let run, or taken
// for well, meet what it cannot work with.
func TestACodeThatIsActedOnIsNeverAYes(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(home, "cache"))
	t.Setenv("COUNTERSIGN_TOKEN", "")
	none := filepath.Join(home, "none")
	const nowhere = "http://127.0.0.1:9"
	seen := map[string]bool{}
	for _, c := range []struct {
		line, stdin, token string
		code               int
	}{
		{"ask deploy", "", "", remote.ExitOther},
		{"ask", "", "x", remote.ExitOther},
		{"ask deploy --input {", "", "x", remote.ExitOther},
		{"ask deploy --timeout soon", "", "x", remote.ExitOther},
		{"ask deploy --server nowhere", "", "x", remote.ExitOther},
		{"ask deploy --connect-timeout 1ms --server " + nowhere, "", "x", remote.ExitUnreachable},
		{"mcp", "", "", 1},
		{"mcp --server nowhere", "", "x", 1},
		{"hook", `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{},"tool_use_id":"1"}`, "", hookDenied},
		{"hook --timeout 1s", `{"hook_event_name":"PreToolUse"}`, "x", hookDenied},
		{"hook", `{"hook_event_name":"PreToolUse"`, "x", hookDenied},
		{"ingest", "", "x", remote.ExitOther},
		{"ingest --run-id r", "", "", remote.ExitOther},
		{"ingest --run-id r --drain-timeout 1ms --server " + nowhere, "{}\n", "x", remote.ExitUnreachable},
		{"audit verify --data " + none, "", "", unchecked},
		{"audit verify --head x --data " + none, "", "", unchecked},
		{"doctor --data " + none, "", "", 1},
		{"doctor --min-free lots --data " + none, "", "", 1},
		{"policy check - --data " + none, "{", "", 1},
		{"policy check - --server " + nowhere, "{}", "x", 1},
		{"connect claude-code --yes --within 1s --server " + nowhere, "", "x", 1},
	} {
		t.Setenv("COUNTERSIGN_TOKEN", c.token)
		words := strings.Fields(c.line)
		for path, class := range exits {
			if (class == gates || class == checks) && strings.HasPrefix(c.line+" ", path+" ") {
				seen[path] = true
			}
		}
		if out, errs, code := execute(t, c.stdin, words...); code != c.code || errs == "" && !strings.Contains(out, "fail") {
			t.Errorf("%s: exit %d, want %d; %q, %q", c.line, code, c.code, out, errs)
		}
	}
	for path, class := range exits {
		if (class == gates || class == checks) && !seen[path] {
			t.Errorf("%q has no line here", path)
		}
	}
}

// panics is a standard input that breaks the program.
type panics struct{}

func (panics) Read([]byte) (int, error) { panic("broken") }

// TestAHookThatCannotReadDenies: standard input that fails, at once or half-way, or that breaks
// the program.
func TestAHookThatCannotReadDenies(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("COUNTERSIGN_TOKEN", "x")
	const call = `{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"1"}`
	for name, c := range map[string]struct {
		in   io.Reader
		args []string
		says string
	}{
		"at once":           {iotest.ErrReader(errors.New("gone")), nil, "standard input: gone"},
		"behind the event":  {io.MultiReader(strings.NewReader(call), iotest.ErrReader(errors.New("gone"))), nil, "standard input: gone"},
		"with a wrong flag": {iotest.ErrReader(errors.New("gone")), []string{"--x"}, "unknown flag"},
		"a panic":           {panics{}, nil, "the hook failed: broken"},
		"a panic, and flag": {panics{}, []string{"--x"}, "the hook failed: broken"},
	} {
		var stdout, stderr bytes.Buffer
		root := newRoot()
		root.SetIn(c.in)
		root.SetOut(&stdout)
		root.SetErr(&stderr)
		root.SetArgs(append([]string{"hook"}, c.args...))
		ran, err := root.ExecuteContextC(t.Context())
		if code := report(ran, err); code != hookDenied || !strings.Contains(stderr.String(), c.says) || stdout.Len() > 0 {
			t.Errorf("%s: exit %d, %q, %q", name, code, stdout.String(), stderr.String())
		}
	}
}
