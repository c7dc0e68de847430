package connect_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"countersign/cmd/connect"
	"countersign/cmd/process"
	"countersign/models"
	"countersign/models/storetest"
)

// desk is the home of a person who has Claude Code.
type desk struct {
	t        *testing.T
	home     string
	settings string
	dir      string // in which it runs; empty: the home
	env      []string
}

// newDesk has a Claude Code of a version, and settings unless they are empty.
func newDesk(t *testing.T, w *process.World, version, settings string) *desk {
	t.Helper()
	d := &desk{t: t, home: t.TempDir()}
	d.settings = filepath.Join(d.home, ".claude", "settings.json")
	bin := filepath.Join(d.home, "bin")
	d.write(filepath.Join(bin, "claude"), "#!/bin/sh\necho '"+version+" (Claude Code)'\n", 0o755)
	if settings != "" {
		d.write(d.settings, settings, 0o644)
	}
	d.env = append(w.HookEnv(), "HOME="+d.home, "PATH="+bin+":"+os.Getenv("PATH"))
	return d
}

func (d *desk) write(path, text string, mode fs.FileMode) {
	d.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		d.t.Fatal(err)
	}
}

// run runs the program in the home folder, on a machine that nobody manages unless the test
// writes settings into managed, and with time for a busy one.
func (d *desk) run(args ...string) (stdout, stderr string, code int) {
	d.t.Helper()
	if args[0] == "connect" {
		args = append(args, "--managed-settings", d.managed(), "--within", "2m")
	}
	var out, said bytes.Buffer
	c := exec.CommandContext(d.t.Context(), process.Binary, args...)
	c.Dir, c.Env, c.Stdout, c.Stderr = cmp.Or(d.dir, d.home), d.env, &out, &said
	if err := c.Run(); err != nil && c.ProcessState == nil {
		d.t.Fatal(err)
	}
	return out.String(), said.String(), c.ProcessState.ExitCode()
}

func (d *desk) managed() string { return filepath.Join(d.home, "etc") }

// must runs the program and fails the test if it fails.
func (d *desk) must(args ...string) string {
	d.t.Helper()
	out, said, code := d.run(args...)
	if code != 0 {
		d.t.Fatalf("%v: exit %d\n%s%s", args, code, out, said)
	}
	return out
}

// files are all files in the home folder but the program, with their modes.
func (d *desk) files() map[string]fs.FileMode {
	d.t.Helper()
	out := map[string]fs.FileMode{}
	err := filepath.WalkDir(d.home, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if name, _ := filepath.Rel(d.home, path); name != "bin/claude" {
			out[name] = info.Mode()
		}
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return out
}

func (d *desk) text() string {
	d.t.Helper()
	raw, err := os.ReadFile(d.settings)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(raw)
}

const odd = "// mine\n{\r\n\t\"model\":  \"x\", /* why */\r\n\t\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"beep\"}]}]},\r\n\t\"zzz\": [1.50]\r\n}"

// Connecting changes the settings, keeps the token out of them, and tries the hook; to
// disconnect leaves everything as it was.
func TestConnectAndDisconnect(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	for name, c := range map[string]struct{ before, scope string }{
		"odd settings":           {odd, "--user"},
		"hooks said to be on":    {"{\"disableAllHooks\": false}", "--user"},
		"no settings":            {"", "--user"},
		"empty settings":         {"\n", "--user"},
		"no settings of project": {"", "--project"},
		"settings of a project":  {"{}", "--project"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, w, "2.1.328", c.before)
			before := d.files()
			out := d.must("connect", "claude-code", c.scope, "--yes")
			if !strings.Contains(out, "+++ ") || !strings.Contains(out, "/approvals/") || !strings.Contains(out, "It was cancelled.") || !strings.Contains(out, "The sample ran the hook, not Claude Code") {
				t.Errorf("it said\n%s", out)
			}
			written := d.text()
			for _, want := range []string{`"PreToolUse"`, `"PermissionRequest"`, `"PostToolUse"`, `"PostToolUseFailure"`, `"Stop"`, `"timeout": 86400`, `"onFailure": "block"`, "'" + process.Binary + "' hook --credentials '" + d.home + "/.config/countersign/claude-code.json' --timeout 86400s"} {
				if !strings.Contains(written, want) {
					t.Errorf("the settings lack %s:\n%s", want, written)
				}
			}
			if strings.Contains(written, w.Agent) || strings.Contains(written, `"http"`) {
				t.Errorf("the settings have a token, or an http hook:\n%s", written)
			}
			for name, mode := range d.files() {
				if strings.HasPrefix(name, ".config/") && mode.Perm() != 0o600 {
					t.Errorf("%s has mode %04o", name, mode.Perm())
				}
			}
			if again := d.must("connect", "claude-code", c.scope, "--yes"); !strings.Contains(again, "is already connected") || d.text() != written {
				t.Errorf("connected again it said %s and wrote\n%s", again, d.text())
			}
			d.env = append(d.env, "COUNTERSIGN_TOKEN=")
			d.must("connect", "claude-code", c.scope, "--yes") // by the stored token
			d.must("disconnect", "claude-code", c.scope, "--yes")
			after := d.files()
			if len(after) != len(before) {
				t.Errorf("files %v, want %v", after, before)
			}
			if c.before != "" && d.text() != c.before {
				t.Errorf("the settings are\n%q\nwant\n%q", d.text(), c.before)
			}
			if out := d.must("disconnect", "claude-code", c.scope); !strings.Contains(out, "has no hook of Countersign") {
				t.Errorf("disconnected again it said %s", out)
			}
		})
	}
	page, err := w.Store().Stats(t.Context(), w.Admin)
	if err != nil || page.Pending != 0 {
		t.Errorf("%d requests wait (%v)", page.Pending, err)
	}
	sample := storetest.Column(t, w.Store(), `SELECT approval_status || ' ' || tool_name FROM responses WHERE tool_name = 'Countersign sample'`)
	if len(sample) != 18 || sample[0] != string(models.StatusCancelled)+" Countersign sample" {
		t.Errorf("samples: %q", sample)
	}
}

// A hook that ends before it has heard which request is its own leaves it waiting: the trial
// cancels it, and nothing of another session.
func TestSampleThatItsHookLeftIsCancelled(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	w.ApplyPolicy(t, process.HookPolicy)
	left := func(session, call string) models.ResponseID {
		event := strings.Replace(process.HookEvent("PreToolUse", process.HookCall("Bash", `{"command":"ls"}`, call)), `"s1"`, `"`+session+`"`, 1)
		p := w.StartHook(t, event)
		var id models.ResponseID
		process.Eventually(t, "the hook's call waits", func() bool {
			found, err := w.Store().FindInvocation(t.Context(), w.Admin, call, "")
			if err == nil {
				id = found.ID
			}
			return err == nil
		})
		p.Signal(t, syscall.SIGKILL)
		p.Exit(t)
		return id
	}
	other, own := left("another", "1"), left("sample-1", "2")
	for range 2 { // the second time nothing is left
		if err := connect.WithdrawSample(t.Context(), "http://"+w.Addr, w.Agent, "sample-1"); err != nil {
			t.Fatal(err)
		}
		w.WantStatus(t, own, models.StatusCancelled)
		w.WantStatus(t, other, models.StatusPending)
	}
	w.Stop()
	if err := connect.WithdrawSample(t.Context(), "http://"+w.Addr, w.Agent, "sample-1"); err == nil {
		t.Error("without a server it was said to be cancelled")
	}
}

// Of settings that somebody has changed since, only our hooks are removed.
func TestDisconnectKeepsWhatCameLater(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	d := newDesk(t, w, "2.1.328", `{"a": 1}`)
	d.must("connect", "claude-code", "--yes")
	d.write(d.settings, strings.Replace(d.text(), `"a": 1`, `"a": 2, "b": [ ]`, 1), 0o644)
	d.must("disconnect", "claude-code", "--yes")
	if got := d.text(); got != `{"a": 2, "b": [ ]}` {
		t.Errorf("the settings are %q", got)
	}
	d.must("connect", "claude-code", "--yes")
	if err := os.RemoveAll(filepath.Join(d.home, ".config")); err != nil { // the note of what was done
		t.Fatal(err)
	}
	d.must("disconnect", "claude-code", "--yes")
	if got := d.text(); got != `{"a": 2, "b": [ ]}` {
		t.Errorf("without a note the settings are %q", got)
	}
}

// What cannot be done is said, and changes nothing.
func TestConnectRefuses(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	yes := []string{"--yes"}
	for name, c := range map[string]struct {
		before  string
		args    []string
		prepare func(d *desk)
		says    string
	}{
		"no terminal and no --yes": {`{}`, nil, nil, "add --yes"},
		"invalid JSON":             {"{\n\"a\": 1\n\"b\": 2}", yes, nil, "line 3: this is not valid JSON"},
		"hooks of another kind":    {`{"hooks": []}`, yes, nil, "hooks: must be an object"},
		"hooks that are off":       {`{"disableAllHooks": true}`, yes, nil, "disableAllHooks"},
		"hooks of a person off":    {`{"disableAllHooks": true}`, []string{"--yes", "--project"}, nil, "disableAllHooks"},
		"off for one": {`{}`, []string{"--yes", "--project"}, func(d *desk) {
			d.write(filepath.Join(d.home, ".claude", "settings.local.json"), `{"disableAllHooks": true}`, 0o644)
		}, "settings.local.json: disableAllHooks"},
		"both scopes":        {`{}`, []string{"--yes", "--user", "--project"}, nil, "user"},
		"no token":           {`{}`, yes, func(d *desk) { d.env = append(d.env, "COUNTERSIGN_TOKEN=") }, "COUNTERSIGN_TOKEN"},
		"a reviewer's token": {`{}`, yes, func(d *desk) { d.env = append(d.env, "COUNTERSIGN_TOKEN="+w.Reviewer) }, "Only an agent's token"},
		"no server":          {`{}`, yes, func(d *desk) { d.env = append(d.env, "COUNTERSIGN_SERVER=http://"+storetest.ClosedPort(t)) }, "does not answer"},
		"a file to read only": {`{}`, yes, func(d *desk) {
			if err := os.Chmod(d.settings, 0o444); err != nil {
				t.Fatal(err)
			}
		}, "is read-only"},
		"a folder in its place": {"", yes, func(d *desk) {
			if err := os.MkdirAll(d.settings, 0o755); err != nil {
				t.Fatal(err)
			}
		}, "is not a file"},
		"a link to nowhere": {"", yes, func(d *desk) {
			d.write(filepath.Join(d.home, ".claude", "x"), "", 0o644)
			if err := os.Symlink("gone", d.settings); err != nil {
				t.Fatal(err)
			}
		}, "a link to a file that is not there"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, w, "2.1.328", c.before)
			if c.prepare != nil {
				c.prepare(d)
			}
			before := d.files()
			out, said, code := d.run(append([]string{"connect", "claude-code"}, c.args...)...)
			if code == 0 || !strings.Contains(said, c.says) {
				t.Errorf("exit %d, said %q%q, want %q", code, out, said, c.says)
			}
			if after := d.files(); len(after) != len(before) || c.before != "" && d.text() != c.before {
				t.Errorf("it changed something: %v, before %v", after, before)
			}
		})
	}
}

// Where any settings that the agent reads let no hook of a person run, nothing is connected,
// and the file is named.
func TestConnectReadsAllLayersOfSettings(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	for name, c := range map[string]struct {
		scope, path, text string
		runs              bool
	}{
		"managed: only theirs":       {"--user", "etc/managed-settings.json", `{"allowManagedHooksOnly": true}`, false},
		"managed: none":              {"--project", "etc/managed-settings.json", `{"disableAllHooks": true}`, false},
		"managed: of plugins alone":  {"--user", "etc/managed-settings.json", `{"strictPluginOnlyCustomization": ["skills", "hooks"]}`, false},
		"managed: all of plugins":    {"--user", "etc/managed-settings.json", `{"strictPluginOnlyCustomization": true}`, false},
		"managed: skills of plugins": {"--user", "etc/managed-settings.json", `{"strictPluginOnlyCustomization": ["skills"]}`, true},
		"managed: a value not known": {"--user", "etc/managed-settings.json", `{"allowManagedHooksOnly": "yes"}`, false},
		"managed: no JSON":           {"--user", "etc/managed-settings.json", `{`, false},
		"managed: theirs are on":     {"--user", "etc/managed-settings.json", `{"allowManagedHooksOnly": false, "disableAllHooks": null}`, true},
		"managed: in a part":         {"--user", "etc/managed-settings.d/20-hooks.json", `{"allowManagedHooksOnly": true}`, false},
		"managed: in a part, a link": {"--user", "etc/managed-settings.d/30-x.json/y", ``, false},
		"fetched: only theirs":       {"--project", ".claude/remote-settings.json", `{"allowManagedHooksOnly": true}`, false},
		"fetched: none":              {"--user", ".claude/remote-settings.json", `{"disableAllHooks": true}`, false},
		"the person's":               {"--project", ".claude/settings.json", `{"disableAllHooks": 1}`, false},
		"the project's":              {"--user", "p/.claude/settings.json", `{"disableAllHooks": true}`, false},
		"the person's in a project":  {"--user", "p/.claude/settings.local.json", `{"disableAllHooks": true}`, false},
		"only theirs, not managed":   {"--user", ".claude/settings.json", `{"allowManagedHooksOnly": true}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, w, "2.1.328", "")
			d.write(filepath.Join(d.home, c.path), c.text, 0o644)
			d.dir = filepath.Join(d.home, "p")
			if err := os.MkdirAll(d.dir, 0o755); err != nil {
				t.Fatal(err)
			}
			before := d.files()
			out, said, code := d.run("connect", "claude-code", c.scope, "--yes")
			if c.runs {
				if code != 0 {
					t.Errorf("exit %d, said %s%s", code, out, said)
				}
				return
			}
			named := strings.TrimSuffix(filepath.Join(d.home, c.path), "/y")
			if code == 0 || !strings.Contains(said, named) || !strings.Contains(said, "nothing was changed") && c.text != "" || len(d.files()) != len(before) {
				t.Errorf("exit %d, said %q, want %s named; files %v", code, said, named, d.files())
			}
		})
	}
}

// A server that takes the token and then answers nothing: the trial ends, cuts off its hook,
// and claims nothing.
func TestConnectClaimsOnlyWhatItSaw(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	d := newDesk(t, w, "2.1.328", "")
	target, err := url.Parse("http://" + w.Addr)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	gone := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil && bytes.Contains(body, []byte(`"check"`)) {
			r.Body = io.NopCloser(bytes.NewReader(body))
			r.Host = target.Host
			proxy.ServeHTTP(rw, r)
			return
		}
		select {
		case <-r.Context().Done():
		case <-gone:
		}
	}))
	defer s.Close()
	defer close(gone)
	d.env = append(d.env, "COUNTERSIGN_SERVER="+s.URL)
	var out, said bytes.Buffer
	c := exec.CommandContext(t.Context(), process.Binary, "connect", "claude-code", "--yes", "--managed-settings", d.managed(), "--within", "3s")
	c.Dir, c.Env, c.Stdout, c.Stderr = d.home, d.env, &out, &said
	err = c.Run()
	if err == nil || strings.Contains(out.String(), "Connected") || strings.Contains(out.String(), "cancelled") || !strings.Contains(said.String(), "did not appear in the inbox in time") {
		t.Errorf("%v\n%s%s", err, out.String(), said.String())
	}
	if left, _ := exec.CommandContext(t.Context(), "pgrep", "-f", d.home+"/.config").Output(); len(left) > 0 {
		t.Errorf("the hook still runs: %s", left)
	}
	if help, _, _ := d.run("connect", "claude-code", "--help"); !strings.Contains(help, "(default 10s)") {
		t.Errorf("the time is not 10 s:\n%s", help)
	}
}

// A link stays one: what it leads to is written.
func TestConnectFollowsALink(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	d := newDesk(t, w, "2.1.328", "")
	target := filepath.Join(d.home, "dotfiles", "claude.json")
	d.write(target, `{"a": 1}`, 0o640)
	if err := os.MkdirAll(filepath.Dir(d.settings), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, d.settings); err != nil {
		t.Fatal(err)
	}
	d.must("connect", "claude-code", "--yes")
	files := d.files()
	if files[".claude/settings.json"]&fs.ModeSymlink == 0 || files["dotfiles/claude.json"].Perm() != 0o640 || !strings.Contains(d.text(), "PreToolUse") {
		t.Errorf("files %v, settings %s", files, d.text())
	}
	d.must("disconnect", "claude-code", "--yes")
	if files := d.files(); files[".claude/settings.json"]&fs.ModeSymlink == 0 || d.text() != `{"a": 1}` {
		t.Errorf("files %v, settings %s", files, d.text())
	}
}

// An older version does not know onFailure; the person is told what that means.
func TestConnectKnowsVersions(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	for version, knows := range map[string]bool{"2.1.197": false, "2.1.294": false, "2.0.999": false, "1.9.9": false, "2.1.295": true, "2.2.0": true, "3.0.0": true, "nonsense": true} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t, w, version, "")
			out := d.must("connect", "claude-code", "--yes")
			var got struct {
				Hooks map[string][]struct {
					Matcher string
					Hooks   []struct{ OnFailure string }
				}
			}
			if err := json.Unmarshal([]byte(d.text()), &got); err != nil {
				t.Fatal(err)
			}
			for moment, groups := range got.Hooks {
				gates := moment == "PreToolUse" || moment == "PermissionRequest"
				if blocks := groups[0].Hooks[0].OnFailure == "block"; blocks != (gates && knows) {
					t.Errorf("%s blocks: %v", moment, blocks)
				}
			}
			if warned := strings.Contains(out, "Update to 2.1.295"); warned == knows {
				t.Errorf("it said\n%s", out)
			}
		})
	}
}

// A trial that fails says why.
func TestConnectSaysWhyItsTrialFailed(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	w.ApplyPolicy(t, `{"approval_enabled":false}`)
	d := newDesk(t, w, "2.1.328", "")
	if _, said, code := d.run("connect", "claude-code", "--yes"); code != 1 || !strings.Contains(said, "nobody was asked: approval is switched off") {
		t.Errorf("exit %d, said %q", code, said)
	}
}

func TestConnectPrintsThePermissionPrompt(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	d := newDesk(t, w, "2.1.328", "")
	before := len(d.files())
	out := d.must("connect", "claude-code", "--permission-prompt")
	if !strings.Contains(out, "--permission-prompt-tool mcp__countersign__approve") || !strings.Contains(out, `"url":"http://`+w.Addr+`/mcp/session"`) || strings.Contains(out, w.Agent) || len(d.files()) != before {
		t.Errorf("it said\n%s", out)
	}
}

// To disconnect what was never connected leaves the token that other settings use.
func TestDisconnectElsewhereKeepsTheToken(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	d := newDesk(t, w, "2.1.328", "")
	d.must("connect", "claude-code", "--yes")
	connected, note := d.text(), filepath.Join(d.home, ".config", "countersign")
	notes, err := filepath.Glob(filepath.Join(note, "connection-*"))
	if err != nil || len(notes) != 1 {
		t.Fatalf("%v, %v", notes, err)
	}
	if err := os.Remove(notes[0]); err != nil { // settings that came from another machine have none
		t.Fatal(err)
	}
	elsewhere := filepath.Join(d.home, "project")
	d.write(filepath.Join(elsewhere, ".claude", "settings.json"), "{}", 0o644)
	c := exec.CommandContext(t.Context(), process.Binary, "disconnect", "claude-code", "--project")
	c.Dir, c.Env = elsewhere, d.env
	if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "has no hook of Countersign") {
		t.Fatalf("%s, %v", out, err)
	}
	if _, err := os.Stat(filepath.Join(note, "claude-code.json")); err != nil || d.text() != connected {
		t.Errorf("the token is gone: %v", err)
	}
	d.must("disconnect", "claude-code", "--yes")
	if _, err := os.Stat(filepath.Join(note, "claude-code.json")); err == nil {
		t.Error("the token is still there after the last settings")
	}
}
