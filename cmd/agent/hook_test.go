package agent_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"countersign/cmd/process"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/storetest"
)

func TestHookAnswersAsDecided(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	w.ApplyPolicy(t, process.HookPolicy)
	pre := func(answer string) string {
		return `{"hookSpecificOutput":{"hookEventName":"PreToolUse",` + answer + "}}\n"
	}
	request := func(answer string) string {
		return `{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{` + answer + "}}}\n"
	}
	for name, c := range map[string]struct {
		event  string
		decide *wire.RespondRequest
		answer string
	}{
		"approved":             {process.HookEvent("PreToolUse", process.HookCall("Bash", `{"command":"ls"}`, "1")), &wire.RespondRequest{Approved: new(true), Reason: "fine"}, pre(`"permissionDecision":"allow","permissionDecisionReason":"Approved by admin@example.com: fine"`)},
		"edited":               {process.HookEvent("PreToolUse", process.HookCall("Bash", `{"command":"ls"}`, "2")), &wire.RespondRequest{Approved: new(true), Input: []byte(`{"command":"ls -l", "n": 1.50}`)}, pre(`"permissionDecision":"allow","permissionDecisionReason":"Approved by admin@example.com.","updatedInput":{"command":"ls -l","n":1.50}`)},
		"rejected":             {process.HookEvent("PreToolUse", process.HookCall("Bash", `{"command":"ls"}`, "3")), &wire.RespondRequest{Approved: new(false), Reason: "no"}, pre(`"permissionDecision":"deny","permissionDecisionReason":"Rejected by admin@example.com: no\nDo not try the same call again unchanged."`)},
		"a rule allows":        {process.HookEvent("PreToolUse", process.HookCall("Read", `{}`, "4")), nil, pre(`"permissionDecision":"allow","permissionDecisionReason":"Allowed by Countersign: The rule “reading” lets this tool through."`)},
		"a rule denies":        {process.HookEvent("PreToolUse", process.HookCall("Drop", `{}`, "5")), nil, pre(`"permissionDecision":"deny","permissionDecisionReason":"Countersign rejected this call: Never."`)},
		"no rule concerns it":  {process.HookEvent("PreToolUse", process.HookCall("Glob", `{}`, "6")), nil, ""},
		"a question":           {process.HookEvent("PreToolUse", process.HookCall("AskUserQuestion", `{"questions":[]}`, "7")), nil, ""},
		"a permission":         {process.HookEvent("PermissionRequest", `,"tool_name":"Glob","tool_input":{"a":1}`), &wire.RespondRequest{Approved: new(true), Input: []byte(`{"a":2}`)}, request(`"behavior":"allow","updatedInput":{"a":2}`)},
		"a permission refused": {process.HookEvent("PermissionRequest", `,"tool_name":"Grep","tool_input":{"a":1}`), &wire.RespondRequest{Approved: new(false), Reason: "no"}, request(`"behavior":"deny","message":"Rejected by admin@example.com: no\nDo not try the same call again unchanged."`)},
		"result":               {process.HookEvent("PostToolUse", process.HookCall("Read", `{}`, "4")+`,"tool_response":"text"`), nil, ""},
		"stop":                 {process.HookEvent("Stop", `,"last_assistant_message":"Done."`), nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := w.StartHook(t, c.event)
			if c.decide != nil {
				w.Respond(t, w.OnlyPending(t).ID, *c.decide)
			}
			if code := p.Exit(t); code != 0 || p.Out.String() != c.answer || p.Err.String() != "" {
				t.Errorf("exit %d, answer\n%s\nwant\n%s\nit said %q", code, p.Out, c.answer, p.Err)
			}
		})
	}
}

// What cannot be asked does not run, and what cannot be reported stops nobody.
func TestHookFailsClosedI11(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	w.ApplyPolicy(t, process.HookPolicy)
	if code := w.StartHook(t, process.HookEvent("PreToolUse", process.HookCall("Read", `{}`, "once"))).Exit(t); code != 0 {
		t.Fatalf("exit %d", code)
	}
	answers := func(status int, body string) []string {
		s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			rw.WriteHeader(status)
			_, _ = rw.Write([]byte(body))
		}))
		t.Cleanup(s.Close)
		return []string{"COUNTERSIGN_SERVER=" + s.URL, "COUNTERSIGN_TOKEN=x"}
	}
	short := []string{"--connect-timeout", "1s"}
	read := process.HookCall("Read", `{}`, "9")
	for name, c := range map[string]struct {
		env  []string
		args []string
		more string
		says string
	}{
		"no server":                {[]string{"COUNTERSIGN_SERVER=http://" + storetest.ClosedPort(t), "COUNTERSIGN_TOKEN=x"}, short, read, "no server answered"},
		"no token":                 {nil, nil, read, "countersign connect claude-code"},
		"a token that is not one":  {[]string{"COUNTERSIGN_SERVER=http://" + w.Addr, "COUNTERSIGN_TOKEN=x"}, nil, read, "bearer token"},
		"a reviewer's token":       {[]string{"COUNTERSIGN_SERVER=http://" + w.Addr, "COUNTERSIGN_TOKEN=" + w.Reviewer}, nil, read, "Only an agent's token"},
		"another server says {}":   {answers(200, `{}`), nil, read, "is not Countersign"},
		"another moment's answer":  {answers(200, `{"answer":{"hookSpecificOutput":{"hookEventName":"Stop"}}}`), nil, read, "is not Countersign"},
		"an unknown decision":      {answers(200, `{"answer":{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"sure"}}}`), nil, read, "is not Countersign"},
		"a proxy without a server": {answers(502, `bad gateway`), short, read, "502"},
		"an unknown flag":          {w.HookEnv(), []string{"--nonsense"}, read, "nonsense"},
		"an argument":              {w.HookEnv(), []string{"claude-code"}, read, "no arguments"},
		"too short a timeout":      {w.HookEnv(), []string{"--timeout", "15s"}, read, "--timeout"},
		"a file that is not there": {w.HookEnv(), []string{"--credentials", "/nonexistent"}, read, "/nonexistent"},
		"another input":            {w.HookEnv(), nil, process.HookCall("Read", `{"other":1}`, "once"), "nothing was changed"},
		"no id of the call":        {w.HookEnv(), nil, `,"tool_name":"Read","tool_input":{}`, "tool_use_id"},
		"a member twice":           {w.HookEnv(), nil, read + `,"tool_name":"Bash"`, "each member once"},
		"too large an input":       {w.HookEnv(), nil, process.HookCall("Read", `{"a":"`+strings.Repeat("x", models.MaxInput)+`"}`, "9"), "tool_input"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, said, code := process.Start(t, c.env, append([]string{"hook"}, c.args...)...).Give(t, process.HookEvent("PreToolUse", c.more))
			if code != 2 || out != "" || !strings.Contains(said, c.says) || !strings.Contains(said, "this call must not run") {
				t.Errorf("exit %d, printed %q, said %q, want 2 and %q", code, out, said, c.says)
			}
			if out, said, code := process.Start(t, c.env, append([]string{"hook"}, c.args...)...).Give(t, process.HookEvent("Stop", c.more)); code != 0 || out != "" {
				t.Errorf("Stop: exit %d, printed %q, said %q", code, out, said)
			}
		})
	}
	for stdin, code := range map[string]int{"": 2, "{": 2, "[]": 2, `{"tool_name":"Read"}`: 2, process.HookEvent("SessionStart", ""): 2, process.HookEvent("Stop", "") + "x": 0} {
		if _, said, got := process.Start(t, w.HookEnv(), "hook").Give(t, stdin); got != code {
			t.Errorf("%q: exit %d, want %d; it said %q", stdin, got, code, said)
		}
	}
	if page, err := w.Store().Stats(t.Context(), w.Admin); err != nil || page.Pending != 0 {
		t.Errorf("%d requests wait (%v)", page.Pending, err)
	}
}

// The server is away while the hook waits, and the hook's request is the same one.
func TestHookWaitsThroughARestartI8I9(t *testing.T) {
	t.Parallel()
	for name, event := range map[string]string{
		"before a call": process.HookEvent("PreToolUse", process.HookCall("Bash", `{"command":"ls"}`, "1")),
		"a permission":  process.HookEvent("PermissionRequest", `,"tool_name":"Bash","tool_input":{"command":"ls"}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := process.NewWorld(t)
			w.ApplyPolicy(t, process.HookPolicy)
			p := w.StartHook(t, event)
			asked := w.OnlyPending(t).ID
			w.Restart(t)
			if again := w.OnlyPending(t).ID; again != asked {
				t.Fatalf("request %s, want %s", again, asked)
			}
			process.Eventually(t, "the hook waits again", func() bool { return w.Store().Waiters() == 1 })
			w.Respond(t, asked, wire.RespondRequest{Approved: new(true)})
			if code := p.Exit(t); code != 0 || !strings.Contains(p.Out.String(), `"allow"`) {
				t.Errorf("exit %d, %s%s", code, p.Out, p.Err)
			}
		})
	}
}

// The server goes away while the hook waits and does not come back: the call does not run.
// The request is still there for whoever starts the server again, with nobody waiting.
func TestHookDeniesWhenTheServerStaysAwayI11(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for ten seconds")
	}
	w := process.NewWorld(t)
	w.ApplyPolicy(t, process.HookPolicy)
	p := w.StartHook(t, process.HookEvent("PreToolUse", process.HookCall("Bash", `{"command":"ls"}`, "1")), "--timeout", "20s")
	asked := w.OnlyPending(t).ID
	w.Stop()
	if code := p.Exit(t); code != 2 || p.Out.String() != "" || !strings.Contains(p.Err.String(), "nobody decided before this hook") {
		t.Errorf("exit %d, %s%s", code, p.Out, p.Err)
	}
	w.Restart(t)
	if again := w.OnlyPending(t).ID; again != asked || storetest.PresenceOf(t, w.Store(), again).Waiting {
		t.Errorf("request %s, want %s and nobody waiting", again, asked)
	}
}

// Ten seconds before its own timeout the hook says no, and its request ends with it.
func TestHookDeniesBeforeItsTimeout(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for ten seconds")
	}
	w := process.NewWorld(t)
	w.ApplyPolicy(t, process.HookPolicy)
	begun := time.Now()
	p := w.StartHook(t, process.HookEvent("PreToolUse", process.HookCall("Bash", `{"command":"ls"}`, "1")), "--timeout", "21s")
	asked := w.OnlyPending(t).ID
	code, took := p.Exit(t), time.Since(begun)
	if code != 2 || took < 10*time.Second || took > 21*time.Second || !strings.Contains(p.Err.String(), "nobody decided before this hook") {
		t.Errorf("exit %d after %v: %s", code, took, p.Err)
	}
	w.WantStatus(t, asked, models.StatusCancelled)
}

// An agent that ends its hook, for its person pressed a key or for it took too long, will
// not run the call any more.
func TestHookWithdrawsWhenItIsEnded(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	w.ApplyPolicy(t, process.HookPolicy)
	p := w.StartHook(t, process.HookEvent("PreToolUse", process.HookCall("Bash", `{"command":"ls"}`, "1")))
	asked := w.OnlyPending(t).ID
	process.Eventually(t, "the hook waits", func() bool { return w.Store().Waiters() == 1 })
	p.Signal(t, syscall.SIGTERM)
	if code := p.Exit(t); code != 2 || p.Out.String() != "" {
		t.Errorf("exit %d, %s%s", code, p.Out, p.Err)
	}
	w.WantStatus(t, asked, models.StatusCancelled)
}

// A result that is too large for a request is cut, with its length.
func TestHookCutsALargeResult(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	w.ApplyPolicy(t, process.HookPolicy)
	large := strings.Repeat("ä", 1<<20)
	for _, e := range []string{process.HookEvent("PreToolUse", process.HookCall("Read", `{}`, "1")), process.HookEvent("PostToolUse", process.HookCall("Read", `{}`, "1")+`,"tool_response":{"file":"`+large+`"}`)} {
		if code := w.StartHook(t, e).Exit(t); code != 0 {
			t.Fatalf("exit %d", code)
		}
	}
	done, err := w.Store().FindInvocation(t.Context(), w.Admin, "1", "")
	if err != nil || !done.IsCompleted {
		t.Fatalf("the call has no result (%v)", err)
	}
	got := storetest.Scalar[int64](t, w.Store(), `SELECT result_bytes FROM responses WHERE id = ?`, string(done.ID))
	if want := int64(len(`{"file":""}`) + len(large)); got != want {
		t.Errorf("its length is %d, want %d", got, want)
	}
}

// A token goes to no other server than its own, and no file of it may be open to others.
func TestHookKeepsItsTokenToItsServer(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	w.ApplyPolicy(t, process.HookPolicy)
	file := func(mode os.FileMode, server, token string) string {
		raw, err := json.Marshal(map[string]string{"server": server, "token": token})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "claude-code.json")
		if err := os.WriteFile(path, raw, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	evil := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the token was sent elsewhere: %s", r.Header.Get("Authorization"))
	}))
	t.Cleanup(evil.Close)
	own := "http://" + w.Addr
	for name, c := range map[string]struct {
		env  []string
		args []string
		code int
	}{
		"its own":                  {nil, []string{"--credentials", file(0o600, own, w.Agent)}, 0},
		"the environment is not":   {[]string{"COUNTERSIGN_SERVER=" + evil.URL, "COUNTERSIGN_TOKEN=x"}, []string{"--credentials", file(0o600, own, w.Agent)}, 0},
		"a flag names another":     {nil, []string{"--server", evil.URL, "--credentials", file(0o600, own, w.Agent)}, 2},
		"others may read the file": {nil, []string{"--credentials", file(0o640, own, w.Agent)}, 2},
		"no address":               {nil, []string{"--credentials", file(0o600, "nowhere", w.Agent)}, 2},
		"no token":                 {nil, []string{"--credentials", file(0o600, own, "")}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, said, code := process.Start(t, c.env, append([]string{"hook"}, c.args...)...).Give(t, process.HookEvent("PreToolUse", process.HookCall("Read", `{}`, fmt.Sprint(name)))); code != c.code {
				t.Errorf("exit %d, want %d: %s", code, c.code, said)
			}
		})
	}
}
