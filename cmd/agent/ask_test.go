package agent_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"countersign/cmd/process"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/requests"
)

func TestAskExitsAsDecided(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	tests := []struct {
		name   string
		args   []string
		decide *wire.RespondRequest // nil: nobody does
		code   int
		says   string
	}{
		{name: "approved", decide: &wire.RespondRequest{Approved: new(true), Reason: "fine"}, code: 0, says: "approved by admin@example.com: fine"},
		{name: "rejected", decide: &wire.RespondRequest{Approved: new(false), Reason: "not now\u202e"}, code: 1, says: "rejected by admin@example.com: not now⟨U+202E⟩"},
		{name: "expired", args: []string{"--timeout", "1s"}, code: 2, says: "expired: Nobody decided in time. Reason: Approval request timed out (1 second)"},
		{name: "suggested", decide: &wire.RespondRequest{Approved: new(false), SuggestedInput: []byte(`{"v":2}`)}, code: 1, says: `ask again with the suggested input: {"v":2}`},
		{name: "edited json", args: []string{"--json"}, decide: &wire.RespondRequest{Approved: new(true), Input: []byte(`{"v":2}`)}, code: 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := process.Start(t, w.Env(t), append([]string{"ask", "deploy", "--input", `{"v":1}`, "--description", tt.name}, tt.args...)...)
			url := p.Says(t, p.Err, "waiting for a decision at ")
			if tt.decide != nil {
				w.Respond(t, models.ResponseID(url[strings.LastIndex(url, "/")+1:]), *tt.decide)
			}
			if code := p.Exit(t); code != tt.code || !strings.Contains(p.Err.String(), tt.says) {
				t.Fatalf("exit %d, want %d and %q; it said:\n%s", code, tt.code, tt.says, p.Err)
			}
			if tt.name == "edited json" {
				var got wire.Approval
				if err := json.Unmarshal([]byte(p.Out.String()), &got); err != nil || !got.Decision.Edited {
					t.Errorf("printed %s (%v), want the edited outcome", p.Out, err)
				}
			} else if p.Out.String() != "" {
				t.Errorf("standard output holds %q", p.Out)
			}
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		p := process.Start(t, w.Env(t), "ask", "cancel-me")
		url := p.Says(t, p.Err, "waiting for a decision at ")
		if _, err := w.Client(w.Agent).Cancel(t.Context(), wire.ResponseID(url[strings.LastIndex(url, "/")+1:])); err != nil {
			t.Fatal(err)
		}
		if code := p.Exit(t); code != 2 {
			t.Errorf("exit %d, want 2", code)
		}
	})
}

// A template makes a call wait that would be let through; one that the policy lacks is a
// mistake, which is said.
func TestAskNamesATemplate(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	document := `{"templates":[{"name":"careful","checklist":["Looked twice"]}],"rules":[{"name":"reading","tools":["read"],"effect":"allow"}]}`
	if _, err := w.Store().ApplyPolicy(t.Context(), w.Admin, []byte(document), "templates", 0); err != nil {
		t.Fatal(err)
	}
	if code := process.Start(t, w.Env(t), "ask", "read").Exit(t); code != 0 {
		t.Errorf("without a template it exits with %d", code)
	}
	p := process.Start(t, w.Env(t), "ask", "read", "--template", "careful")
	url := p.Says(t, p.Err, "waiting for a decision at ")
	w.Respond(t, models.ResponseID(url[strings.LastIndex(url, "/")+1:]), wire.RespondRequest{Approved: new(true), Checked: []int{0}})
	if code := p.Exit(t); code != 0 {
		t.Errorf("approved, it exits with %d: %s", code, p.Err)
	}
	p = process.Start(t, w.Env(t), "ask", "read", "--template", "gone")
	if code := p.Exit(t); code != 4 || !strings.Contains(p.Err.String(), "must be the name of a template of the policy: careful") {
		t.Errorf("with a name that the policy lacks it exits with %d: %s", code, p.Err)
	}
}

func TestAskExitsFourOnAnythingElse(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	tests := []struct {
		name string
		env  []string
		args []string
		says string
	}{
		{"no token", []string{"COUNTERSIGN_SERVER=http://" + w.Addr}, []string{"deploy"}, "COUNTERSIGN_TOKEN"},
		{"wrong token", []string{"COUNTERSIGN_SERVER=http://" + w.Addr, "COUNTERSIGN_TOKEN=wrong"}, []string{"deploy"}, "token"},
		{"reviewer's token", []string{"COUNTERSIGN_SERVER=http://" + w.Addr, "COUNTERSIGN_TOKEN=" + w.Reviewer}, []string{"deploy"}, "agent's token"},
		{"no address", []string{"COUNTERSIGN_SERVER=nowhere", "COUNTERSIGN_TOKEN=x"}, []string{"deploy"}, "COUNTERSIGN_SERVER"},
		{"no tool", w.Env(t), nil, "arg"},
		{"unknown flag", w.Env(t), []string{"deploy", "--nonsense"}, "nonsense"},
		{"bad tool", w.Env(t), []string{"de\tploy"}, "toolName"},
		{"bad input", w.Env(t), []string{"deploy", "--input", `{"a":1,"a":2}`}, "--input"},
		{"no file", w.Env(t), []string{"deploy", "--input", "@/nonexistent"}, "--input"},
		{"too long a timeout", w.Env(t), []string{"deploy", "--timeout", "9000h"}, "timeoutSeconds"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, said, code := process.RunWith(t, tt.env, "", append([]string{"ask"}, tt.args...)...)
			if code != 4 || !strings.Contains(said, tt.says) {
				t.Errorf("exit %d, want 4 and %q; it said: %s", code, tt.says, said)
			}
		})
	}
}

func TestAskReadsInputAndOutlivesTheServerI8(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	p := process.Start(t, w.Env(t), "ask", "deploy", "--input", "-")
	fmt.Fprint(p.In, `{"n": 9007199254740993}`)
	_ = p.In.Close()
	p.Says(t, p.Err, "waiting for a decision at ")
	before := w.OnlyPending(t)
	if before.ToolInputJSON != `{"n": 9007199254740993}` && before.ToolInputJSON != `{"n":9007199254740993}` {
		t.Errorf("the input arrived as %s", before.ToolInputJSON)
	}
	w.Restart(t)
	w.Restart(t)
	after := w.OnlyPending(t)
	if after.ID != before.ID || !after.ApprovalTimeoutAt.Equal(before.ApprovalTimeoutAt) {
		t.Errorf("after the restarts %s until %v stands, want %s until %v", after.ID, after.ApprovalTimeoutAt, before.ID, before.ApprovalTimeoutAt)
	}
	process.Eventually(t, "the ask waits again", func() bool { return w.Store().Waiters() == 1 })
	w.Respond(t, after.ID, wire.RespondRequest{Approved: new(true)})
	if code := p.Exit(t); code != 0 {
		t.Errorf("exit %d, want 0: %s", code, p.Err)
	}
}

func TestAskInterruptedLeavesTheRequestStanding(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	p := process.Start(t, w.Env(t), "ask", "deploy")
	p.Says(t, p.Err, "waiting for a decision at ")
	p.Signal(t, syscall.SIGINT)
	if code := p.Exit(t); code != 130 {
		t.Errorf("exit %d, want 130", code)
	}
	if id := string(w.OnlyPending(t).ID); !strings.Contains(p.Err.String(), id) {
		t.Errorf("it did not name the request %s that stands: %s", id, p.Err)
	}
}

const fallbackOn = `{"fallback_auto_approve": true, "rules": [{"name": "free", "tools": ["free"], "effect": "allow"}]}`

func TestAskWithoutServerI11(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	w.ApplyPolicy(t, fallbackOn)
	env, other := w.Env(t), w.Env(t)
	const soon = "--connect-timeout=300ms"
	ask := func(env []string, args ...string) (string, int) {
		t.Helper()
		_, said, code := process.RunWith(t, env, "", append([]string{"ask"}, args...)...)
		return said, code
	}
	if said, code := ask(env, "free"); code != 0 {
		t.Fatalf("an allowed call: exit %d: %s", code, said)
	}
	w.Stop()
	if said, code := ask(other, "free", soon); code != 3 {
		t.Errorf("nothing confirmed: exit %d, want 3: %s", code, said)
	}
	otherToken := append([]string{}, env...)
	otherToken[1] = "COUNTERSIGN_TOKEN=another"
	if said, code := ask(otherToken, "free", soon); code != 3 {
		t.Errorf("confirmed to another token: exit %d, want 3: %s", code, said)
	}
	if said, code := ask(env, "deploy", soon); code != 3 {
		t.Errorf("confirmed for another tool: exit %d, want 3: %s", code, said)
	}
	if said, code := ask(env, "free", "--input", `{"v":7}`, soon); code != 0 || !strings.Contains(said, "fallback_auto_approve") {
		t.Errorf("confirmed a moment ago: exit %d, want 0: %s", code, said)
	}
	w.Server = process.Serve(t, w.Dir, w.Addr)
	if said, code := ask(env, "free"); code != 0 {
		t.Fatalf("an allowed call: exit %d: %s", code, said)
	}
	wantFallback(t, w, "free")
	if left := cacheFiles(t, env, "report-"); len(left) > 0 {
		t.Errorf("reports are kept after they were heard: %v", left)
	}

	w.ApplyPolicy(t, `{"fallback_auto_approve": false, "rules": [{"name": "free", "tools": ["free"], "effect": "allow"}]}`)
	if said, code := ask(env, "free"); code != 0 {
		t.Fatalf("an allowed call: exit %d: %s", code, said)
	}
	w.Stop()
	if said, code := ask(env, "free", soon); code != 3 {
		t.Errorf("switched off: exit %d, want 3: %s", code, said)
	}
}

// What was confirmed is believed for ten minutes, and never of a time to come.
func TestAskBelievesForTenMinutesI11(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	w.ApplyPolicy(t, fallbackOn)
	env := w.Env(t)
	if _, said, code := process.RunWith(t, env, "", "ask", "free"); code != 0 {
		t.Fatalf("an allowed call: exit %d: %s", code, said)
	}
	w.Stop()
	for age, want := range map[time.Duration]int{9 * time.Minute: 0, 11 * time.Minute: 3, -time.Hour: 3} {
		confirm(t, env, time.Now().Add(-age))
		if _, said, code := process.RunWith(t, env, "", "ask", "free", "--connect-timeout=300ms"); code != want {
			t.Errorf("confirmed %v ago: exit %d, want %d: %s", age, code, want, said)
		}
	}
}

// What is kept of a fallback with an end is believed until that, however shortly ago it was
// confirmed; programs that know of no ends read that it is off.
func TestAskWithoutServerKnowsTheEndI11(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	until := time.Now().Add(5 * time.Minute).UTC().Truncate(time.Second)
	w.ApplyPolicy(t, fmt.Sprintf(`{"fallback_auto_approve": true, "fallback_until": %q, "rules": [{"name": "free", "tools": ["free"], "effect": "allow"}]}`, until.Format(time.RFC3339)))
	env := w.Env(t)
	ask := func(args ...string) (string, int) {
		_, said, code := process.RunWith(t, env, "", append([]string{"ask"}, args...)...)
		return said, code
	}
	if said, code := ask("free"); code != 0 {
		t.Fatalf("an allowed call: exit %d: %s", code, said)
	}
	w.Stop()
	var kept struct {
		On        bool
		Until, At time.Time
	}
	raw, err := os.ReadFile(cacheFiles(t, env, "fallback-")[0])
	if err == nil {
		err = json.Unmarshal(raw, &kept)
	}
	if err != nil || kept.On || !kept.Until.Equal(until) {
		t.Fatalf("kept: %s, %v", raw, err)
	}
	const soon = "--connect-timeout=300ms"
	if said, code := ask("free", soon); code != 0 {
		t.Errorf("before the end: exit %d: %s", code, said)
	}
	for name, tt := range map[string]struct {
		until, age time.Duration
		code       int
	}{
		"the end has passed":            {-time.Second, time.Minute, 3},
		"before the end, confirmed now": {time.Minute, 0, 0},
		"confirmed too long ago":        {time.Hour, 11 * time.Minute, 3},
	} {
		text := fmt.Appendf(nil, `{"on":false,"until":%q,"at":%q}`, time.Now().Add(tt.until).Format(time.RFC3339Nano), time.Now().Add(-tt.age).Format(time.RFC3339Nano))
		if err := os.WriteFile(cacheFiles(t, env, "fallback-")[0], text, 0o600); err != nil {
			t.Fatal(err)
		}
		if said, code := ask("free", soon); code != tt.code {
			t.Errorf("%s: exit %d, want %d: %s", name, code, tt.code, said)
		}
	}
}

// wantFallback checks that exactly one call of a tool is stored as one that ran
// without an answer.
func wantFallback(t *testing.T, w *process.World, tool string) {
	t.Helper()
	list, err := w.Store().Requests.Approvals(t.Context(), w.Admin, requests.ListQuery{Limit: 50})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, a := range list.Items {
		if a.ToolName == tool && a.Cause == models.CauseFallback {
			n++
			if a.Status() != models.StatusRan || a.DecidedBy != nil {
				t.Errorf("%s is stored as %q, %q, decided by %v", tool, a.Status(), a.Cause, a.DecidedBy)
			}
		}
	}
	if n != 1 {
		t.Errorf("%s is stored %d times, want once", tool, n)
	}
}

func TestAskOnceAnsweredIsNeverReleasedByFallbackI11(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	w.ApplyPolicy(t, fallbackOn)
	env := w.Env(t)
	p := process.Start(t, env, "ask", "deploy", "--timeout", "3s")
	p.Says(t, p.Err, "waiting for a decision at ")
	w.Stop()
	if code := p.Exit(t); code != 2 {
		t.Errorf("exit %d, want 2: %s", code, p.Err)
	}
	if kept := cacheFiles(t, env, "report-"); len(kept) > 0 {
		t.Errorf("it wrote a report: %v", kept)
	}
}

// cacheFiles are the files that `ask` keeps whose names begin with prefix.
func cacheFiles(t *testing.T, env []string, prefix string) []string {
	t.Helper()
	root := strings.TrimPrefix(env[2], "XDG_CACHE_HOME=")
	var found []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasPrefix(d.Name(), prefix) {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v, want 0600", d.Name(), info.Mode().Perm())
		}
		found = append(found, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// confirm rewrites what was kept as if fallback had been confirmed at a time.
func confirm(t *testing.T, env []string, at time.Time) {
	t.Helper()
	files := cacheFiles(t, env, "fallback-")
	if len(files) != 1 {
		t.Fatalf("kept files: %v, want one", files)
	}
	if err := os.WriteFile(files[0], fmt.Appendf(nil, `{"on":true,"at":%q}`, at.Format(time.RFC3339Nano)), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestAskCarriesAPreview, given or from a file; one that can't be sent is refused before
// anything is asked.
func TestAskCarriesAPreview(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	file, long := filepath.Join(t.TempDir(), "plan.diff"), filepath.Join(t.TempDir(), "long")
	if err := os.WriteFile(file, []byte("@@ -1 +1 @@\n-old\n+new\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(long, []byte(strings.Repeat("x", models.MaxPreview+1)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		args []string
		want string
		says string
	}{
		"text":       {args: []string{"--preview", "@@ drops a table"}, want: "@@ drops a table"},
		"a file":     {args: []string{"--preview-file", file}, want: "@@ -1 +1 @@\n-old\n+new\n"},
		"both":       {args: []string{"--preview", "x", "--preview-file", file}, says: "send one of --preview and --preview-file"},
		"too long":   {args: []string{"--preview-file", long}, says: "--preview-file: must have at most 16384 bytes"},
		"no file":    {args: []string{"--preview-file", file + "x"}, says: "--preview-file: "},
		"no UTF-8":   {args: []string{"--preview", "\xff"}, says: "--preview: must be valid UTF-8"},
		"input too":  {args: []string{"--preview-file", "-", "--input", "-"}, says: "standard input is already used for --input"},
		"no preview": {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := process.Start(t, w.Env(t), append([]string{"ask", "deploy"}, tt.args...)...)
			if tt.says != "" {
				if code := p.Exit(t); code != 4 || !strings.Contains(p.Err.String(), tt.says) {
					t.Errorf("exit %d, said %s, want %q", code, p.Err, tt.says)
				}
				return
			}
			url := p.Says(t, p.Err, "waiting for a decision at ")
			id := models.ResponseID(url[strings.LastIndex(url, "/")+1:])
			if got, err := w.Store().Requests.Approval(t.Context(), w.Admin, id); err != nil || got.Preview != tt.want {
				t.Errorf("the request is %+v, %v, want the preview %q", got, err, tt.want)
			}
			w.Respond(t, id, wire.RespondRequest{Approved: new(false), Reason: "no"})
			p.Exit(t)
		})
	}
}
