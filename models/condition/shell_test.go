package condition_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"countersign/models/condition"
)

// What is known of a command line: whether it is git and nothing else, and whether rm is in
// it. Who wants to hide rm may only make it unknown.
func TestWhatIsKnownOfACommandLine(t *testing.T) {
	for _, tt := range []struct {
		line       string
		isGit, has condition.Result
	}{
		// One simple command of literal words.
		{`git status`, yes, no},
		{`git`, yes, no},
		{`  git   log --oneline -5  `, yes, no},
		{`git commit -m "a; rm -rf /"`, yes, no},
		{`git commit -m 'it $(rm x) is only text'`, yes, no},
		{`"git" status`, yes, no},
		{`g"i"t status`, yes, no},
		{`g\it status`, yes, no},
		{"gi\\\nt status", yes, no},
		{`git add a\ b`, yes, no},
		{`git log # rm`, yes, no},
		{`ls -la`, no, no},
		{`./git status`, un, no},
		{`/usr/bin/git status`, un, no},
		{`GIT status`, un, no},
		{`rm -rf /`, no, yes},
		{`/bin/rm x`, un, yes},
		{`git rm x`, yes, yes},
		{`r""m x`, no, yes},
		{`r\m x`, no, yes},
		{`'rm' x`, no, yes},
		{"r\\\nm x", no, yes},
		{`echo rm`, no, yes},
		{`RM -rf /`, un, yes},
		{`/BIN/Rm x`, un, yes},
		{`ls rm/x`, no, no},
		{`ls x/rm`, no, yes},
		{`rmdir x`, no, no},
		{`git log @{u}`, un, un},
		{`git log HEAD^`, yes, no},
		{`git log a#b`, yes, no},
		// Not one simple command, yet all of it can be read.
		{`git status; rm x`, un, yes},
		{`git status && rm x`, un, yes},
		{`git status || rm x`, un, yes},
		{`git status | rm x`, un, yes},
		{`git status & rm x`, un, yes},
		{"git status\nrm x", un, yes},
		{`git status; ls`, un, no},
		{`git status;`, un, no},
		{`git status &`, un, no},
		{`! git status`, un, no},
		{`(git status)`, un, no},
		{`{ git status; }`, un, no},
		{`(rm x)`, un, yes},
		{`{ rm x; }`, un, yes},
		{`if true; then rm x; fi`, un, yes},
		{`while true; do rm x; done`, un, yes},
		{`for i in a b; do rm x; done`, un, yes},
		{`case a in a) rm x;; esac`, un, yes},
		{`git status > /tmp/x`, un, no},
		{`git status 2>&1`, un, no},
		{`git status < /etc/passwd`, un, no},
		{`A=b git status`, un, un},
		{`PATH=/tmp git status`, un, un},
		{`A=b`, un, un},
		{`time git status`, un, un},
		{`time rm x`, un, yes},
		{`coproc rm x`, un, yes},
		// Parts that are only known when they run.
		{`git $X`, un, un},
		{`git "$X"`, un, un},
		{`git ${X:-rm}`, un, un},
		{`$X status`, un, un},
		{`git $(rm x)`, un, yes},
		{"git `rm x`", un, yes},
		{`git "$(rm x)"`, un, yes},
		{`git $(ls)`, un, un},
		{`git <(rm x)`, un, yes},
		{`git *.go`, un, un},
		{`git a?`, un, un},
		{`git [ab]`, un, un},
		{`git {a,b}`, un, un},
		{`{rm,-rf,/}`, un, un},
		{`git ~/x`, un, un},
		{`git --file=~/x`, un, un},
		{`git $'\x72m'`, un, un},
		{`$'rm' x`, un, un},
		{`=rm x`, un, un},
		{`git $((1+1))`, un, un},
		{`git @(a|b)`, un, un},
		{`r$@m x`, un, un},
		{`r${x}m x`, un, un},
		{`X=r; ${X}m y`, un, un},
		{`/bin/r? x`, un, un},
		// Commands that run others.
		{`env git status`, un, no},
		{`env rm x`, un, yes},
		{`/usr/bin/env rm x`, un, yes},
		{`sudo rm x`, un, yes},
		{`sudo -u bob git status`, un, no},
		{`nohup nice -n 5 rm x`, un, yes},
		{`xargs rm`, un, yes},
		{`find . -name x -exec rm y \;`, un, yes},
		{`find . -name x`, no, no},
		{`timeout 5 sh -c "rm x"`, un, yes},
		{`sh -c "rm x"`, un, yes},
		{`sh -c 'git status'`, un, no},
		{`bash -lc 'rm x'`, un, yes},
		{`bash -c "sh -c 'rm x'"`, un, yes},
		{`bash -c "$X"`, un, un},
		{`bash -c 'git $X'`, un, un},
		{`bash -x -c 'rm x'`, un, yes},
		{`bash script.sh`, un, un},
		{`bash`, un, un},
		{`bash --norc -c 'rm x'`, un, yes},
		{`echo rm x | sh`, un, yes},
		{`cat x | sh`, un, un},
		{`sh < x`, un, un},
		{"sh <<E\nrm x\nE", un, un},
		{"cat <<E\nrm x\nE", un, un},
		{"cat <<E\n$(rm x)\nE", un, yes},
		{"cat <<E\n$X\nE", un, un},
		{"cat <<'E'\n$(rm x)\nE", un, un},
		{`eval "rm x"`, un, yes},
		{`eval r m`, un, un},
		{`eval "r""m x"`, un, yes},
		{`trap "rm x" EXIT`, un, yes},
		{`ssh host "rm x"`, un, yes},
		{`ssh host 'git status'`, un, un},
		{`source x`, un, un},
		{`. x`, un, un},
		{`alias git=rm`, un, un},
		{`alias ls='rm x'; ls`, un, un},
		{`git() { rm x; }; git`, un, yes},
		{`f() { ls; }; f`, un, un},
		{`builtin command exec rm x`, un, yes},
		{`busybox rm x`, un, yes},
		{`sh -c "sh -c \"sh -c 'sh -c \\\"sh -c ls\\\"'\""`, un, no},
		// What shells evaluate, or read in different ways.
		{"git log # x \\\nrm x", un, yes},
		{"git log #\\\nrm x", un, yes},
		{"git status # all of it", yes, no},
		{`((rm))`, un, un},
		{`[[ a || rm ]]`, un, un},
		{`if [[ a || b ]]; then ls; fi`, un, un},
		{`let 'a[$(rm x)]=1'`, un, un},
		{`test -v 'a[$(rm x)]'`, un, un},
		{`printf -v 'a[$(rm x)]' x`, un, un},
		{`[ -f x ]`, no, no},
		{`compgen -C 'rm x'`, un, yes},
		{`declare -i 'x=a[$(rm y)]'`, un, un},
		{`x='a[$(rm y)]'; ((x))`, un, un},
		{`PS4='$(rm x)'; set -x; ls`, un, un},
		{`env BASH_ENV=/dev/stdin bash -c ls`, un, un},
		{`export PATH=/tmp`, un, un},
		{"cat <<E\n\\\nE\nrm x\nE", un, un},
		{`bash -c +x 'rm x'`, un, yes},
		{`bash -co posix 'rm x'`, un, yes},
		{`bash -c -- '-x;rm y' ls`, un, yes},
		{`bash -c ls`, un, no},
		{`exec -a sh -c env PATH=x bash -c 'rm x'`, un, yes},
		{`env -u sh -u -c bash -c 'rm x'`, un, yes},
		{`trap 'r\m' EXIT`, un, yes},
		{`trap '/path/r?' 0`, un, un},
		{`env -Srm`, un, un},
		{`env '-Srm x'`, un, un},
		{`env --split-string=rm`, un, un},
		{`sudo -s`, un, un},
		{`echo 'rm x' | xargs env`, un, un},
		{`fish -c 'r\x6d x'`, un, un},
		{`lksh -c 'git x'`, un, un},
		{`hyperfine 'rm x'`, un, yes},
		{`repeat 2 git push`, un, un},
		{`- sh -c 'rm x'`, un, yes},
		{`for ((i=0;i<1;i++)); do ls; done`, un, un},
		// What no shell would take, and what shells take differently.
		{`git "`, un, un},
		{`git )`, un, un},
		{``, un, no},
		{`   `, un, no},
		{`# git`, un, no},
		{"git\rstatus", un, un},
		{"git\x00status", un, un},
		{"git\u00a0status", no, no},
		{"ｇit status", un, no},
		{`git status "` + strings.Repeat("x", 17<<10) + `"`, un, un},
	} {
		input := lineInput(t, tt.line)
		if got := judge(t, `command(input).program == "git"`, input).Result; got != tt.isGit {
			t.Errorf("%.60q is git: %d, want %d", tt.line, got, tt.isGit)
		}
		if got := judge(t, `command(input).has("rm")`, input).Result; got != tt.has {
			t.Errorf("%.60q has rm: %d, want %d", tt.line, got, tt.has)
		}
	}
}

func lineInput(t *testing.T, line any) string {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"command": line})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// A command may come as words, which no shell reads, and under another name.
func TestCommandsAsWords(t *testing.T) {
	for _, tt := range []struct {
		source, input string
		want          condition.Result
	}{
		{`command(input).program == "git" && command(input).args == ["add", "a b", "$X", "*"]`, `{"command":["git","add","a b","$X","*"]}`, yes},
		{`command(input).program == "git"`, `{"command":["bash","-lc","git status"]}`, un},
		{`command(input).has("rm")`, `{"command":["bash","-lc","rm x"]}`, yes},
		{`command(input).has("rm")`, `{"command":["bash","-lc","$X"]}`, un},
		{`command(input).has("rm")`, `{"command":["git","rm x"]}`, yes},
		{`command(input).has("rm")`, `{"command":["git","add","rm x"]}`, no},
		{`command(input).has("rm")`, `{"command":["frotz","a b"]}`, un},
		{`command(input).program == "git"`, `{"cmd":"git status"}`, yes},
		{`command(input).program == "git"`, `{"cmd":"git status","command":"rm"}`, un},
		{`command(input.shell).program == "git"`, `{"shell":"git status"}`, yes},
		{`command(input).program == "git"`, `{"command":[]}`, un},
		{`command(input).program == "git"`, `{"command":["git",1]}`, un},
		{`command(input).program == "git"`, `{"command":7}`, un},
		{`command(input).program == "git"`, `{"command":{"command":"git"}}`, un},
		{`command(input).program == "git"`, `{}`, un},
		{`command(input).program == "git"`, `{"command":"git","args":["push","--force"]}`, un},
		{`command(input).program == "git"`, `{"command":["git"],"argv":[]}`, un},
		{`command(input).program == "git"`, `[]`, un},
		{`command(input).args.exists(a, a == "--force")`, `{"command":"git push --force"}`, yes},
		{`command(input).args.exists(a, a == "--force")`, `{"command":"git push $X"}`, un},
		{`command(input).has("-R")`, `{"command":"chmod -R x"}`, yes},
		{`command(input).has("-R")`, `{"command":"chmod -r x"}`, no},
		{`command(input).has("/bin/rm")`, `{"command":"/bin/rm x"}`, yes},
		{`command(input).has("/bin/rm")`, `{"command":"/usr/bin/rm x"}`, no},
		{`command(input).has("/bin/rm")`, `{"command":"/bin//rm x"}`, yes},
		{`command(input).has("/bin/rm")`, `{"command":"/bin/./rm x"}`, yes},
		{`command(input).has("/bin/rm")`, `{"command":"/usr/../bin/rm x"}`, un},
		{`command(input).has("/bin/rm")`, `{"command":"../bin/rm x"}`, un},
		{`command(input).has("/bin/rm")`, `{"command":"rm x"}`, un},
		{`command(input).has("/bin/rm")`, `{"command":"ls x"}`, no},
		{`command(input).args.size() == 0`, `{"command":"git"}`, yes},
	} {
		if got := judge(t, tt.source, tt.input); got.Result != tt.want {
			t.Errorf("%s of %s: %+v", tt.source, tt.input, got)
		}
	}
}

// A path is in a folder by its letters only, or it is not known.
func TestPaths(t *testing.T) {
	for file, want := range map[string]condition.Result{
		"/srv/app": yes, "/srv/app/": yes, "/srv/app/a.go": yes, "/srv/app/./a.go": yes, "/srv//app/a": yes, "//srv/app/a": yes,
		"/srv/app/..hidden": yes, "/srv/app/[id]/$x.tsx": yes, "/srv/app/~": yes,
		"/srv/application": no, "/srv": no, "/": no, "/etc/passwd": no, "/SRV/APP/a": un, "/\u017frv/app/a": un, "/srv/app/%2e%2e/x": un, "/srv/app/.. /x": un, "/srv/app/x.": un, "/srv/app./x": un, "/srv/App": un, "/srv/app\u200b/a": no,
		"": un, "a.go": un, "./a.go": un, "~/a.go": un, "~root/a": un, "/srv/app/../../etc/passwd": un, "/srv/app/..": un, "../x": un,
		"/srv/app/a\x00b": un, "/srv/app\\..\\x": un, "C:\\srv": un, "/srv/app/a\nb": un, "file:///srv/app": un,
	} {
		input := string(must(json.Marshal(map[string]string{"file": file})))
		if got := judge(t, `path(input.file).within("/srv/app")`, input); got.Result != want {
			t.Errorf("%q: %+v", file, got)
		}
	}
	for source, want := range map[string]condition.Result{
		`path("/srv/a").within("/srv/")`: yes, `path("/a").within("/")`: yes, `path("/a").within("a")`: un, `path("/a").within("/../a")`: un,
		`path(input.file).within("/")`: un, `path(7).within("/")`: un,
	} {
		if got := judge(t, source, `{}`); got.Result != want {
			t.Errorf("%s: %+v", source, got)
		}
	}
}

// The host of an address is known only where browsers and Go agree.
func TestHosts(t *testing.T) {
	for address, want := range map[string]condition.Result{
		"https://example.com": yes, "https://example.com/": yes, "https://EXAMPLE.com:8443/a?b#c": yes, "http://example.com.": un, "https://example.com.:8443/": un, "https://evil.com./": un,
		"https://ann@example.com/": yes, "https://good.com:x@example.com/": yes, "ftp://example.com/x": yes, "https://example.com?a@b": yes,
		"https://example.com.evil.com/": no, "https://evil.com/example.com": no, "https://example.com@evil.com/": no, "https://[::1]/": no,
		"https://127.0.0.1/": no, "https://sub.example.com": no,
		`https://example.com\@evil.com/`: un, `https:\\example.com`: un, "https:example.com": un, "https:///example.com": un, "//example.com": un,
		"example.com": un, "": un, "https://": un, "https://ex%61mple.com/": un, "https://exa\tmple.com/": un, " https://example.com": un,
		"https://0x7f.1/": un, "https://example。com/": un, "https://еxample.com/": un, "https://exam ple.com/": un, "mailto:a@example.com": un,
		"https://example.com:99999/": un, "https://example.com#@evil.com/": yes, "javascript:alert(1)": un, "javascript://example.com/%0aalert(1)": un, "intent://example.com/x": un, "file://example.com/x": un, "wss://example.com/": yes, "https://ex\u00admple.com": un,
		"https://" + strings.Repeat("a", 9000): un,
	} {
		input := string(must(json.Marshal(map[string]string{"url": address})))
		if got := judge(t, `host(input.url) == "example.com"`, input); got.Result != want {
			t.Errorf("%q: %+v", address, got)
		}
	}
}

// An address of IPv6 that stands for one of IPv4 is that one, or is not known: no rule that
// names the one misses the other.
func TestHostsThatStandForOthers(t *testing.T) {
	for host, want := range map[string]condition.Result{
		"169.254.169.254": yes, "[::ffff:a9fe:a9fe]": yes, "[::ffff:169.254.169.254]": yes, "[::FFFF:A9FE:A9FE]": yes, "[0:0:0:0:0:ffff:a9fe:a9fe]": yes,
		"[64:ff9b::a9fe:a9fe]": un, "[64:ff9b::169.254.169.254]": un, "[64:ff9b:1::a9fe:a9fe]": un, "[2002:a9fe:a9fe::]": un, "[2002:a9fe:a9fe::1]": un,
		"[2001:0:1:2:3:4:5601:5601]": un, "[::a9fe:a9fe]": un, "[::169.254.169.254]": un, "[::ffff:0:a9fe:a9fe]": un, "[fe80::5efe:a9fe:a9fe]": un, "[2001:db8::200:5efe:a9fe:a9fe]": un,
		"0.0.0.0": un, "[::]": un, "[fe80::1%25eth0]": un, "169.254.169.254.": un, "2852039166": un, "0xa9.254.169.254": un, "0251.254.169.254": un, "169.254.43518": un,
		"[::1]": no, "127.0.0.1": no, "[2001:db8::1]": no, "[2606:4700::1111]": no, "[fe80::1]": no, "8.8.8.8": no,
	} {
		input := string(must(json.Marshal(map[string]string{"url": "http://" + host + "/latest"})))
		if got := judge(t, `host(input.url) == "169.254.169.254"`, input); got.Result != want {
			t.Errorf("%s: %+v", host, got)
		}
	}
}

func must(raw []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return raw
}
