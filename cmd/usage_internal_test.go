package cmd

import (
	"bytes"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/spf13/cobra"

	"countersign/cmd/terminal"
)

// commands are all commands below c, with c, by their words behind the program's name.
func commands(c *cobra.Command) map[string]*cobra.Command {
	all := map[string]*cobra.Command{strings.TrimSpace(strings.TrimPrefix(c.CommandPath(), "countersign")): c}
	for _, sub := range c.Commands() {
		maps.Copy(all, commands(sub))
	}
	return all
}

// shared is what several goroutines write to, as they may to a file.
type shared struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.Write(p)
}

func (s *shared) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.String()
}

// execute runs the command line in this process, without any data folder of its own.
func execute(t *testing.T, stdin string, words ...string) (out, errs string, code int) {
	t.Helper()
	var stdout, stderr shared
	root := newRoot()
	root.SetIn(strings.NewReader(stdin))
	root.SetOut(&stdout)
	root.SetErr(&stderr)
	root.SetArgs(words)
	ran, err := root.ExecuteContextC(t.Context())
	code = report(ran, err)
	return stdout.String(), stderr.String(), code
}

// TestNoCommandTakesAWordThatItDoesNotKnow walks every command that there is: a word that nobody
// defined must never lead to exit code 0, which a script takes for a yes.
func TestNoCommandTakesAWordThatItDoesNotKnow(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	const word = "qwxzy"
	for path, c := range commands(newRoot()) {
		words := strings.Fields(path)
		switch {
		case c.HasSubCommands():
			out, errs, code := execute(t, "", append(words, word)...)
			if code != terminal.ExitUsage || !strings.Contains(errs, "there is no command `"+c.CommandPath()+" "+word+"`") || out != "" {
				t.Errorf("%q with an unknown word: %d, %q, %q", path, code, out, errs)
			}
			if _, _, code = execute(t, "", append(words, "--help")...); code != 0 {
				t.Errorf("%q --help: %d", path, code)
			}
			if path == "stop" {
				continue // does something without a subcommand
			}
			if out, errs, code = execute(t, "", words...); code != terminal.ExitUsage || !strings.Contains(errs, "Available Commands") || out != "" {
				t.Errorf("%q alone: %d, %q", path, code, out)
			}
		case path == "hook":
			// It takes words itself, to refuse them with its own exit code: see below.
		case c.Args == nil || c.Args(c, []string{word, word, word, word}) == nil:
			t.Errorf("%q takes four words that nobody defined", path)
		}
	}
}

func TestAMistypedCommandIsNamedWithASuggestion(t *testing.T) {
	t.Parallel()
	for line, like := range map[string]string{
		"aks deploy": "countersign ask", "bakcup": "countersign backup", "audit verfy": "countersign audit verify",
		"token revok ID": "countersign token revoke", "policy aply": "countersign policy apply", "stop lifft": "countersign stop lift", "help bakcup": "countersign backup", "help audit verfy": "countersign audit verify",
	} {
		if _, errs, code := execute(t, "", strings.Fields(line)...); code != terminal.ExitUsage || !strings.Contains(errs, "did you mean `"+like+"`") {
			t.Errorf("%q: %d, %q", line, code, errs)
		}
	}
}

// TestAHookAsksNoServerAboutAnEventThatItDoesNotKnow: a server that has nothing to say about it
// must not let the call run.
func TestAHookAsksNoServerAboutAnEventThatItDoesNotKnow(t *testing.T) {
	asked := false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked = true
		_, _ = w.Write([]byte(`{"answer":{}}`))
	}))
	defer server.Close()
	t.Setenv("HOME", t.TempDir())
	t.Setenv("COUNTERSIGN_SERVER", server.URL)
	t.Setenv("COUNTERSIGN_TOKEN", "cs_agent_none")
	_, errs, code := execute(t, `{"hook_event_name":"BeforeTool","tool_name":"Bash","tool_input":{"command":"ls"}}`, "hook")
	if code != hookDenied || asked || !strings.Contains(errs, "BeforeTool") {
		t.Errorf("%d, asked: %t, %q", code, asked, errs)
	}
}

// TestAHookRefusesAnEventThatItDoesNotKnow: agents take every failure but 2 as leave to run.
func TestAHookRefusesAnEventThatItDoesNotKnow(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("COUNTERSIGN_SERVER", "http://127.0.0.1:9")
	t.Setenv("COUNTERSIGN_TOKEN", "cs_agent_none")
	before := `{"hook_event_name":"BeforeTool","session_id":"s","cwd":"/","tool_name":"run_shell_command","tool_input":{"command":"ls"}}`
	for name, call := range map[string]struct {
		stdin string
		words []string
	}{
		"another agent's event": {before, nil},
		"an event of later":     {strings.Replace(before, "BeforeTool", "PreEverything", 1), nil},
		"no event":              {`{"tool_name":"Bash"}`, nil},
		"an empty event":        {`{"hook_event_name":""}`, nil},
		"not JSON":              {`ls`, nil},
		"nothing":               {``, nil},
		"a word":                {before, []string{"before"}},
		"an unknown flag":       {before, []string{"--gemini"}},
		"a flag without value":  {before, []string{"--timeout"}},
		"a bad value":           {before, []string{"--timeout", "soon"}},
	} {
		out, errs, code := execute(t, call.stdin, append([]string{"hook", "--connect-timeout", "1ms"}, call.words...)...)
		if code != hookDenied || strings.TrimSpace(errs) == "" || out != "" {
			t.Errorf("%s: %d, %q, %q", name, code, out, errs)
		}
	}
}
