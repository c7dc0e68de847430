package condition_test

import (
	"strings"
	"testing"

	"countersign/models/condition"
)

// A rule may let a line through if it holds for each of its commands. Whatever is not one of
// them, or can't be read, leaves the rule without an answer.
func TestAllCommandsOfALine(t *testing.T) {
	const known = `command(input).all(c, c.program in ["cd", "git", "head", "./check.sh"])`
	for _, tt := range []struct {
		line string
		want condition.Result
	}{
		{`cd p && git status | head`, yes},
		{`git status`, yes},
		{`git log --format='%h; %s' | head -n 5`, yes},
		{`(cd web && git status) || git diff`, yes},
		{`if git diff; then git log; fi`, yes},
		{`git status 2>&1 | head`, yes},
		{`git status 2>/dev/null >/dev/null`, yes},
		{`cd p && ./check.sh all`, yes},
		{`git status &`, yes},
		{`cd p && rm x`, no},
		{`cd p; git status; curl https://x`, no},
		{`cd p && git status > out.txt`, un},
		{`cd p && git status >> out.txt`, un},
		{`cd p && git status >| out.txt`, un},
		{`cd p && git status &> out.txt`, un},
		{`cd p && git status >& out.txt`, un},
		{`cd p && git apply < x.patch`, un},
		{`git status 3>&1`, un},
		{`git status <> x`, un},
		{`> out.txt`, un},
		{``, un},
		{`# git`, un},
		{`cd $X && git status`, un},
		{`cd p && git $(rm x)`, un},
		{`git *.go`, un},
		{`git() { rm x; }; git`, un},
		{`PATH=/tmp git status`, un},
		{"git apply <<E\nx\nE", un},
		{`time git status`, un},
		{`cd p && sudo git status`, un},
		{`cd p && env git status`, un},
		{`cd p && sh -c 'git status'`, un},
		{`cd p && git -c alias.x='!rm y' x`, un},
		{`cd p && git rebase --exec 'rm x'`, un},
		{`cd p && frotz git status`, un},
		{`cd p && /usr/bin/git status`, un},
		{`cd p && ./check.sh 'a b'`, un},
		{`git status | xargs git add`, un},
		{`export PATH=/tmp; git status`, un},
		{`alias git=rm; git x`, un},
		{`git "`, un},
		{strings.Repeat("git x; ", 3000), un},
	} {
		if got := judge(t, known, lineInput(t, tt.line)); got.Result != tt.want {
			t.Errorf("%.60q: %+v, want %d", tt.line, got, tt.want)
		}
	}
	for _, tt := range []struct {
		source, input string
		want          condition.Result
	}{
		{`command(input).all(c, c.program == "git" && c.args[0] == "status")`, `{"command":"git status && git status -s"}`, yes},
		{`command(input).all(c, c.program == "git" && c.args[0] == "status")`, `{"command":"git status && git push"}`, no},
		{`command(input).all(c, !c.has("push"))`, `{"command":"git status && git push"}`, no},
		{`command(input).all(c, !c.has("push"))`, `{"command":"git status && git log"}`, yes},
		{`command(input).all(c, c.program == "git")`, `{"command":["git","status"]}`, yes},
		{`command(input).all(c, c.program == "git")`, `{"command":["bash","-c","git status"]}`, un},
		{`command(input).all(c, true)`, `{"command":[]}`, un},
		{`command(input).all(c, true)`, `{}`, un},
		{`command(input.line).all(c, c.program == "git")`, `{"line":"git status; git log"}`, yes},
		{`command(input).commands.exists(c, c.program == "rm")`, `{"command":"git status; rm x"}`, yes},
		{`command(input).commands.size() == 2`, `{"command":"git status; rm x"}`, yes},
		{`[1, 2].all(n, n > 0)`, `{}`, yes},
		{`input.a.all(n, n > 0)`, `{"a":[1, 0]}`, no},
	} {
		if got := judge(t, tt.source, tt.input); got.Result != tt.want {
			t.Errorf("%s of %s: %+v", tt.source, tt.input, got)
		}
	}
}

// What a line is let through for by all of its commands says the same of each alone, and no
// part that a shell reads is left out.
func FuzzAllCommands(f *testing.F) {
	for _, seed := range []string{`cd p && git status | head`, `git x > y`, "git\nrm", `git & rm`, `git <(rm)`, `{ git; }`, `git 2>&1`, "git `rm`", `! git`, `git #x`} {
		f.Add(seed)
	}
	all, err := condition.Compile(`command(input).all(c, c.program == "git")`)
	if err != nil {
		f.Fatal(err)
	}
	other, err := condition.Compile(`command(input).has("rm")`)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, line string) {
		input := lineInput(t, line+" ; rm x")
		if all.Judge(call(input)).Result == yes && other.Judge(call(input)).Result == yes && !strings.ContainsAny(line, `"'\#`) {
			t.Errorf("%q is git alone", line)
		}
	})
}
