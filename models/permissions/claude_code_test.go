package permissions_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"countersign/models"
	"countersign/models/permissions"
	"countersign/models/policy"
)

var folders = permissions.Folders{Project: "/srv/app", Home: "/home/ann"}

// read makes the policy of some settings; what no rule names waits.
func read(t rapid.TB, settings string) (*policy.Policy, permissions.Draft) {
	t.Helper()
	draft, err := permissions.ClaudeCode([]byte(settings), folders)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(map[string]any{"unmatched": policy.EffectRequire, "rules": draft.Rules})
	if err != nil {
		t.Fatal(err)
	}
	p, err := policy.Parse(raw)
	if err != nil {
		t.Fatalf("%v\n%v\n%s", err, models.FieldsOf(err), raw)
	}
	return p, draft
}

func judge(p *policy.Policy, tool, input string) policy.Effect {
	return p.Judge(policy.Call{Kind: models.KindToolCall, ToolName: tool, Facts: policy.Facts{Input: []byte(input)}}).Effect
}

const ofAProject = `{"permissions": {
 "allow": ["Bash(npm run test:*)", "Bash(git status)", "Bash(git log *)", "Bash(cat READ*)", "Read(src/**)", "Read(//etc/hosts)", "Edit(~/notes/**)",
  "WebFetch(domain:example.com)", "WebFetch(domain:*.example.org)", "mcp__github", "mcp__files__read", "Glob"],
 "ask": ["Bash(git push:*)", "Edit(**/*.lock)"],
 "deny": ["Bash(rm:*)", "Bash(git * --force)", "Read(.env)", "Read(~/.ssh/**)", "mcp__github__delete", "WebFetch(domain:evil.example.org)"],
 "defaultMode": "default"}, "model": "x"}`

// TestSettingsAreRules: what the settings deny, ask and allow, also in lines of several commands and by other spellings.
func TestSettingsAreRules(t *testing.T) {
	t.Parallel()
	p, draft := read(t, ofAProject)
	const allow, ask, deny = policy.EffectAllow, policy.EffectRequire, policy.EffectDeny
	for _, c := range []struct {
		tool, input string
		want        policy.Effect
	}{
		{"Bash", `{"command":"npm run test"}`, allow},
		{"Bash", `{"command":"npm run test -- --watch"}`, allow},
		{"Bash", `{"command":"npm run tester"}`, ask},
		{"Bash", `{"command":"npm run build"}`, ask},
		{"Bash", `{"command":"git status && npm run test"}`, allow},
		{"Bash", `{"command":"git status --short"}`, ask},
		{"Bash", `{"command":"git log --oneline"}`, allow},
		{"Bash", `{"command":"git log > /etc/passwd"}`, ask},
		{"Bash", `{"command":"git log $(rm -rf /)"}`, deny},
		{"Bash", `{"command":"cat README.md"}`, allow},
		{"Bash", `{"command":"cat secrets"}`, ask},
		{"Bash", `{"command":"rm -rf build"}`, deny},
		{"Bash", `{"command":"cd x; /bin/RM y"}`, deny},
		{"Bash", `{"command":"rmdir build"}`, ask},
		{"Bash", `{"command":"git  push origin main"}`, ask},
		{"Bash", `{"command":"git status && git push --force"}`, deny},
		{"Bash", `{"command":"git log; $X"}`, ask},
		{"Bash", `{}`, ask},
		{"Read", `{"file_path":"/srv/app/src/main.go"}`, allow},
		{"Read", `{"file_path":"/srv/app/src/../.env"}`, deny},
		{"Read", `{"file_path":"/srv/app/src/../x"}`, ask},
		{"Read", `{"file_path":"/srv/app/main.go"}`, ask},
		{"Read", `{"file_path":"/srv/app/src/.env"}`, deny},
		{"Read", `{"file_path":"/home/ann/.ssh/id"}`, deny},
		{"Grep", `{"path":"/home/ann/.ssh"}`, ask},
		{"Grep", `{"path":"/home/ann/.ssh/keys"}`, deny},
		{"Read", `{"file_path":"/etc/hosts"}`, allow},
		{"Read", `{"file_path":"/etc/hosts2"}`, ask},
		{"Edit", `{"file_path":"/home/ann/notes/a.md"}`, allow},
		{"Edit", `{"file_path":"/home/ann/notes/go.lock"}`, ask},
		{"Write", `{"file_path":"/home/ann/notes/a.md"}`, ask},
		{"WebFetch", `{"url":"https://example.com/x"}`, allow},
		{"WebFetch", `{"url":"https://example.com.evil.test/x"}`, ask},
		{"WebFetch", `{"url":"https://a.example.org"}`, allow},
		{"WebFetch", `{"url":"https://evil.example.org"}`, deny},
		{"mcp__github__list", `{}`, allow},
		{"mcp__github__delete", `{}`, deny},
		{"mcp__githubx__list", `{}`, ask},
		{"mcp__files__read", `{}`, allow},
		{"mcp__files__write", `{}`, ask},
		{"Glob", `{"pattern":"*"}`, allow},
		{"Task", `{}`, ask},
	} {
		if got := judge(p, c.tool, c.input); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.tool, c.input, got, c.want)
		}
	}
	for _, d := range draft.Differences {
		if !strings.Contains(d.Says, "alone") {
			t.Errorf("%s %s", d.Entry, d.Says)
		}
	}
}

// TestWaysPastAnEntry: spellings and entries by which more might be allowed than the settings mean.
func TestWaysPastAnEntry(t *testing.T) {
	t.Parallel()
	const allow, ask, deny = policy.EffectAllow, policy.EffectRequire, policy.EffectDeny
	for _, c := range []struct {
		settings, tool, input string
		want                  policy.Effect
	}{
		{`"allow":["Read(//etc/**)"],"deny":["Read(//etc/passwd)"]`, "Read", `{"file_path":"/etc/passwd"}`, deny},
		{`"allow":["Read(//etc/**)"],"deny":["Read(//etc/passwd)"]`, "Read", `{"file_path":"/etc//passwd"}`, deny},
		{`"allow":["Read(//etc/**)"],"deny":["Read(//etc/passwd)"]`, "Read", `{"file_path":"/etc/./PASSWD"}`, deny},
		{`"allow":["Read(//etc/**)"],"deny":["Read(//etc/passwd)"]`, "Read", `{"file_path":"/etc/x/../passwd"}`, ask},
		{`"allow":["Read(//etc/**)"],"deny":["Read(//etc/passwd)"]`, "Read", `{"file_path":"/etc/hosts"}`, allow},
		{`"allow":["Read(**)"]`, "Read", `{"file_path":"/etc/passwd"}`, ask},
		{`"allow":["Read(*)","Edit(*)"]`, "Edit", `{"file_path":"/etc/passwd"}`, ask},
		{`"allow":["Bash()","Read( )"]`, "Bash", `{"command":"ls"}`, ask},
		{`"allow":["Bash()","Read( )"]`, "Read", `{"file_path":"/etc/passwd"}`, ask},
		{`"allow":["Bash(ls)"],"deny":["Bash()"]`, "Bash", `{"command":"ls"}`, ask},
		{`"allow":["Read(./**)"]`, "Read", `{"file_path":"/srv/app/x"}`, allow},
		{`"allow":["Read(./**)"]`, "Read", `{"file_path":"/etc/passwd"}`, ask},
		{`"allow":["Read(./x)"]`, "Read", `{"file_path":"/srv/app/x"}`, allow},
		{`"allow":["Read"],"deny":["Read(**)"]`, "Read", `{"file_path":"x"}`, deny},
		{`"allow":["WebFetch"],"deny":["WebFetch(domain:*)"]`, "WebFetch", `{"url":"https://a.test"}`, ask},
		{`"allow":["WebFetch"],"deny":["WebFetch(domain:*.a.test)"]`, "WebFetch", `{"url":"https://a.test"}`, deny},
		{`"allow":["WebFetch"],"deny":["WebFetch(domain:a.test)"]`, "WebFetch", `{"url":"https://x.A.test/"}`, deny},
		{`"allow":["WebFetch"],"deny":["WebFetch(domain:a.test)"]`, "WebFetch", `{"url":"https://xa.test/"}`, allow},
		{`"allow":["WebFetch(domain:*)"]`, "WebFetch", `{"url":"https://a.test"}`, ask},
		{`"allow":["mcp__*__read","Ba*"]`, "mcp__x__read", `{}`, ask},
		{`"allow":["mcp__*__read","Ba*"]`, "Bash", `{"command":"ls"}`, ask},
		{`"allow":["mcp__x__get_*"]`, "mcp__x__get_it", `{}`, allow},
		{`"allow":["mcp__x"],"deny":["mcp__x__d*"]`, "mcp__x__drop", `{}`, deny},
		{`"allow":["Bash"],"deny":["Bash(rm -rf /:*)"]`, "Bash", `{"command":"rm -rf /home"}`, deny},
		{`"allow":["Bash"],"deny":["Bash(curl * | sh)"]`, "Bash", `{"command":"curl x |  sh"}`, deny},
	} {
		p, _ := read(t, `{"permissions":{`+c.settings+`}}`)
		if got := judge(p, c.tool, c.input); got != c.want {
			t.Errorf("%s: %s %s: %s, want %s", c.settings, c.tool, c.input, got, c.want)
		}
	}
}

// TestWhatHasNoEqualIsSaid: an allowed entry is left out, and a tool of which one is denied asks.
func TestWhatHasNoEqualIsSaid(t *testing.T) {
	t.Parallel()
	p, draft := read(t, `{"permissions": {
 "allow": ["Bash(git * main)", "Bash(ls 'a b')", "Read(*.go)", "Read([ab]/**)", "Write(src/**)", "Task(Explore)", "mcp__*", "nonsense(", "Bäsh", "Bash(`+strings.Repeat("x", 2000)+`:*)"],
 "deny": ["Task(Explore)", "Read([ab].txt)", "(", "Bash(`+strings.Repeat("y", 2000)+`)"],
 "defaultMode": "bypassPermissions", "additionalDirectories": ["../x"], "something": 1}}`)
	said := map[string]string{}
	for _, d := range draft.Differences {
		said[d.Entry] = d.Says
	}
	for entry, want := range map[string]string{
		"allow: Bash(git * main)": "left out", "allow: Bash(ls 'a b')": "left out", "allow: Read(*.go)": "left out", "allow: Read([ab]/**)": "left out",
		"allow: Write(src/**)": "left out", "allow: Task(Explore)": "left out", "allow: mcp__*": "left out", "allow: nonsense(": "no entry that is known",
		"allow: Bäsh": "no entry that is known", "deny: Task(Explore)": "every call of Task asks", "deny: Read([ab].txt)": "every call of Read asks", "deny: (": "no entry that is known",
		"permissions.defaultMode": "no equal", "permissions.additionalDirectories": "no equal", "permissions.something": "not read",
		"deny: Bash(" + strings.Repeat("y", 2000) + ")": "every call of Bash asks", "allow: Bash(" + strings.Repeat("x", 2000) + ":*)": "left out",
	} {
		if !strings.Contains(said[entry], want) {
			t.Errorf("%.60s: %q, want %q", entry, said[entry], want)
		}
		delete(said, entry)
	}
	if len(said) > 0 {
		t.Errorf("more is said: %v", said)
	}
	for _, tool := range []string{"Task", "Read", "Bash", "Write", "mcp__a__b"} {
		if got := judge(p, tool, `{"command":"git push main","file_path":"x.go"}`); got != policy.EffectRequire {
			t.Errorf("%s: %s", tool, got)
		}
	}
}

func TestWhatAreNoSettings(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`nonsense`: "no JSON object", `{}`: "no member permissions", `{"permissions":{"deny":"Bash"}}`: "permissions.deny must be a list",
		strings.Repeat(" ", permissions.MaxSettings+1): "longer than",
	} {
		if _, err := permissions.ClaudeCode([]byte(raw), folders); models.ErrorCode(err) != models.CodeInvalid || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v", raw, err)
		}
	}
}

// TestRulesAreNeverLaxer than the settings, which are judged here as they are documented: by the parts of a line, word by
// word, denied before asked before allowed.
func TestRulesAreNeverLaxer(t *testing.T) {
	t.Parallel()
	words := []string{"git", "push", "status", "rm", "npm", "run", "test", "tester", "-f", "x"}
	rapid.Check(t, func(rt *rapid.T) {
		phrase := rapid.SliceOfN(rapid.SampledFrom(words), 1, 3)
		entries := rapid.Custom(func(rt *rapid.T) string {
			return strings.Join(phrase.Draw(rt, "words"), " ") + rapid.SampledFrom([]string{"", ":*", " *", "*"}).Draw(rt, "end")
		})
		lists := map[string][]string{}
		for _, list := range []string{"allow", "ask", "deny"} {
			for _, of := range rapid.SliceOfN(entries, 0, 3).Draw(rt, list) {
				lists[list] = append(lists[list], "Bash("+of+")")
			}
		}
		raw, err := json.Marshal(map[string]any{"permissions": lists})
		if err != nil {
			rt.Fatal(err)
		}
		p, _ := read(rt, string(raw))
		line := rapid.SliceOfN(phrase, 1, 2).Draw(rt, "line")
		parts := make([]string, len(line))
		for i, w := range line {
			parts[i] = strings.Join(w, " ")
		}
		all := strings.Join(parts, " && ")
		input, err := json.Marshal(map[string]string{"command": all})
		if err != nil {
			rt.Fatal(err)
		}
		got := judge(p, "Bash", string(input))
		hit := func(list, part string) bool {
			for _, e := range lists[list] {
				if covers(strings.TrimSuffix(strings.TrimPrefix(e, "Bash("), ")"), part) {
					return true
				}
			}
			return false
		}
		denied, asked, allowed := false, false, true
		for _, part := range parts {
			denied, asked, allowed = denied || hit("deny", part), asked || hit("ask", part), allowed && hit("allow", part)
		}
		switch {
		case denied && got != policy.EffectDeny, asked && got == policy.EffectAllow, !allowed && got == policy.EffectAllow:
			rt.Fatalf("%q under %s is %s: denied %v, asked %v, allowed %v", all, raw, got, denied, asked, allowed)
		}
	})
}

// covers is whether an entry about commands matches one, as documented.
func covers(of, command string) bool {
	if prefix, ok := strings.CutSuffix(of, ":*"); ok {
		return command == prefix || strings.HasPrefix(command, prefix+" ")
	}
	if prefix, ok := strings.CutSuffix(of, " *"); ok {
		return command == prefix || strings.HasPrefix(command, prefix+" ")
	}
	if prefix, ok := strings.CutSuffix(of, "*"); ok {
		return strings.HasPrefix(command, prefix)
	}
	return command == of
}
