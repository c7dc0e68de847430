package cmd_test

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

	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/storetest"
)

// event is what a coding agent hands to its hook.
func hookEvent(moment, more string) string {
	return `{"session_id":"s1","cwd":"/srv/app","permission_mode":"default","effort":{"level":"high"},"hook_event_name":"` + moment + `"` + more + `}`
}

func hookCall(tool, input, id string) string {
	return `,"tool_name":"` + tool + `","tool_input":` + input + `,"tool_use_id":"` + id + `"`
}

// hookEnv is what the hook's environment names.
func (w *world) hookEnv() []string {
	return []string{"COUNTERSIGN_SERVER=http://" + w.addr, "COUNTERSIGN_TOKEN=" + w.agent}
}

// startHook starts the hook and hands it an event.
func (w *world) startHook(t *testing.T, event string, args ...string) *process {
	t.Helper()
	p := start(t, w.hookEnv(), append([]string{"hook"}, args...)...)
	if _, err := p.in.Write([]byte(event)); err != nil {
		t.Fatal(err)
	}
	if err := p.in.Close(); err != nil {
		t.Fatal(err)
	}
	return p
}

const hookPolicy = `{"unmatched":"allow","required_approval_tools":["Bash"],"rules":[
 {"name":"reading","tools":["Read"],"effect":"allow"},{"name":"no drops","tools":["Drop"],"effect":"deny","reason":"Never."}]}`

func TestHookAnswersAsDecided(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(t, hookPolicy)
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
		"approved":             {hookEvent("PreToolUse", hookCall("Bash", `{"command":"ls"}`, "1")), &wire.RespondRequest{Approved: new(true), Reason: "fine"}, pre(`"permissionDecision":"allow","permissionDecisionReason":"Approved by admin@example.com: fine"`)},
		"edited":               {hookEvent("PreToolUse", hookCall("Bash", `{"command":"ls"}`, "2")), &wire.RespondRequest{Approved: new(true), Input: []byte(`{"command":"ls -l", "n": 1.50}`)}, pre(`"permissionDecision":"allow","permissionDecisionReason":"Approved by admin@example.com.","updatedInput":{"command":"ls -l","n":1.50}`)},
		"rejected":             {hookEvent("PreToolUse", hookCall("Bash", `{"command":"ls"}`, "3")), &wire.RespondRequest{Approved: new(false), Reason: "no"}, pre(`"permissionDecision":"deny","permissionDecisionReason":"Rejected by admin@example.com: no\nDo not try the same call again unchanged."`)},
		"a rule allows":        {hookEvent("PreToolUse", hookCall("Read", `{}`, "4")), nil, pre(`"permissionDecision":"allow","permissionDecisionReason":"Allowed by Countersign: The rule “reading” lets this tool through."`)},
		"a rule denies":        {hookEvent("PreToolUse", hookCall("Drop", `{}`, "5")), nil, pre(`"permissionDecision":"deny","permissionDecisionReason":"Countersign rejected this call: Never."`)},
		"no rule concerns it":  {hookEvent("PreToolUse", hookCall("Glob", `{}`, "6")), nil, ""},
		"a question":           {hookEvent("PreToolUse", hookCall("AskUserQuestion", `{"questions":[]}`, "7")), nil, ""},
		"a permission":         {hookEvent("PermissionRequest", `,"tool_name":"Glob","tool_input":{"a":1}`), &wire.RespondRequest{Approved: new(true), Input: []byte(`{"a":2}`)}, request(`"behavior":"allow","updatedInput":{"a":2}`)},
		"a permission refused": {hookEvent("PermissionRequest", `,"tool_name":"Grep","tool_input":{"a":1}`), &wire.RespondRequest{Approved: new(false), Reason: "no"}, request(`"behavior":"deny","message":"Rejected by admin@example.com: no\nDo not try the same call again unchanged."`)},
		"result":               {hookEvent("PostToolUse", hookCall("Read", `{}`, "4")+`,"tool_response":"text"`), nil, ""},
		"stop":                 {hookEvent("Stop", `,"last_assistant_message":"Done."`), nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := w.startHook(t, c.event)
			if c.decide != nil {
				w.respond(t, w.onlyPending(t).ID, *c.decide)
			}
			if code := p.exit(t); code != 0 || p.out.String() != c.answer || p.err.String() != "" {
				t.Errorf("exit %d, answer\n%s\nwant\n%s\nit said %q", code, p.out, c.answer, p.err)
			}
		})
	}
}

// What cannot be asked does not run, and what cannot be reported stops nobody.
func TestHookFailsClosedI11(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(t, hookPolicy)
	if code := w.startHook(t, hookEvent("PreToolUse", hookCall("Read", `{}`, "once"))).exit(t); code != 0 {
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
	read := hookCall("Read", `{}`, "9")
	for name, c := range map[string]struct {
		env  []string
		args []string
		more string
		says string
	}{
		"no server":                {[]string{"COUNTERSIGN_SERVER=http://" + storetest.ClosedPort(t), "COUNTERSIGN_TOKEN=x"}, short, read, "no server answered"},
		"no token":                 {nil, nil, read, "countersign connect claude-code"},
		"a token that is not one":  {[]string{"COUNTERSIGN_SERVER=http://" + w.addr, "COUNTERSIGN_TOKEN=x"}, nil, read, "bearer token"},
		"a reviewer's token":       {[]string{"COUNTERSIGN_SERVER=http://" + w.addr, "COUNTERSIGN_TOKEN=" + w.reviewer}, nil, read, "Only an agent's token"},
		"another server says {}":   {answers(200, `{}`), nil, read, "is not Countersign"},
		"another moment's answer":  {answers(200, `{"answer":{"hookSpecificOutput":{"hookEventName":"Stop"}}}`), nil, read, "is not Countersign"},
		"an unknown decision":      {answers(200, `{"answer":{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"sure"}}}`), nil, read, "is not Countersign"},
		"a proxy without a server": {answers(502, `bad gateway`), short, read, "502"},
		"an unknown flag":          {w.hookEnv(), []string{"--nonsense"}, read, "nonsense"},
		"an argument":              {w.hookEnv(), []string{"claude-code"}, read, "no arguments"},
		"too short a timeout":      {w.hookEnv(), []string{"--timeout", "15s"}, read, "--timeout"},
		"a file that is not there": {w.hookEnv(), []string{"--credentials", "/nonexistent"}, read, "/nonexistent"},
		"another input":            {w.hookEnv(), nil, hookCall("Read", `{"other":1}`, "once"), "nothing was changed"},
		"no id of the call":        {w.hookEnv(), nil, `,"tool_name":"Read","tool_input":{}`, "tool_use_id"},
		"a member twice":           {w.hookEnv(), nil, read + `,"tool_name":"Bash"`, "each member once"},
		"too large an input":       {w.hookEnv(), nil, hookCall("Read", `{"a":"`+strings.Repeat("x", models.MaxInput)+`"}`, "9"), "tool_input"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, said, code := start(t, c.env, append([]string{"hook"}, c.args...)...).give(t, hookEvent("PreToolUse", c.more))
			if code != 2 || out != "" || !strings.Contains(said, c.says) || !strings.Contains(said, "this call must not run") {
				t.Errorf("exit %d, printed %q, said %q, want 2 and %q", code, out, said, c.says)
			}
			if out, said, code := start(t, c.env, append([]string{"hook"}, c.args...)...).give(t, hookEvent("Stop", c.more)); code != 0 || out != "" {
				t.Errorf("Stop: exit %d, printed %q, said %q", code, out, said)
			}
		})
	}
	for stdin, code := range map[string]int{"": 2, "{": 2, "[]": 2, `{"tool_name":"Read"}`: 2, hookEvent("SessionStart", ""): 2, hookEvent("Stop", "") + "x": 0} {
		if _, said, got := start(t, w.hookEnv(), "hook").give(t, stdin); got != code {
			t.Errorf("%q: exit %d, want %d; it said %q", stdin, got, code, said)
		}
	}
	if page, err := w.Store().Stats(t.Context(), w.admin); err != nil || page.Pending != 0 {
		t.Errorf("%d requests wait (%v)", page.Pending, err)
	}
}

// The server is away while the hook waits, and the hook's request is the same one.
func TestHookWaitsThroughARestartI8I9(t *testing.T) {
	t.Parallel()
	for name, event := range map[string]string{
		"before a call": hookEvent("PreToolUse", hookCall("Bash", `{"command":"ls"}`, "1")),
		"a permission":  hookEvent("PermissionRequest", `,"tool_name":"Bash","tool_input":{"command":"ls"}`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.applyPolicy(t, hookPolicy)
			p := w.startHook(t, event)
			asked := w.onlyPending(t).ID
			w.restart(t)
			if again := w.onlyPending(t).ID; again != asked {
				t.Fatalf("request %s, want %s", again, asked)
			}
			eventually(t, "the hook waits again", func() bool { return w.Store().Waiters() == 1 })
			w.respond(t, asked, wire.RespondRequest{Approved: new(true)})
			if code := p.exit(t); code != 0 || !strings.Contains(p.out.String(), `"allow"`) {
				t.Errorf("exit %d, %s%s", code, p.out, p.err)
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
	w := newWorld(t)
	w.applyPolicy(t, hookPolicy)
	p := w.startHook(t, hookEvent("PreToolUse", hookCall("Bash", `{"command":"ls"}`, "1")), "--timeout", "20s")
	asked := w.onlyPending(t).ID
	w.stop()
	if code := p.exit(t); code != 2 || p.out.String() != "" || !strings.Contains(p.err.String(), "nobody decided before this hook") {
		t.Errorf("exit %d, %s%s", code, p.out, p.err)
	}
	w.restart(t)
	if again := w.onlyPending(t).ID; again != asked || w.Store().Presence(again).Waiting {
		t.Errorf("request %s, want %s and nobody waiting", again, asked)
	}
}

// Ten seconds before its own timeout the hook says no, and its request ends with it.
func TestHookDeniesBeforeItsTimeout(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for ten seconds")
	}
	w := newWorld(t)
	w.applyPolicy(t, hookPolicy)
	begun := time.Now()
	p := w.startHook(t, hookEvent("PreToolUse", hookCall("Bash", `{"command":"ls"}`, "1")), "--timeout", "21s")
	asked := w.onlyPending(t).ID
	code, took := p.exit(t), time.Since(begun)
	if code != 2 || took < 10*time.Second || took > 21*time.Second || !strings.Contains(p.err.String(), "nobody decided before this hook") {
		t.Errorf("exit %d after %v: %s", code, took, p.err)
	}
	w.wantStatus(t, asked, models.StatusCancelled)
}

// An agent that ends its hook, for its person pressed a key or for it took too long, will
// not run the call any more.
func TestHookWithdrawsWhenItIsEnded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(t, hookPolicy)
	p := w.startHook(t, hookEvent("PreToolUse", hookCall("Bash", `{"command":"ls"}`, "1")))
	asked := w.onlyPending(t).ID
	eventually(t, "the hook waits", func() bool { return w.Store().Waiters() == 1 })
	p.signal(t, syscall.SIGTERM)
	if code := p.exit(t); code != 2 || p.out.String() != "" {
		t.Errorf("exit %d, %s%s", code, p.out, p.err)
	}
	w.wantStatus(t, asked, models.StatusCancelled)
}

func (w *world) wantStatus(t *testing.T, id models.ResponseID, want models.Status) {
	t.Helper()
	row, err := w.Store().Approval(t.Context(), w.admin, id)
	if err != nil {
		t.Fatal(err)
	}
	if row.Status() != want {
		t.Errorf("the request is %s, want %s", row.Status(), want)
	}
}

// A result that is too large for a request is cut, with its length.
func TestHookCutsALargeResult(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.applyPolicy(t, hookPolicy)
	large := strings.Repeat("ä", 1<<20)
	for _, e := range []string{hookEvent("PreToolUse", hookCall("Read", `{}`, "1")), hookEvent("PostToolUse", hookCall("Read", `{}`, "1")+`,"tool_response":{"file":"`+large+`"}`)} {
		if code := w.startHook(t, e).exit(t); code != 0 {
			t.Fatalf("exit %d", code)
		}
	}
	done, err := w.Store().FindInvocation(t.Context(), w.admin, "1", "")
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
	w := newWorld(t)
	w.applyPolicy(t, hookPolicy)
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
	own := "http://" + w.addr
	for name, c := range map[string]struct {
		env  []string
		args []string
		code int
	}{
		"its own":                  {nil, []string{"--credentials", file(0o600, own, w.agent)}, 0},
		"the environment is not":   {[]string{"COUNTERSIGN_SERVER=" + evil.URL, "COUNTERSIGN_TOKEN=x"}, []string{"--credentials", file(0o600, own, w.agent)}, 0},
		"a flag names another":     {nil, []string{"--server", evil.URL, "--credentials", file(0o600, own, w.agent)}, 2},
		"others may read the file": {nil, []string{"--credentials", file(0o640, own, w.agent)}, 2},
		"no address":               {nil, []string{"--credentials", file(0o600, "nowhere", w.agent)}, 2},
		"no token":                 {nil, []string{"--credentials", file(0o600, own, "")}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, said, code := start(t, c.env, append([]string{"hook"}, c.args...)...).give(t, hookEvent("PreToolUse", hookCall("Read", `{}`, fmt.Sprint(name)))); code != c.code {
				t.Errorf("exit %d, want %d: %s", code, c.code, said)
			}
		})
	}
}
