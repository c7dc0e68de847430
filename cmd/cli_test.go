package cmd_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"countersign/cmd/process"
	"countersign/handlers/api/wire"
	"countersign/models"
	"countersign/models/storetest"
)

func TestConfigTellsAllThatIsWrongAtOnce(t *testing.T) {
	t.Parallel()
	_, said, code := process.RunWith(t, []string{"COUNTERSIGN_LOG_LEVEL=loud", "COUNTERSIGN_LIMIT_STREAMS_PER_USER=many", "COUNTERSIGN_ADDR=flag wins", "COUNTERSIGN_ACCESS_LOG=perhaps"}, "",
		"serve", "--addr", "nowhere", "--public-url", "https://me:secret@example.com", "--limit-asks-per-minute", "-1", "--log-format", "xml", "--data", "")
	if code != 1 {
		t.Errorf("exit %d, want 1", code)
	}
	for _, want := range []string{
		"--addr: ", "--public-url: ", "--limit-asks-per-minute: ", "--log-format: ", "--data: ",
		"COUNTERSIGN_LOG_LEVEL: ", "COUNTERSIGN_LIMIT_STREAMS_PER_USER: ", "COUNTERSIGN_ACCESS_LOG: ",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("nothing about %s in:\n%s", want, said)
		}
	}
	if strings.Contains(said, "secret") {
		t.Errorf("the password is repeated:\n%s", said)
	}
}

func TestCommandLineOnAFreshFolder(t *testing.T) {
	t.Parallel()
	data := "--data=" + filepath.Join(t.TempDir(), "new")
	process.Must(t, "", "migrate", data)
	process.Must(t, "correct horse battery\n", "user", "add", "Ada@Example.com", "--name", "Ada\u202e", "--role", "admin", "--password-stdin", data)
	if out := process.Must(t, "", "user", "list", data); !strings.Contains(out, "ada@example.com") || !strings.Contains(out, "Ada⟨U+202E⟩") {
		t.Errorf("user list:\n%s", out)
	}
	token := process.Must(t, "", "token", "add", "bot", "--user", "ada@example.com", "--expires", "90d", data)
	if strings.Count(token, "\n") != 1 || !strings.HasPrefix(token, "cs_agent_") {
		t.Errorf("token add printed %q, want the token alone", token)
	}
	process.Must(t, "", "token", "add", "bot", "--user", "ada@example.com", data)
	var tokens []struct {
		ID        string     `json:"id"`
		RevokedAt *time.Time `json:"revokedAt"`
		ExpiresAt *time.Time `json:"expiresAt"`
	}
	if err := json.Unmarshal([]byte(process.Must(t, "", "token", "list", "--json", data)), &tokens); err != nil {
		t.Fatal(err)
	}
	if len(tokens) != 2 || tokens[0].RevokedAt != nil || tokens[1].RevokedAt == nil || tokens[1].ExpiresAt == nil {
		t.Errorf("a second token of an agent must rotate: %+v", tokens)
	}
	process.Must(t, "next correct horse\n", "user", "password", "ada@example.com", "--password-stdin", data)

	doc := process.Must(t, "", "policy", "show", data)
	if out := process.Must(t, doc, "policy", "apply", "-", data); !strings.Contains(out, "version 1 already says the same") {
		t.Errorf("the document that stands: %s", out)
	}
	if out := process.Must(t, `{"unmatched": "require"}`, "policy", "apply", "-", data); !strings.Contains(out, "version 2 is active") || !strings.Contains(out, "unmatched") {
		t.Errorf("another document: %s", out)
	}
	if out := process.Must(t, `{"rules": [{"name": "a", "tools": ["/.*/"], "effect": "allow"}]}`, "policy", "check", "-", data); !strings.Contains(out, "lets every tool run without a person. List the names instead.") {
		t.Errorf("a document that lets everything through: %s", out)
	}
	settings := `{"permissions": {"allow": ["Bash(npm test:*)", "Bash(git * main)"], "deny": ["Read(.env)"]}}`
	rules, said, code := process.Run(t, settings, "policy", "import", "claude-settings", "-")
	if code != 0 || !strings.Contains(said, "allow: Bash(git * main) has no equal and is left out") {
		t.Errorf("exit %d, said %q", code, said)
	}
	if out := process.Must(t, rules, "policy", "check", "-", data); !strings.Contains(out, "the document is valid") {
		t.Errorf("the rules of settings: %q", out)
	}
	if out := process.Must(t, `{}`, "policy", "check", "-", data); !strings.Contains(out, "the document is valid") {
		t.Errorf("a document that says nothing: %s", out)
	}
	if out, said, code := process.Run(t, `{"rules": [{"name": "a", "tools": ["x"], "effect": "require", "when": "x >"}]}`, "policy", "check", "-", data); code != 1 || out != "" || !strings.Contains(said, "rules[0].when") {
		t.Errorf("a document that is wrong: exit %d, %q, %q", code, said, out)
	}
	process.Must(t, `{"policy_approvals": 2}`, "policy", "apply", "-", data)
	if out, said, code := process.Run(t, `{"unmatched": "allow"}`, "policy", "apply", "-", data); code != 1 || out != "" || !strings.Contains(said, "takes 2 admins") {
		t.Errorf("a change that takes two admins: exit %d, %q, %q", code, said, out)
	}
	if _, said, code := process.Run(t, `{"unmatched": "allow"}`, "policy", "apply", "-", "--alone", "now", data); code != 1 || !strings.Contains(said, "20 letters") {
		t.Errorf("alone, without a reason: exit %d, %q", code, said)
	}
	if out := process.Must(t, `{"policy_approvals": 0}`, "policy", "apply", "-", "--alone", "Both admins have left the company.", data); !strings.Contains(out, "version 4 is active") {
		t.Errorf("alone: %s", out)
	}
	process.Must(t, "correct horse battery\n", "user", "add", "eve@example.com", "--name", "Eve", "--role", "auditor", "--password-stdin", data)
	if out := process.Must(t, "", "user", "role", "eve@example.com", "policy_editor", data); !strings.Contains(out, "eve@example.com is policy_editor now") {
		t.Errorf("another role: %s", out)
	}
	for _, refused := range [][]string{
		{"user", "role", "eve@example.com", "owner", data},
		{"user", "role", "ada@example.com", "auditor", data},
		{"policy", "apply", "/nonexistent", data},
		{"user", "add", "ada@example.com", "--name", "Twice", "--password-stdin", data},
		{"user", "disable", "ada@example.com", data},
		{"user", "disable", "nobody@example.com", data},
		{"token", "add", "bot", data},
		{"token", "add", "bot", "--user", "ada@example.com", "--expires", "soon", data},
		{"token", "revoke", "everything", data},
		{"setup-link", data},
	} {
		if out, said, code := process.Run(t, "correct horse battery\n", refused...); code != 1 || said == "" || out != "" {
			t.Errorf("%v: exit %d, said %q, printed %q; want a refusal", refused, code, said, out)
		}
	}
	process.Must(t, "", "audit", "verify", data)
}

// The policy of a server elsewhere is shown, checked and changed with an admin's token.
func TestThePolicyOfAServerIsChangedByCommand(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	env := []string{"COUNTERSIGN_TOKEN=" + strings.TrimSpace(process.Must(t, "", "token", "add", "ops", "--user", storetest.AdminEmail, "--scope", "admin", "--data="+w.Dir))}
	at := "--server=" + "http://" + w.Addr
	works := func(stdin string, args ...string) string {
		t.Helper()
		out, said, code := process.RunWith(t, env, stdin, args...)
		if code != 0 {
			t.Fatalf("%v: exit %d: %s", args, code, said)
		}
		return out
	}
	if doc := works("", "policy", "show", at); !strings.Contains(doc, "\n  \"unmatched\": ") {
		t.Errorf("%s", doc)
	}
	const doc = `{"rules": [{"name": "a", "tools": ["/.*/"], "effect": "allow"}]}`
	if out := works(doc, "policy", "check", "-", at); !strings.Contains(out, "lets every tool run without a person. List the names instead.") {
		t.Errorf("%s", out)
	}
	if out := works(doc, "policy", "apply", "-", at, "--note", "x"); !strings.Contains(out, "version 2 is active") || !strings.Contains(out, `rules["a"]`) {
		t.Errorf("%s", out)
	}
	if out := works(doc, "policy", "apply", "-", at, "--note", "x"); !strings.Contains(out, "version 2 already says the same") {
		t.Errorf("%s", out)
	}
	for _, wrong := range [][]string{
		{"policy", "show", at, "--data=" + w.Dir}, {"policy", "apply", "-", at}, {"policy", "show", "--server", "nowhere"},
	} {
		if out, said, code := process.RunWith(t, env, `{"unmatched": "require"}`, wrong...); code != 1 || said == "" || out != "" {
			t.Errorf("%v: exit %d, said %q, printed %q; want a refusal", wrong, code, said, out)
		}
	}
	if out, said, code := process.RunWith(t, env, `{"rules": [{"name": "a", "tools": ["/(/"], "effect": "deny"}]}`, "policy", "check", "-", at); code != 1 || out != "" || !strings.Contains(said, "rules[0].tools[0]") {
		t.Errorf("exit %d, %q, %q", code, out, said)
	}
}

// A stop by command holds for a server that runs, at once, and so does its end.
func TestAgentsAreStoppedByCommand(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	data := "--data=" + w.Dir
	token := strings.TrimSpace(process.Must(t, "", "token", "add", "helper", "--user", storetest.AdminEmail, data))
	ask := func(id string) *wire.Approval {
		t.Helper()
		got, err := w.Client(token).Ask(t.Context(), wire.AskRequest{ToolUseID: id, ToolName: "deploy"}, 0)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := ask("call-1"); got.Status != wire.StatusPending {
		t.Fatalf("it is %s", got.Status)
	}
	for _, wrong := range [][]string{
		{"stop", data, "--note", "x"},
		{"stop", data, "--all", "--agent", "helper", "--note", "x"},
		{"stop", data, "--agent", "helper", "--note", "x"},
		{"stop", data, "--agent", "nobody", "--user", storetest.AdminEmail, "--note", "x"},
		{"stop", data, "--all"},
		{"stop", "lift", "nothing", data, "--note", "x"},
	} {
		if out, said, code := process.Run(t, "", wrong...); code != 1 || said == "" || out != "" {
			t.Errorf("%v: exit %d, said %q, printed %q; want a refusal", wrong, code, said, out)
		}
	}
	out := process.Must(t, "", "stop", data, "--agent", "helper", "--user", storetest.AdminEmail, "--note", "It deletes things")
	if !strings.Contains(out, "stopped helper, 1 requests cancelled") {
		t.Errorf("%s", out)
	}
	if got := ask("call-2"); got.Status != wire.StatusRejected || got.Cause != wire.Cause(models.CauseStopped) {
		t.Errorf("a stopped agent gets %+v", got)
	}
	list := strings.Fields(process.Must(t, "", "stop", "list", data))
	if len(list) < 6 || !slices.Contains(list, "helper") {
		t.Fatalf("%v", list)
	}
	process.Must(t, "", "stop", "lift", list[5], data, "--note", "mended")
	if got := ask("call-3"); got.Status != wire.StatusPending {
		t.Errorf("after the stop was lifted it is %s by %s", got.Status, got.Cause)
	}
}

// A group is made and filled beside a server that is running, which then asks its members.
func TestGroupsAreKeptByCommand(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	data := "--data=" + w.Dir
	process.Must(t, "correct horse battery\n", "user", "add", "bo@example.com", "--name", "Bo", "--password-stdin", data)
	process.Must(t, "", "group", "add", "finance", "--note", "Pays.", data)
	process.Must(t, `{"rules": [{"name": "payments", "tools": ["pay"], "effect": "require", "reviewers": ["group:finance"], "reviewers_only": true}]}`, "policy", "check", "-", data)
	process.Must(t, "", "group", "join", "finance", "Bo@example.com", data)
	process.Must(t, `{"rules": [{"name": "payments", "tools": ["pay"], "effect": "require", "reviewers": ["group:finance"], "reviewers_only": true}]}`, "policy", "apply", "-", data)
	got, err := w.Client(w.Agent).Ask(t.Context(), wire.AskRequest{ToolUseID: "call-1", ToolName: "pay"}, 0)
	if err != nil || got.Status != wire.StatusPending {
		t.Fatalf("%+v, %v", got, err)
	}
	reviewer := strings.TrimSpace(process.Must(t, "", "token", "add", "bo", "--user", "bo@example.com", "--scope", "reviewer", data))
	seen, err := w.Client(reviewer).Get(t.Context(), got.ApprovalID, 0)
	if err != nil || !slices.Equal(seen.Policy.Approvers, []string{"group:finance"}) {
		t.Errorf("a member reads %+v, %v", seen, err)
	}
	if out := process.Must(t, "", "group", "list", data); !strings.Contains(out, "finance") || !strings.Contains(out, "Pays.") {
		t.Errorf("the list: %s", out)
	}
	if out := process.Must(t, "", "group", "list", "--json", data); !strings.Contains(out, `"members": 1`) {
		t.Errorf("the list as JSON: %s", out)
	}
	if out := process.Must(t, "", "group", "members", "finance", data); !strings.Contains(out, "bo@example.com") {
		t.Errorf("the members: %s", out)
	}
	for _, refused := range [][]string{
		{"group", "add", "finance", data},
		{"group", "add", "Finance", data},
		{"group", "join", "finance", "nobody@example.com", data},
		{"group", "join", "board", "bo@example.com", data},
		{"group", "leave", "finance", storetest.AdminEmail, data},
		{"group", "remove", "finance", data},
		{"group", "members", "board", data},
	} {
		if out, said, code := process.Run(t, "", refused...); code != 1 || said == "" || out != "" {
			t.Errorf("%v: exit %d, said %q, printed %q; want a refusal", refused, code, said, out)
		}
	}
	process.Must(t, "", "group", "leave", "finance", "bo@example.com", data)
	if _, err := w.Client(reviewer).Get(t.Context(), got.ApprovalID, 0); err == nil {
		t.Error("who left still sees the request")
	}
	process.Must(t, `{}`, "policy", "apply", "-", "--replace", data)
	process.Must(t, "", "group", "remove", "finance", data)
}

func TestCommandLineAndServerNoticeEachOther(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	data := "--data=" + w.Dir

	token := strings.TrimSpace(process.Must(t, "", "token", "add", "helper", "--user", storetest.AdminEmail, data))
	ended := make(chan error, 1)
	go func() {
		_, err := w.Client(token).Ask(t.Context(), wire.AskRequest{ToolUseID: "call-1", ToolName: "deploy"}, 50*time.Second)
		ended <- err
	}()
	process.Eventually(t, "the agent waits", func() bool { return w.Store().Waiters() == 1 })

	process.Must(t, `{"rules": [{"name": "none", "tools": ["deploy"], "effect": "deny"}]}`, "policy", "apply", "-", data)
	got, err := w.Client(w.Agent).Ask(t.Context(), wire.AskRequest{ToolUseID: "call-2", ToolName: "deploy"}, 0)
	if err != nil || got.Status != wire.StatusRejected || got.Cause != wire.Cause(models.CausePolicy) {
		t.Errorf("the policy that was just applied gives %+v, %v", got, err)
	}

	out := process.Must(t, "", "token", "list", data)
	id := ""
	for line := range strings.Lines(out) {
		if strings.Contains(line, "helper") {
			id = strings.Fields(line)[0]
		}
	}
	process.Must(t, "", "token", "revoke", id, data)
	select {
	case err := <-ended:
		if err == nil || !strings.Contains(err.Error(), "token") {
			t.Errorf("the wait ended with %v, want that the token does not hold", err)
		}
	case <-time.After(process.Patience):
		t.Fatal("the wait of a revoked token goes on")
	}
}

func TestAuditVerifyExitCodes(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	data := "--data=" + w.Dir
	out := process.Must(t, "", "audit", "verify", data)
	head := strings.TrimSpace(out[strings.LastIndex(out, " ")+1:])
	w.Stop()
	process.Must(t, "", "audit", "verify", "--head", head, data)

	verify := func(args ...string) (string, int) {
		t.Helper()
		_, said, code := process.Run(t, "", append([]string{"audit", "verify"}, args...)...)
		return said, code
	}
	flipped := []byte(head)
	if last := &flipped[len(flipped)-1]; *last == '0' {
		*last = '1'
	} else {
		*last = '0'
	}
	if said, code := verify("--head", string(flipped), data); code != 1 || !strings.Contains(said, "entry "+head[:strings.Index(head, ":")]) {
		t.Errorf("another head: exit %d, want 1 and the number: %s", code, said)
	}
	for _, args := range [][]string{{"--head", "nonsense", data}, {"--nonsense", data}, {"superfluous", data}} {
		if said, code := verify(args...); code != 2 {
			t.Errorf("%v: exit %d, want 2: %s", args, code, said)
		}
	}

	file := filepath.Join(w.Dir, "countersign.db")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write := func(content []byte) {
		t.Helper()
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(bytes.ReplaceAll(raw, []byte("user.added"), []byte("user.faked")))
	if said, code := verify(data); code != 1 || !strings.Contains(said, "ledger entry ") || !strings.Contains(said, "was changed") {
		t.Errorf("a changed entry: exit %d, want 1 and its number: %s", code, said)
	}
	write(append([]byte("no database at all"), raw[18:]...))
	if said, code := verify(data); code != 2 {
		t.Errorf("a broken file: exit %d, want 2: %s", code, said)
	}
}

func TestSetupLinkWhereThereIsNoTerminal(t *testing.T) {
	t.Parallel()
	dir, addr := filepath.Join(t.TempDir(), "data"), process.FreeAddr(t)
	file := filepath.Join(dir, "setup-link")
	p := process.Start(t, nil, "serve", "--data", dir, "--addr", addr)
	line := p.Says(t, p.Err, file)
	link := readLink(t, file)
	if strings.Contains(p.Err.String(), link.Query().Get("key")) {
		t.Errorf("the link is in the log: %s", line)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%s: %v, %v; want mode 0600", file, info, err)
	}
	newer, err := url.Parse(strings.TrimSpace(process.Must(t, "", "setup-link", "--data", dir, "--addr", addr)))
	if err != nil || newer.Host != addr {
		t.Fatalf("setup-link printed %v, %v", newer, err)
	}
	if code := setUp(t, link); code != http.StatusNotFound {
		t.Errorf("the replaced link: %d, want 404", code)
	}
	if code := setUp(t, newer); code != http.StatusSeeOther {
		t.Errorf("the new link: %d, want 303", code)
	}
	if _, _, code := process.Run(t, "", "setup-link", "--data", dir); code != 1 {
		t.Errorf("setup-link with a user there: exit %d, want 1", code)
	}
	p.Signal(t, syscall.SIGTERM)
	if code := p.Exit(t); code != 0 {
		t.Errorf("serve: exit %d: %s", code, p.Err)
	}
}

func TestSetupLinkFileGoesWhenSetupIsDone(t *testing.T) {
	t.Parallel()
	s := process.Serve(t, storetest.Dir(t), "")
	file := filepath.Join(s.Dir, "setup-link")
	if code := setUp(t, readLink(t, file)); code != http.StatusSeeOther {
		t.Fatalf("setup: %d, want 303", code)
	}
	process.Eventually(t, "the file is gone", func() bool {
		_, err := os.Stat(file)
		return os.IsNotExist(err)
	})
}

func readLink(t *testing.T, file string) *url.URL {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	link, err := url.Parse(strings.TrimSpace(string(raw)))
	if err != nil {
		t.Fatal(err)
	}
	return link
}

// setUp sends the form that a setup link shows.
func setUp(t *testing.T, link *url.URL) int {
	t.Helper()
	form := url.Values{"key": {link.Query().Get("key")}, "name": {"Ada"}, "email": {"ada@example.com"}, "password": {storetest.Password}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, link.Scheme+"://"+link.Host+link.Path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	status, _ := process.Send(t, req)
	return status
}

// A part of a document changes that part, here and on a server; --replace is the other way.
func TestPolicyApplyOfAPartKeepsTheRest(t *testing.T) {
	t.Parallel()
	w := process.NewWorld(t)
	w.ApplyPolicy(t, `{"undo_seconds":{"low":0,"medium":0,"high":5,"critical":10},"retention_days":30,"required_approval_tools":["Bash"]}`)
	_, admin := storetest.AdminToken(t, w.Store(), w.Admin)
	env := []string{"COUNTERSIGN_SERVER=http://" + w.Addr, "COUNTERSIGN_TOKEN=" + admin}
	shown := func() string {
		out, said, code := process.RunWith(t, env, "", "policy", "show", "--server", "http://"+w.Addr)
		if code != 0 {
			t.Fatalf("exit %d: %s", code, said)
		}
		return strings.Join(strings.Fields(out), "")
	}
	for _, c := range []struct {
		stdin string
		args  []string
		want  []string
	}{
		{`{"unmatched":"require"}`, []string{"-"}, []string{`"high":5,"critical":10`, `"retention_days":30`, `"required_approval_tools":["Bash"]`, `"unmatched":"require"`}},
		{``, []string{"--set", "unmatched=allow", "--set", `undo_seconds={"high":7}`}, []string{`"high":7,"critical":10`, `"retention_days":30`, `"unmatched":"allow"`}},
		{`{"unmatched":"require"}`, []string{"-", "--replace"}, []string{`"high":0,"critical":0`, `"required_approval_tools":[]`, `"unmatched":"require"`}},
	} {
		for _, verb := range []string{"check", "apply"} {
			args := append([]string{"policy", verb, "--server", "http://" + w.Addr}, c.args...)
			if verb == "apply" {
				args = append(args, "--note", "why")
			}
			if out, said, code := process.RunWith(t, env, c.stdin, args...); code != 0 {
				t.Fatalf("%v: exit %d\n%s%s", args, code, out, said)
			}
		}
		got := shown()
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%v: no %s in %s", c.args, want, got)
			}
		}
	}
	for _, args := range [][]string{{"policy", "apply"}, {"policy", "apply", "-", "--set", "unmatched=allow"}, {"policy", "apply", "--set", "x"}, {"policy", "check", "--set", "unmatched=perhaps"}} {
		if out, said, code := process.RunWith(t, env, "", append(args, "--server", "http://"+w.Addr)...); code == 0 {
			t.Errorf("%v: exit 0\n%s%s", args, out, said)
		}
	}
}
