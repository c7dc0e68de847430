package cmd_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"countersign/cmd/process"
	"countersign/handlers/api/wire"
	"countersign/models/storetest"
)

// A block of code in a document is run here, or by another test, or its document says when it was
// tried by hand, or it is no command. It is named by its document and how it begins.
type documented struct {
	doc, begins string

	run     func(t *testing.T, d *documents, block string)
	test    string // name of the test that runs it
	tried   string // what the document says of when it was tried, with a date
	targets bool   // of the Makefile
	shown   bool   // what a command prints, or a configuration
}

const (
	readme   = "../README.md"
	runGuide = "../.deploy/README.md"
)

var documentedBlocks = []documented{
	{doc: readme, begins: "make run", targets: true},
	{doc: readme, begins: "make build\nexport PATH", run: serves},
	{doc: readme, begins: "Nobody can sign in yet.", shown: true},
	{doc: readme, begins: "export PATH=\"$PWD/bin:$PATH\"\ncountersign user add", run: runs("--role admin", "--role admin --password-stdin <<<'a correct horse battery'")},
	{doc: readme, begins: "export PATH=\"$PWD/bin:$PATH\"\nexport TOKEN=", run: runs()},
	{doc: readme, begins: "curl -sS -X POST", run: decided(`"status":"approved"`)},
	{doc: readme, begins: `{"approvalId"`, shown: true},
	{doc: readme, begins: "export COUNTERSIGN_SERVER=", run: decided("deploying")},
	{doc: readme, begins: "countersign connect claude-code", test: "TestConnectAndDisconnect"},
	{doc: readme, begins: "countersign ask Bash --input -", run: decided("", "countersign ask", "echo '{\"tool\":\"Bash\"}' | countersign ask")},
	{doc: readme, begins: "curl -sS -N", run: streams},
	{doc: readme, begins: "agent …", run: runs("agent …", "agent")},

	{doc: runGuide, begins: "countersign serve --public-url", run: serves},
	{doc: runGuide, begins: "countersign.example.com {", shown: true},
	{doc: runGuide, begins: "server {", shown: true},
	{doc: runGuide, begins: "createuser", tried: "These commands were tried on 2026-11-28"},
	{doc: runGuide, begins: "countersign move", tried: "moved there and back on 2026-11-28"},
	{doc: runGuide, begins: "docker build", tried: "The image itself has not been built yet (2026-11-26)"},
	{doc: runGuide, begins: "ok       database", shown: true},
	{doc: runGuide, begins: "countersign upstream add orders", run: runs("countersign upstream", "echo key | countersign upstream", "you@example.com", "ann@example.com")},
	{doc: runGuide, begins: "countersign backup", run: onSQLite(runs(), "pg_dump")},
	{doc: runGuide, begins: "wrote /backups", shown: true},
	{doc: runGuide, begins: "countersign restore", run: onSQLite(runs("--data ./data", "--data ./restored"), "pg_restore")},
	{doc: runGuide, begins: "countersign audit export", run: runs()},
	{doc: runGuide, begins: "countersign audit verify --head", run: verifies},
	{doc: runGuide, begins: "countersign audit verify --rows", run: runs()},
	{doc: runGuide, begins: "countersign purge", run: runs()},
}

// documents is a folder in which somebody follows the documents, beside a server.
type documents struct {
	*process.World

	folder string
}

// TestEachDocumentedCommandRuns follows README and .deploy/README.md from top to bottom, on PostgreSQL too. A block
// that is new has to be said of how it is known to work.
func TestEachDocumentedCommandRuns(t *testing.T) {
	t.Parallel()
	for _, need := range []string{"bash", "curl"} {
		if !process.Has(need) {
			t.Skip(need + " is not installed")
		}
	}
	d := &documents{World: process.NewWorld(t), folder: t.TempDir()}
	_, d.Reviewer = storetest.AdminToken(t, d.Store(), d.Admin) // who also decides what is Ann's
	d.prepare(t)
	makefile := readText(t, "../Makefile")
	tests := testNames(t)
	used := map[string]bool{}
	for _, doc := range []string{readme, runGuide} {
		text := readText(t, doc)
		for _, block := range codeBlocks(text) {
			known := false
			for _, one := range documentedBlocks {
				if one.doc != doc || !strings.HasPrefix(block, one.begins) {
					continue
				}
				known, used[doc+one.begins] = true, true
				switch {
				case one.run != nil:
					one.run(t, d, block)
				case one.test != "" && !tests[one.test]:
					t.Errorf("%s: there is no %s, which should run: %s", doc, one.test, block)
				case one.tried != "" && (!strings.Contains(text, one.tried) || !date.MatchString(one.tried)):
					t.Errorf("%s does not say when this was tried: %s", doc, block)
				case one.targets:
					for _, target := range regexp.MustCompile(`(?m)^make (\S+)`).FindAllStringSubmatch(block, -1) {
						if !strings.Contains(makefile, "\n"+target[1]+":") {
							t.Errorf("%s: the Makefile has no %s", doc, target[1])
						}
					}
				}
				break
			}
			if !known {
				t.Errorf("%s: what is this, and does it work? Add it to documentedBlocks:\n%s", doc, block)
			}
		}
	}
	for _, one := range documentedBlocks {
		if !used[one.doc+one.begins] {
			t.Errorf("%s has nothing that begins %q", one.doc, one.begins)
		}
	}
}

var date = regexp.MustCompile(`20\d\d-\d\d-\d\d`)

func readText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// codeBlocks are the blocks of a document that are fenced or indented by four.
func codeBlocks(text string) []string {
	var out, block []string
	fenced, before := false, ""
	end := func() {
		if len(block) > 0 {
			out = append(out, strings.TrimRight(strings.Join(block, "\n"), "\n"))
		}
		block = nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		code, indented := strings.CutPrefix(line, "    ")
		switch {
		case strings.HasPrefix(line, "```"):
			end()
			fenced = !fenced
		case fenced:
			block = append(block, line)
		case indented && (len(block) > 0 || before == ""):
			block = append(block, code)
		case line == "" && len(block) > 0:
			block = append(block, "")
		default:
			end()
		}
		before = line
	}
	end()
	return splitIndented(out)
}

// splitIndented takes apart what an empty line separates, if both parts begin at the margin: one
// command and what it prints.
func splitIndented(blocks []string) (out []string) {
	for _, block := range blocks {
		rest := block
		for {
			at := strings.Index(rest, "\n\n")
			if at < 0 || strings.HasPrefix(rest[at+2:], " ") || strings.HasPrefix(rest, "server {") {
				break
			}
			out, rest = append(out, rest[:at]), rest[at+2:]
		}
		out = append(out, rest)
	}
	return out
}

func testNames(t *testing.T) map[string]bool {
	t.Helper()
	here, err := filepath.Glob("*_test.go")
	below, belowErr := filepath.Glob("*/*_test.go")
	if err = errors.Join(err, belowErr); err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, file := range slices.Concat(here, below) {
		for _, found := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(readText(t, file), -1) {
			out[found[1]] = true
		}
	}
	return out
}

// sayingAgent is a coding agent that has nothing to do.
const sayingAgent = `#!/bin/sh
echo '{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"s-1"}'
`

// prepare lays out what the documents take for granted: a built program, and a script to deploy.
func (d *documents) prepare(t *testing.T) {
	t.Helper()
	for _, dir := range []string{"bin", "home", "backups"} {
		if err := os.Mkdir(filepath.Join(d.folder, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(process.Binary, filepath.Join(d.folder, "bin", "countersign")); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{"deploy.sh": "#!/bin/sh\necho deploying\n", "bin/make": "#!/bin/sh\n", "bin/agent": sayingAgent, "env": ""} {
		if err := os.WriteFile(filepath.Join(d.folder, file), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
}

// command is a block as a shell runs it, with what earlier blocks have exported. In place of the
// addresses and folders of the document it has those of the test.
func (d *documents) command(t *testing.T, block, addr, data string) *exec.Cmd {
	t.Helper()
	block = strings.NewReplacer("127.0.0.1:8080", addr, "/backups/", filepath.Join(d.folder, "backups")+"/").Replace(block)
	c := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", ". ./env\n"+block+"\nexport -p >env")
	c.Dir = d.folder
	c.Env = []string{
		"HOME=" + filepath.Join(d.folder, "home"), "PATH=" + filepath.Join(d.folder, "bin") + ":" + os.Getenv("PATH"),
		"COUNTERSIGN_DATA=" + data,
	}
	if url := storetest.URL(t, data); url != "" {
		c.Env = append(c.Env, "COUNTERSIGN_DATABASE_URL="+url)
	}
	return c
}

// onSQLite runs a block that on PostgreSQL is refused, with a word on what to do there.
func onSQLite(run func(*testing.T, *documents, string), says string) func(*testing.T, *documents, string) {
	if !storetest.OnPostgres() {
		return run
	}
	return func(t *testing.T, d *documents, block string) {
		t.Helper()
		out, err := d.command(t, block, d.Addr, d.Dir).CombinedOutput()
		if err == nil || !strings.Contains(string(out), says) {
			t.Errorf("%s\n%v\n%s\nwant a refusal that says %s", block, err, out, says)
		}
	}
}

// runs runs a block that ends well, with parts of it replaced.
func runs(replace ...string) func(*testing.T, *documents, string) {
	return func(t *testing.T, d *documents, block string) {
		t.Helper()
		d.give(t, strings.NewReplacer(replace...).Replace(block))
	}
}

func (d *documents) give(t *testing.T, block string) {
	t.Helper()
	out, err := d.command(t, block, d.Addr, d.Dir).CombinedOutput()
	if err != nil {
		t.Errorf("%s\n%v\n%s", block, err, out)
	}
}

// decided runs a block that asks, approves what it asks, and sees that it says so.
func decided(says string, replace ...string) func(*testing.T, *documents, string) {
	return func(t *testing.T, d *documents, block string) {
		t.Helper()
		c := d.command(t, strings.NewReplacer(replace...).Replace(block), d.Addr, d.Dir)
		out := &process.Output{}
		c.Stdout, c.Stderr = out, out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		d.Respond(t, d.OnlyPending(t).ID, wire.RespondRequest{Approved: new(true)})
		if err := c.Wait(); err != nil || !strings.Contains(out.String(), says) {
			t.Errorf("%s\n%v\n%s\nwant %s", block, err, out, says)
		}
	}
}

// serves runs a block that begins a server, until it is ready.
func serves(t *testing.T, d *documents, block string) {
	t.Helper()
	addr := process.FreeAddr(t)
	c := d.command(t, strings.Replace(block, "countersign serve", "exec countersign serve", 1), addr, filepath.Join(t.TempDir(), "data"))
	out := &process.Output{}
	c.Stdout, c.Stderr, c.Env = out, out, append(c.Env, "COUNTERSIGN_ADDR="+addr)
	d.untilSeen(t, c, out, func() bool { return strings.Contains(out.String(), "msg=serving") })
}

// streams runs a block that prints events, until there is one.
func streams(t *testing.T, d *documents, block string) {
	t.Helper()
	c := d.command(t, "TOKEN="+d.Agent+"\nexec "+block, d.Addr, d.Dir)
	out := &process.Output{}
	c.Stdout, c.Stderr = out, out
	asked := false
	d.untilSeen(t, c, out, func() bool {
		if !asked && strings.Contains(out.String(), ": from here on") {
			asked = true
			if _, err := d.Client(d.Agent).Ask(t.Context(), wire.AskRequest{ToolName: "deploy"}, 0); err != nil {
				t.Fatal(err)
			}
		}
		return strings.Contains(out.String(), "event: approval_required")
	})
}

// untilSeen runs a command that does not end, until it has said what is wanted.
func (d *documents) untilSeen(t *testing.T, c *exec.Cmd, out *process.Output, seen func() bool) {
	t.Helper()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	process.Eventually(t, "the command says so", func() bool {
		select {
		case err := <-ended:
			t.Fatalf("%v ended: %v\n%s", c.Args, err, out)
		default:
		}
		return seen()
	})
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil && !c.ProcessState.Exited() {
		t.Logf("%v: %v", c.Args, err) // by the signal
	}
}

var headPrinted = regexp.MustCompile(`\d+:[0-9a-f]{64}`)

// verifies runs a block that compares with a head, which here is that of now.
func verifies(t *testing.T, d *documents, block string) {
	t.Helper()
	head, err := d.Store().Ledger.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d.give(t, headPrinted.ReplaceAllString(block, head.String()))
}
