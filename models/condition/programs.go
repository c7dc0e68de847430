package condition

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Programs are harmless only if they are listed: of all others it is unknown whether they run what their words or their
// input say. A program that does different things by its first word is listed with it. Behind each are the options that
// carry a command after all; a use of a program with one of them is not a listed use.
var (
	// textual run nothing of what their words or their input say, whatever these are.
	textual = listed(`
		: b2sum base32 base64 basename basenc bg break cal cat cd chgrp chmod chown cksum clear cmp column comm continue
		cp csplit curl cut date dd df diff dig dirname dirs du echo egrep exit expand expr factor false fg fgrep file fmt
		free getconf gofmt goimports grep groups gunzip gzip head hexdump hostid hostname iconv id jobs join jq kill killall
		link ln locale logname ls lsblk lscpu lsof md5 md5sum mkdir mkfifo mktemp mv netstat nl nproc nslookup numfmt od paste
		pathchk pgrep ping pkill popd pr printenv printf ps pushd pwd read readlink realpath return rev rm rmdir seq sha1sum
		sha224sum sha256sum sha384sum sha512sum shasum shift shred shuf sleep ss stat strings stty sum sync tac tail tee test
		[ touch tput tr traceroute tree true truncate tsort tty type ulimit umask uname unexpand uniq unlink unset uptime
		users uuidgen wait wc whereis which who whoami xxd yes zcat zstd
		fd=x,X,exec,exec-batch fdfind=x,X,exec,exec-batch find=exec,execdir,ok,okdir rg=pre,hostname-bin
		sort=compress-program wget=e,execute,use-askpass
	`, map[string]string{
		"fold": "",
		"git": `add apply blame branch cat-file check-ignore checkout clean commit count-objects describe diff for-each-ref
			fsck init=template log ls-files ls-tree merge-base mv name-rev notes reflog reset restore rev-list rev-parse rm
			shortlog show show-ref stash status switch symbolic-ref tag worktree
			cherry-pick=s,strategy clone=u,c,upload-pack,config,template fetch=upload-pack grep=O,open-files-in-pager
			ls-remote=exec,upload-pack merge=s,strategy pull=s,strategy,upload-pack push=exec,receive-pack
			rebase=x,s,exec,strategy remote revert=s,strategy`,
		"go": `build=G clean=G doc fmt get=G install=G list=G mod test=G version vet=G`,
		"gh": `api issue label pr release run search status workflow`,
	}, map[string]string{"G": "exec,toolexec,vettool,ldflags,gcflags,asmflags,gccgoflags,overlay,modfile"})

	// plain do so as long as all their words are plain.
	plain = listed(`
		black eslint flake8 isort jest make=eval,E mypy node=e,p,eval,print prettier pytest python=c python3=c
		ruff tsc vitest
	`, map[string]string{
		"cargo": `bench=config,Z build=config,Z check=config,Z clean=config clippy=config,Z doc=config,Z fmt=config,Z
			test=config,Z tree=config,Z update=config,Z`,
		"npm":  `audit=N ci=N install=N i=N list=N ls=N outdated=N pack=N publish=N run=N start=N t=N test=N view=N`,
		"pip":  `freeze install=P list show`,
		"pip3": `freeze install=P list show`,
		"pnpm": `audit install i list run test`, "yarn": `audit install list run test`,
		"terraform": `fmt graph output plan show validate version`,
	}, map[string]string{
		"N": "c,call,script-shell,shell,node-options,git,python,editor,viewer,browser,node-gyp,userconfig,globalconfig",
		"P": "python,config-settings,global-option",
	})
)

// divided are programs that do different things by their first word.
var withSubcommand = []string{"cargo", "gh", "git", "go", "npm", "pip", "pip3", "pnpm", "terraform", "yarn"}

// listed reads lists of programs: words, each with its options behind "=". Options that many
// share have a letter.
func listed(words string, of, shared map[string]string) map[string][]string {
	out := map[string][]string{}
	read := func(before, words string) {
		for word := range strings.FieldsSeq(words) {
			name, options, _ := strings.Cut(word, "=")
			if whole, ok := shared[options]; ok {
				options = whole
			}
			out[before+name] = strings.FieldsFunc(options, func(r rune) bool { return r == ',' })
		}
	}
	read("", words)
	for program, subcommands := range of {
		out[program] = nil
		read(program+" ", subcommands)
	}
	return out
}

// use says how a command uses its program.
type use int

const (
	unknownUse use = iota // it may run what its words or its input say
	plainUse              // it runs none of its words if they are plain
	textualUse            // it runs none of its words, and nothing of its input
)

// systemFolders hold the programs that are meant by their names alone.
var systemFolders = []string{"/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin", "/sbin", "/usr/sbin"}

// useOf looks a command up in the lists.
func useOf(words []string) use {
	name, rest := words[0], words[1:]
	if dir, base := path.Split(name); slices.Contains(systemFolders, path.Clean(dir)) {
		name = base
	}
	switch name {
	case "sed":
		return textualIf(readsAsSed(rest))
	case "awk", "gawk", "mawk", "nawk":
		return textualIf(readsAsAwk(rest))
	case "git":
		if slices.ContainsFunc(rest, func(w string) bool { return strings.Contains(w, "::") }) {
			return unknownUse // an address that names a program
		}
		rest = behindGitOptions(rest)
	}
	for _, list := range [...]struct {
		names map[string][]string
		use   use
	}{{textual, textualUse}, {plain, plainUse}} {
		key, args := name, rest
		carries, known := list.names[key]
		if len(rest) > 0 && slices.Contains(withSubcommand, name) {
			key, args = name+" "+rest[0], rest[1:]
			carries, known = list.names[key]
		}
		if known {
			if slices.ContainsFunc(args, func(w string) bool { return carriesOne(w, carries) }) {
				return unknownUse
			}
			return list.use
		}
	}
	return unknownUse
}

func textualIf(ok bool) use {
	if ok {
		return textualUse
	}
	return unknownUse
}

// behindGitOptions are the words from git's subcommand on, behind the options that do not change which command runs.
func behindGitOptions(words []string) []string {
	for len(words) > 0 {
		switch {
		case words[0] == "--no-pager":
			words = words[1:]
		case words[0] == "-C" && len(words) > 1:
			words = words[2:]
		default:
			return words
		}
	}
	return words
}

// carriesOne reports whether a word is one of these options, also shortened or with others.
func carriesOne(word string, options []string) bool {
	name, long := strings.CutPrefix(word, "--")
	if !long {
		if name, long = strings.CutPrefix(word, "-"); !long {
			return false
		}
		long = false
	}
	name, _, _ = strings.Cut(name, "=")
	return name != "" && slices.ContainsFunc(options, func(option string) bool {
		switch {
		case len(option) == 1 && !long:
			return strings.Contains(name, option)
		case long:
			return strings.HasPrefix(option, name)
		}
		return name == option
	})
}

var (
	// sedScript prints lines, deletes them, or replaces a text by another on one line; the flag e
	// and the command e would run something.
	sedScript = regexp.MustCompile(`^(?:[0-9$]*(?:,[0-9$]+)?[pdq=]|(?:[0-9$]+(?:,[0-9$]+)?)?s(?:/[^/\\\n]*/[^/\\\n]*/|\|[^|\\\n]*\|[^|\\\n]*\||#[^#\\\n]*#[^#\\\n]*#)[gpiI0-9]*)$`)
	sedOption = regexp.MustCompile(`^(?:-[nEr]+|-i(?:\.[a-z]+)?|-[nEr]+i)$`)
	// awkRuns are what an awk script needs to run something, or to read a script of a file.
	awkRuns = regexp.MustCompile(`system|[|@]`)
)

// readsAsSed reports whether sed is given one script, which runs nothing.
func readsAsSed(words []string) bool {
	for i, w := range words {
		if !sedOption.MatchString(w) {
			return sedScript.MatchString(w) && !slices.ContainsFunc(words[i+1:], isOption)
		}
	}
	return true
}

// readsAsAwk reports whether awk is given one script, which runs nothing.
func readsAsAwk(words []string) bool {
	for len(words) > 0 && strings.HasPrefix(words[0], "-F") {
		if words[0] == "-F" && len(words) > 1 {
			words = words[1:]
		}
		words = words[1:]
	}
	return len(words) == 0 ||
		!isOption(words[0]) && !awkRuns.MatchString(words[0]) && !slices.ContainsFunc(words[1:], isOption)
}

func isOption(word string) bool { return strings.HasPrefix(word, "-") && word != "-" }

// shellNames are those of shells, wherever they are named.
var shellNames = []string{
	"sh", "bash", "ash", "dash", "zsh", "ksh", "mksh", "lksh", "pdksh", "oksh", "rksh", "rbash", "rzsh", "csh", "tcsh",
	"fish", "osh", "ysh", "yash",
	"posh", "elvish", "xonsh", "nu", "nushell", "pwsh", "powershell", "cmd.exe", "ssh", "rsh",
}

// shellVersion is what may follow the name of a shell.
var shellVersion = regexp.MustCompile(`-?[0-9][0-9.]*$`)

// namesShell reports whether a word names a shell, in whatever folder, also as the value of an
// option.
func namesShell(word string) bool {
	for value := range strings.SplitSeq(word, "=") {
		name := strings.TrimPrefix(programName(value), "-")
		if slices.Contains(shellNames, name) ||
			slices.Contains(shellNames, shellVersion.ReplaceAllString(strings.TrimSuffix(name, ".exe"), "")) {
			return true
		}
	}
	return false
}

var (
	// operand are the letters of words that no program reads as several words.
	operand = regexp.MustCompile(`^[A-Za-z0-9_./:@%+,=-]*$`)
	// takesCommands are programs that take commands from their input, or from words put together.
	takesCommands = []string{"xargs", "zargs", "parallel", "busybox", "toybox", "eval", "entr", "crontab"}
	// beforeCommands are words that often precede a command.
	beforeCommands = []string{"exec", "run", "foreach", "shell", "do", "--", "-c", "-e", "-x", "-X"}
	longBefore     = regexp.MustCompile(`^--?(?:com|cmd|run|exe|cal|eval|shell|script|pre|post|on|hook)`)
)

// areOperands reports whether words can each only be one word to a program, and name nothing
// that takes commands from elsewhere.
func areOperands(words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool {
		return !operand.MatchString(w) || namesShell(w) || slices.Contains(takesCommands, programName(w))
	})
}

const mayRunWhy = "the command's program is not known to run no other one"

// doubtOf is why a program may run another one; empty: it does not. byName says that a condition may still name the
// program: nothing in its words looks like a command.
func doubtOf(words []string) (why string, byName bool) {
	name, args := words[0], words[1:]
	plainly := areOperands(args)
	elsewhere := strings.Contains(name, "/") || strings.ToLower(name) != name
	switch kind := useOf(words); {
	case elsewhere:
	case kind == textualUse, kind == unknownUse && len(args) == 0:
		return "", false
	case kind == plainUse && plainly && !slices.ContainsFunc(args, assigns):
		return "", false
	}
	return mayRunWhy, plainly && !isListed(programName(name)) && !slices.ContainsFunc(args, func(w string) bool {
		return slices.Contains(beforeCommands, w) || longBefore.MatchString(w)
	})
}

func assigns(word string) bool { return strings.Contains(word, "=") && !isOption(word) }

func isListed(name string) bool {
	_, one := textual[name]
	_, other := plain[name]
	return one || other
}

// addUse takes in what a program may run of its words that is not one that runs others by
// its kind.
func (c *command) addUse(words []string, depth int) {
	args := words[1:]
	textually := useOf(words) == textualUse
	shell := slices.IndexFunc(args, namesShell)
	switch {
	case shell >= 0 && (!textually || !areOperands(args[shell+1:])):
		c.add(args[shell:], depth)
		c.addScripts(args, depth)
		c.cannot(runsAnotherWhy)
	case textually:
	case areOperands(args):
		c.addOptions(args)
	default:
		c.addOptions(args)
		c.addHidden(args, depth)
	}
}

// addOptions takes in the words that may hold another one.
func (c *command) addOptions(words []string) {
	for _, w := range words {
		if strings.Contains(w, "=") || isOption(w) {
			c.wholes = append(c.wholes, w)
		}
	}
}

// addHidden finds commands in words that a program may run, and keeps that there may be others.
func (c *command) addHidden(words []string, depth int) {
	found := &command{}
	found.addScripts(words, depth)
	c.words, c.wholes = append(c.words, found.words...), append(c.wholes, found.wholes...)
	c.hide("a program that is not known to run no other one may read a command in its words")
}

func (c *command) hide(why string) {
	if c.hidden == "" {
		c.hidden = why
	}
}

// fed keeps that commands are given what may be commands to their programs.
func (c *command) fed(to syntax.Node) {
	syntax.Walk(to, func(node syntax.Node) bool {
		if call, ok := node.(*syntax.CallExpr); ok {
			words := c.literals(call.Args)
			for len(words) > 1 && slices.Contains(prefixes, programName(words[0])) {
				words = words[1:]
			}
			if len(words) > 0 && useOf(words) != textualUse {
				c.hide("a program that is not known to run no other one is given what it may run")
			}
		}
		return true
	})
}

// holdsWord reports whether a word that may hold another one holds this: -crm, --run=rm.
func holdsWord(word, want string) bool {
	if rest, short := strings.CutPrefix(word, "-"); short && !strings.HasPrefix(rest, "-") {
		if n := len(word) - len(want); n >= 2 && strings.EqualFold(word[n:], want) {
			return true
		}
	}
	_, values, _ := strings.Cut(word, "=")
	for value := range strings.SplitSeq(values, "=") {
		if value != "" && wordIs(value, want) == wordSame {
			return true
		}
	}
	return false
}
