package connect_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"countersign/cmd/process"
	"countersign/handlers/api/wire"
	"countersign/views/pages/connect"
	"countersign/views/ui"
)

// pasted is the home of a person who does what the page Connect says.
type pasted struct {
	home   string
	script string // what is pasted into the terminal
	env    []string
}

// paste saves what the page says to save, and gathers what it says to paste.
func paste(t *testing.T, w *process.World, way string) *pasted {
	t.Helper()
	p := &pasted{home: t.TempDir()}
	for _, s := range connect.Snippets(way, "http://"+w.Addr, w.Agent) {
		if name, ok := strings.CutPrefix(s.Label, "Save as "); ok {
			if err := os.WriteFile(filepath.Join(p.home, name), []byte(s.Text), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		p.script += s.Text + "\n"
	}
	goEnv, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	p.env = []string{
		"HOME=" + p.home, "PATH=" + filepath.Dir(process.Binary) + ":" + os.Getenv("PATH"),
		"GOCACHE=" + strings.TrimSpace(string(goEnv)), "GOTOOLCHAIN=local",
		"GOFLAGS=" + os.Getenv("GOFLAGS"), // of the program's own build: nothing is built twice
	}
	return p
}

// run runs a program in the home; decide is called meanwhile.
func (p *pasted) run(t *testing.T, decide func(), program string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	c := exec.CommandContext(t.Context(), program, args...)
	var out, said bytes.Buffer
	c.Dir, c.Env, c.Stdin, c.Stdout, c.Stderr = p.home, p.env, strings.NewReader(p.script), &out, &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if decide != nil {
		decide()
	}
	if err := c.Wait(); err != nil && !c.ProcessState.Exited() {
		t.Fatal(err)
	}
	return out.String(), said.String(), c.ProcessState.ExitCode()
}

// What the page Connect says to paste asks, and tells an approval from a rejection.
func TestSnippetsOfTheTerminalRunAsPasted(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	for _, c := range []struct {
		way     string
		verdict wire.RespondRequest
		code    int
		says    string
	}{
		{"shell", wire.RespondRequest{Approved: new(true)}, 0, "approved: it may run"},
		{"shell", wire.RespondRequest{Approved: new(false), Reason: "no"}, 1, ""},
		{"curl", wire.RespondRequest{Approved: new(true)}, 0, `"approved":true`},
		{"curl", wire.RespondRequest{Approved: new(false), Reason: "no"}, 0, `"approved":false`},
		{"go", wire.RespondRequest{Approved: new(true)}, 0, `approved: it may run with {"to":"ann@example.com"}`},
		{"go", wire.RespondRequest{Approved: new(true), Input: []byte(`{"to":"bo@example.com"}`)}, 0, `approved: it may run with {"to":"bo@example.com"}`},
		{"go", wire.RespondRequest{Approved: new(false), Reason: "no"}, 1, ""},
	} {
		if c.way == "curl" && !process.Has("curl") {
			t.Log("curl is not installed: its lines are not run")
			continue
		}
		p := paste(t, w, c.way)
		out, said, code := p.run(t, func() {
			a := w.OnlyPending(t)
			if a.ToolName != "send_email" || !strings.Contains(a.ToolInputJSON, "ann@example.com") {
				t.Errorf("%s asked for %s with %s", c.way, a.ToolName, a.ToolInputJSON)
			}
			w.Respond(t, a.ID, c.verdict)
		}, "bash")
		if code != c.code || !strings.Contains(out, c.says) || c.says == "" && strings.Contains(out, "approved") {
			t.Errorf("%s, %+v: exit %d\n%s%s", c.way, c.verdict, code, out, said)
		}
	}
}

// Without a server nothing is approved, and nobody waits for ever (I11).
func TestSnippetsFailClosedWithoutAServerI11(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	for _, way := range []string{"curl", "go"} {
		if !process.Has(way) {
			t.Logf("%s is not installed: its lines are not run", way)
			continue
		}
		p := paste(t, w, way)
		p.script = strings.ReplaceAll(p.script, "http://"+w.Addr, "http://"+process.FreeAddr(t))
		out, said, _ := p.run(t, nil, "bash")
		if strings.Contains(out, "approved") || said == "" {
			t.Errorf("%s printed %q and said %q", way, out, said)
		}
	}
}

// The program of the page is one that a check of it takes.
func TestTheSnippetOfGoIsVetted(t *testing.T) {
	t.Parallel()
	p := paste(t, process.NewWorld(t), "go")
	if out, said, code := p.run(t, nil, "go", "vet", "main.go"); code != 0 {
		t.Errorf("%s%s", out, said)
	}
}

// connect asks at a terminal before it writes; here it is told not to.
func TestTheSnippetOfClaudeCodeInstallsTheHook(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	p := paste(t, w, "claude-code")
	p.script = strings.TrimSuffix(p.script, "\n") + " --yes\n"
	out, said, code := p.run(t, nil, "bash")
	settings, err := os.ReadFile(filepath.Join(p.home, ".claude", "settings.json"))
	if code != 0 || err != nil || !bytes.Contains(settings, []byte("PreToolUse")) || bytes.Contains(settings, []byte(w.Agent)) {
		t.Errorf("exit %d, %v\n%s%s\n%s", code, err, out, said, settings)
	}
}

// mcpConfig is what MCP clients read.
type mcpConfig struct {
	Servers map[string]struct {
		Type, URL, Command string
		Headers, Env       map[string]string
		Args               []string
	} `json:"mcpServers"`
}

// MCP clients connect by the configuration, see the tools, and hear of the decision.
func TestSnippetsOfMCPConnect(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	for _, way := range []string{"mcp-http", "mcp-stdio"} {
		t.Run(way, func(t *testing.T) {
			p := paste(t, w, way)
			var config mcpConfig
			if err := json.Unmarshal([]byte(p.script), &config); err != nil {
				t.Fatal(err)
			}
			server := config.Servers["countersign"]
			var transport mcp.Transport
			if server.Type == "http" {
				hc := &http.Client{Transport: headers(server.Headers)}
				t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
				transport = &mcp.StreamableClientTransport{Endpoint: server.URL, HTTPClient: hc, DisableStandaloneSSE: true}
			} else {
				c := exec.CommandContext(t.Context(), filepath.Join(filepath.Dir(process.Binary), server.Command), server.Args...)
				c.Env = p.env
				for name, value := range server.Env {
					c.Env = append(c.Env, name+"="+value)
				}
				transport = &mcp.CommandTransport{Command: c, TerminateDuration: time.Second}
			}
			session, err := mcp.NewClient(&mcp.Implementation{Name: "t", Version: "1"}, nil).Connect(t.Context(), transport, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			asked := make(chan string, 1)
			go func() {
				got, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "approve", Arguments: map[string]any{"tool_name": "Bash", "input": map[string]any{"command": "ls"}, "tool_use_id": way}})
				if err != nil || len(got.Content) == 0 {
					asked <- "no answer"
					return
				}
				text, _ := got.Content[0].(*mcp.TextContent)
				asked <- text.Text
			}()
			w.Respond(t, w.OnlyPending(t).ID, wire.RespondRequest{Approved: new(true)})
			if got := <-asked; got != `{"behavior":"allow","updatedInput":{"command":"ls"}}` {
				t.Errorf("told %s", got)
			}
		})
	}
}

// headers are sent with each request.
type headers map[string]string

func (h headers) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range h {
		r.Header.Set(name, value)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// The command line of the page is the one that connect prints, but that the address comes
// from the environment and a restart is survived.
func TestTheSnippetOfThePermissionPromptIsWhatConnectPrints(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	var shown ui.Code
	for _, s := range connect.Snippets("claude-code-prompt", "http://"+w.Addr, w.Agent) {
		shown = s
	}
	printed := newDesk(t, w, "2.1.328", "").must("connect", "claude-code", "--permission-prompt")
	for _, part := range []string{"claude -p", "--permission-prompt-tool mcp__countersign__approve", "--mcp-config '{", "Bearer ${COUNTERSIGN_TOKEN}"} {
		if !strings.Contains(shown.Text, part) || !strings.Contains(printed, part) {
			t.Errorf("%q is not in both\n%s\n%s", part, shown.Text, printed)
		}
	}
	_, config, _ := strings.Cut(shown.Text, "--mcp-config '")
	var read mcpConfig
	if err := json.Unmarshal([]byte(strings.TrimSuffix(config, "'")), &read); err != nil || read.Servers["countersign"].URL != "${COUNTERSIGN_SERVER}/mcp/session" {
		t.Errorf("%+v (%v)", read, err)
	}
}

// The adapter of the page asks on through outages that end: only one without end is given up.
func TestTheAdapterCountsFailuresInARow(t *testing.T) {
	t.Parallel()
	if !process.Has("node") {
		t.Skip("node is not installed")
	}
	p := paste(t, process.NewWorld(t), "vercel-ai")
	const script = `
globalThis.setTimeout = (fn) => setImmediate(fn); // no test waits
const answers = [];
for (let outage = 0; outage < 3; outage++) answers.push(...Array(14).fill(503), 202);
answers.push(200);
globalThis.fetch = async () => {
  const status = answers.length ? answers.shift() : 503;
  return { status, ok: status < 300, json: async () => ({ approved: true, decision: { input: { to: "x" } } }) };
};
const { approved } = await import("./countersign.mjs");
console.log(await approved("t", async ({ to }) => "sent to " + to)({}));
try { await approved("t", async () => "ran")({}); } catch (err) { console.log(err.message); }
`
	if err := os.WriteFile(filepath.Join(p.home, "try.mjs"), []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	out, said, code := p.run(t, nil, "node", "try.mjs")
	if code != 0 || out != "sent to x\nt must not run: no server answers\n" {
		t.Errorf("exit %d: %s%s", code, out, said)
	}
}
