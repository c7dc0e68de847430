package condition_test

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"countersign/models/condition"
)

// linesOf are the lines of a file in testdata, and the last line before each that begins with #.
func linesOf(t *testing.T, name string) (lines, under []string) {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	head := ""
	for s := bufio.NewScanner(f); s.Scan(); {
		if line := s.Text(); strings.HasPrefix(line, "#") {
			head = line
		} else if line != "" {
			lines, under = append(lines, line), append(under, head)
		}
	}
	if len(lines) == 0 {
		t.Fatalf("%s has no lines", name)
	}
	return lines, under
}

// What stands behind a program that is in no list is found, or can't be judged: by any rule
// on the words, the program, its arguments or all commands.
func TestAShellBehindAnyProgram(t *testing.T) {
	lines, _ := linesOf(t, "shell-behind-programs.txt")
	if len(lines) != 54 {
		t.Errorf("%d lines", len(lines))
	}
	for _, line := range lines {
		input := lineInput(t, line)
		for _, not := range []string{`command(input).has("rm")`, `command(input).program == "rm"`, `command(input).args == []`} {
			if got := judge(t, not, input); got.Result == no {
				t.Errorf("%q: %s is false", line, not)
			}
		}
		program, _, _ := strings.Cut(line, " ")
		if got := judge(t, `command(input).program == "`+program+`"`, input); got.Result == yes && program != "wsl" {
			t.Errorf("%q is a use of %s alone", line, program)
		}
	}
}

// Every program that runs what its words say does so in all of these ways, whatever it is
// called.
func TestWaysToCarryACommand(t *testing.T) {
	for _, program := range []string{"frotz", "./frotz", "/opt/x/frotz", "Frotz", "git frotz", "npm frotz", "sudo frotz", "env frotz", "frotz -v frotz"} {
		for _, way := range []string{
			`rm x`, `/bin/rm x`, `-- rm x`, `exec rm x`, `'rm x'`, `"r\\m x"`, `-c 'rm x'`, `-crm`, `-xcrm x`, `--command rm`, `--command=rm`, `--command='rm x'`, `--a=b=rm`,
			`sh -c 'rm x'`, `-a b /bin/bash -c 'rm x'`, `--shell=bash x.sh`, `SHELL=/bin/sh x`, `bash5 x.sh`, `zsh-5.9 x`, `bash.exe x`, `tcsh x`, `pwsh x`, `x fish`, `bash`,
			`xargs`, `a parallel`, `busybox x`, `foreach 'rm x'`, `'a' 'do shell script "rm x"'`, `'$(rm x)'`, `'*'`, `'a b'`, "'a\nb'", `<<< 'rm x'`,
		} {
			if got := judge(t, `command(input).has("rm")`, lineInput(t, program+" "+way)); got.Result == no {
				t.Errorf("%s %s does not have rm", program, way)
			}
		}
		for _, way := range []string{`rm x`, `exec rm x`, `-c git`, `-- git status`, `git status`, `'git status'`} {
			if got := judge(t, `command(input).program == "git"`, lineInput(t, program+" "+way)); got.Result == no {
				t.Errorf("the program of %s %s is not git", program, way)
			}
		}
		for _, way := range []string{`echo 'rm x' | `, `cat x | tee y | `} {
			if got := judge(t, `command(input).has("rm")`, lineInput(t, way+program)); got.Result == no {
				t.Errorf("%s%s does not have rm", way, program)
			}
		}
	}
}

// The options of listed programs that carry a command are not a listed use.
func TestListedProgramsThatCarryACommand(t *testing.T) {
	for _, line := range []string{
		`git -c alias.x='!rm y' x`, `git -c core.pager='rm x' log`, `git --exec-path='rm x' x`, `git rebase --exec 'rm x' main`, `git rebase -x 'rm x' main`, `git rebase -ix 'rm x' main`,
		`git rebase --exe='rm x' main`, `git bisect run 'rm x'`, `git submodule foreach 'rm x'`, `git filter-branch --tree-filter 'rm x'`, `git config alias.x '!rm y'`,
		`git push --receive-pack='rm x' a b`, `git clone -u 'rm x' a`, `git clone -c core.sshCommand='rm x' a`, `git clone 'ext::rm% x' a`, `git fetch --upload-pack 'rm x' a`, `git grep -O'rm x' a`,
		`git grep --open='rm x' a`, `git difftool -x 'rm x'`, `go test -exec 'rm x' ./...`, `go build -toolexec='rm x'`, `go build --toolexec='rm x'`, `go vet -vettool='rm x'`, `go run 'rm x'`,
		`find . -execdir rm '{}' +`, `fd -x 'rm x'`, `fd --exec='rm x'`, `fd -HX 'rm x'`, `rg --pre='rm x' a`, `sort --compress-program='rm x' a`, `sort --comp='rm x' a`, `wget --use-askpass='rm x' a`,
		`sed '1e rm x' a`, `sed 's/a/rm x/e' a`, `sed -e 's/a/b/' -e '1e rm x' a`, `sed -f x 'rm y'`, `sed "s/a/b/;e rm x" a`, `sed 's/a/b/w /x y' a`, `awk 'BEGIN { system("rm x") }'`,
		`awk '{ print | "rm x" }'`, `awk -f x 'rm y'`, `gawk -l 'rm x'`, `awk 'BEGIN { f = "system"; @f("rm x") }'`, `make 'X=$(shell rm x)'`, `make --eval='$(shell rm x)'`, `npm exec 'rm x'`, `npm run x -- '; rm x'`,
		`npm --script-shell='rm x' test`, `cargo --config 'a="rm x"' build`, `cargo build --config 'a="rm x"'`, `python -c 'rm x'`, `node -e 'rm x'`, `pip install --config-settings='rm x' a`, `tar --to-command='rm x' -xf a`,
	} {
		if got := judge(t, `command(input).has("rm")`, lineInput(t, line)); got.Result == no {
			t.Errorf("%s does not have rm", line)
		}
		program, _, _ := strings.Cut(line, " ")
		if got := judge(t, `command(input).program == "`+program+`"`, lineInput(t, line)); got.Result == yes {
			t.Errorf("%s is a use of %s alone", line, program)
		}
	}
}

// Lines of a day's work are judged still.
func TestOrdinaryLinesAreJudged(t *testing.T) {
	lines, under := linesOf(t, "ordinary-lines.txt")
	known := 0
	for i, line := range lines {
		input := lineInput(t, line)
		if got := judge(t, `command(input).has("rm -rf")`, input); got.Result != no {
			t.Errorf("%s: has is %+v", line, got)
		}
		want := un
		if strings.HasPrefix(under[i], "# Known") {
			want = no
			known++
		}
		if got := judge(t, `command(input).program == "no program"`, input); got.Result != want {
			t.Errorf("%s: program is %+v", line, got)
		}
	}
	t.Logf("%d lines: all are judged by their words, %d by their program", len(lines), known)
}

// A condition may name a program that is in no list, but not what it runs.
func TestAConditionNamesAProgram(t *testing.T) {
	for _, tt := range []struct {
		source, line string
		want         condition.Result
	}{
		{`command(input).program == "mytool"`, `mytool build`, yes},
		{`command(input).program in ["ls", "./deploy.sh"]`, `./deploy.sh staging`, yes},
		{`command(input).program == "rm"`, `mytool build`, un},
		{`command(input).program == "rm"`, `mytool`, no},
		{`command(input).program != "rm"`, `mytool build`, un},
		{`command(input).program == "mytool" && command(input).args[0] == "build"`, `mytool build`, yes},
		{`command(input).args[0] == "build"`, `mytool build`, un},
		{`command(input.line).program == "mytool"`, `mytool build`, yes},
		{`command(input).program == "mytool"`, `mytool 'build it'`, un},
		{`command(input).program == "mytool"`, `mytool bash x.sh`, un},
		{`command(input).program == "mytool"`, `mytool exec rm x`, un},
		{`command(input).program == "mytool"`, `mytool -c rm`, un},
		{`command(input).program == "mytool"`, `mytool --command rm`, un},
		{`command(input).program == "git"`, `git frotz`, un},
		{`command(input).program == "sudo"`, `sudo ls`, un},
	} {
		raw := strings.Replace(lineInput(t, tt.line), "{", `{"line":`+strings.TrimSuffix(strings.SplitN(lineInput(t, tt.line), ":", 2)[1], "}")+",", 1)
		if got := judge(t, tt.source, raw); got.Result != tt.want {
			t.Errorf("%s of %s: %+v", tt.source, tt.line, got)
		}
	}
}
