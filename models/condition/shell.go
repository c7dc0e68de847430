package condition

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxShells bounds how deep shells may be nested: sh -c "sh -c …".
const maxShells = 5

// The command that another command runs is read only where it is plain. Programs in these lists run others by their
// kind; of those in no list it is unknown.
var (
	// readable are shells whose scripts are read as Bash reads them.
	readable = []string{"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh"}
	// anyShell are names that look like one of a shell.
	anyShell = regexp.MustCompile(`^-?[a-z]{0,4}sh[0-9.-]*(\.exe)?$`)
	// scriptFlag is the option before a script.
	scriptFlag = regexp.MustCompile(`^-[lixeu]*c$`)

	// prefixes run the command behind them, with its words as they are.
	prefixes = []string{
		"sudo", "doas", "env", "nohup", "nice", "ionice", "time", "timeout", "setsid", "stdbuf", "command", "builtin", "exec",
		"chrt", "taskset",
	}
	// plainWords are words behind a prefix that no option of one reads as a command.
	plainWords = regexp.MustCompile(`^[A-Za-z0-9_./:@%+,-]*$`)

	// others run what their arguments, their input or a file says, or change what later
	// commands do.
	others = []string{
		"-", ".", "alias", "at", "batch", "bind", "busybox", "chroot", "cmd", "cmd.exe", "compgen", "complete", "compopt",
		"coproc", "crontab", "declare", "docker", "emulate",
		"enable", "entr", "eval", "export", "fakeroot", "fc", "flock", "function", "gosu", "hash", "history", "hyperfine",
		"kubectl", "let", "local", "ltrace",
		"mapfile", "nocorrect", "noglob", "npx", "nsenter", "parallel", "pkexec", "podman", "powershell", "proxychains",
		"readarray", "readonly", "repeat", "rlwrap",
		"runuser", "schedtool", "screen", "script", "set", "setarch", "setpriv", "sg", "shopt", "source", "start-stop-daemon",
		"strace", "su", "systemd-run",
		"tmux", "toybox", "trap", "typeset", "unbuffer", "unshare", "uvx", "watch", "xargs", "zargs", "genv", "gtimeout",
		"gnice", "gnohup",
	}
	// evaluators are builtins that evaluate the text in brackets of an argument.
	evaluators = []string{"test", "[", "printf", "print", "read", "unset", "wait", "getopts"}
	runsOthers = []string{"-exec", "-execdir", "-ok", "-okdir"} // of find, as arguments
)

const runsAnotherWhy = "the command runs another one"

// readLine reads a line as a shell would.
func (c *command) readLine(line string) {
	c.read(line, 0)
	switch {
	case c.unclear != "":
	case c.unread != "":
		c.unclear = c.unread
	case c.program == "":
		c.unclear = "there is no command"
	}
	if c.unclear != "" {
		c.program, c.args = "", nil
	}
}

// readWords reads a command that runs without a shell.
func (c *command) readWords(words []string) {
	c.simple(words)
	c.each = [][]string{words}
	c.add(words, 0)
	if c.unread != "" && c.unclear == "" {
		c.unclear = c.unread
	}
	if c.unclear != "" {
		c.program, c.args = "", nil
	}
}

// read takes the commands of a line in, at a depth of nested shells. What it does not know
// by its kind can't be read: shells differ in the rest, and evaluate what looks like text.
func (c *command) read(line string, depth int) {
	if depth > maxShells {
		c.cannot("shells are nested too deep to be read")
		return
	}
	if strings.ContainsFunc(line,
		func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' || r == 0x7f || r == '\uFFFD' }) {
		c.cannot("the command has characters that shells read differently")
		return
	}
	// The parser goes on with the line behind a comment that ends in a backslash; shells do not.
	if strings.Contains(line, "#") && strings.Contains(line, "\\\n") {
		c.cannot("the command may have a comment that shells end differently")
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		c.cannot("the command can't be read as a shell would")
		return
	}
	if depth == 0 {
		c.simpleLine(file)
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.Stmt:
			if slices.ContainsFunc(node.Redirs, func(r *syntax.Redirect) bool { return r.Op == syntax.WordHdoc }) &&
				node.Cmd != nil {
				c.fed(node.Cmd)
			}
		case *syntax.BinaryCmd:
			if node.Op == syntax.Pipe || node.Op == syntax.PipeAll {
				c.fed(node.Y)
			}
		case nil, *syntax.File, *syntax.Comment, *syntax.Subshell, *syntax.Block, *syntax.IfClause, *syntax.WhileClause,
			*syntax.CaseClause, *syntax.CaseItem, *syntax.WordIter, *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted:
		case *syntax.ForClause:
			if _, words := node.Loop.(*syntax.WordIter); !words || node.Select {
				c.cannot("the command has a loop that shells read differently")
			}
		case *syntax.CallExpr:
			if len(node.Assigns) > 0 {
				c.cannot("the command sets variables, which may change what is run")
			}
			words := c.literals(node.Args)
			if depth == 0 && len(words) > 0 {
				c.each = append(c.each, words)
			}
			c.add(words, depth)
		case *syntax.Word:
			if _, literal := literalWord(node); !literal {
				c.cannot("a part of the command is only known when it runs")
			}
		case *syntax.Redirect:
			if toFile(node) {
				c.usesFile = true
			}
			if node.Hdoc != nil {
				c.cannot("the command is given a text that a program may run")
			}
		default:
			c.cannot("a part of the command is only known when it runs")
		}
		return true
	})
}

// simpleLine takes the program and its arguments, if the line is one simple command.
func (c *command) simpleLine(file *syntax.File) {
	const notOne = "the line is not one simple command"
	if len(file.Stmts) != 1 {
		c.unclear = notOne
		return
	}
	s := file.Stmts[0]
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Negated || s.Background || s.Coprocess || s.Disown || s.Semicolon.IsValid() || len(s.Redirs) > 0 ||
		len(call.Assigns) > 0 {
		c.unclear = notOne
		return
	}
	words := make([]string, len(call.Args))
	for i, w := range call.Args {
		if words[i], ok = literalWord(w); !ok {
			c.unclear = "a part of the command is only known when it runs"
			return
		}
	}
	c.simple(words)
}

// simple takes a program and its arguments, unless it runs another.
func (c *command) simple(words []string) {
	switch {
	case len(words) == 0 || words[0] == "":
		c.unclear = "there is no command"
	case runsAnother(words):
		c.unclear = runsAnotherWhy
	default:
		c.program, c.args = words[0], append([]string{}, words[1:]...)
		c.doubt, c.byName = doubtOf(words)
	}
}

func runsAnother(words []string) bool {
	name := programName(words[0])
	return anyShell.MatchString(name) || slices.Contains(prefixes, name) || slices.Contains(others, name) ||
		findRuns(words)
}

func findRuns(words []string) bool {
	return slices.ContainsFunc(words[1:], func(w string) bool { return slices.Contains(runsOthers, w) })
}

func programName(word string) string { return strings.ToLower(path.Base(word)) }

// literals are the words of a command that are known as they are written.
func (c *command) literals(args []*syntax.Word) []string {
	var out []string
	for _, w := range args {
		text, ok := literalWord(w)
		if !ok {
			text = "" // which the walk finds again, and says so
		}
		out = append(out, text)
	}
	return out
}

// add takes the words of one command in, and what they say that it runs.
func (c *command) add(words []string, depth int) {
	c.words = append(c.words, words...)
	if depth > 0 {
		c.inner = append(c.inner, words...)
	}
	if len(words) == 0 {
		return
	}
	switch name := programName(words[0]); {
	case slices.Contains(readable, name) && len(words) > 2 && scriptFlag.MatchString(words[1]) &&
		!strings.HasPrefix(words[2], "-") && !strings.HasPrefix(words[2], "+"):
		c.read(words[2], depth+1)
	case anyShell.MatchString(name), slices.Contains(others, name):
		c.addScripts(words[1:], depth)
		c.cannot("a shell, or a program that runs others, reads its commands from somewhere else")
	case slices.Contains(prefixes, name):
		c.addBehind(words[1:], depth)
	case findRuns(words):
		c.addBehind(words[1:], depth)
	case slices.Contains(evaluators, name) &&
		slices.ContainsFunc(words[1:], func(w string) bool { return w != "]" && strings.ContainsAny(w, "[$`(") }):
		c.cannot("a part of the command is only known when it runs")
	default:
		c.addUse(words, depth)
	}
}

// addBehind takes in what a prefix runs: words that are plain are those of a command. All
// others may be read by the prefix in its own way.
func (c *command) addBehind(words []string, depth int) {
	for _, w := range words {
		name := programName(w)
		if !plainWords.MatchString(w) || strings.HasPrefix(w, "-S") || strings.HasPrefix(w, "--s") ||
			anyShell.MatchString(name) || slices.Contains(others, name) ||
			slices.Contains(evaluators, name) || w == "-s" || w == "-i" {
			c.addScripts(words, depth)
			c.cannot(runsAnotherWhy)
			return
		}
	}
	c.addOptions(words)
}

// addScripts finds commands in words that may be scripts.
func (c *command) addScripts(words []string, depth int) {
	if depth >= maxShells {
		return
	}
	for _, w := range words {
		if strings.ContainsAny(w, " \t\n;|&<>$`()\\'\"") {
			c.read(w, depth+1)
		}
	}
}

// cannot keeps the first reason.
func (c *command) cannot(why string) {
	if c.unread == "" {
		c.unread = why
	}
}

// literalWord is a word as its program gets it, if that is known from how it is written.
func literalWord(w *syntax.Word) (string, bool) {
	var b strings.Builder
	for i, part := range w.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			text, ok := plainLiteral(part.Value, i == 0)
			if !ok {
				return "", false
			}
			b.WriteString(text)
		case *syntax.SglQuoted:
			if part.Dollar {
				return "", false
			}
			b.WriteString(part.Value)
		case *syntax.DblQuoted:
			text, ok := quotedLiteral(part)
			if !ok {
				return "", false
			}
			b.WriteString(text)
		default:
			return "", false
		}
	}
	return b.String(), true
}

// plainLiteral undoes the backslashes of text outside quotation marks. Text that a shell would expand is not literal:
// patterns, braces, the home folder, and = in zsh.
func plainLiteral(text string, first bool) (string, bool) {
	if first && text != "" && (text[0] == '~' || text[0] == '=') {
		return "", false
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			if i++; i == len(text) {
				return "", false
			}
			if text[i] != '\n' {
				b.WriteByte(text[i])
			}
		case '*', '?', '{', '}':
			return "", false
		case '[':
			if text != "[" { // the program of that name
				return "", false
			}
			b.WriteByte('[')
		case '^', '#', '!':
			if i == 0 {
				return "", false
			}
			b.WriteByte(text[i])
		case ':', '=':
			// ~ is expanded behind these too, in an assignment.
			if i+1 < len(text) && text[i+1] == '~' {
				return "", false
			}
			b.WriteByte(text[i])
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String(), true
}

func quotedLiteral(q *syntax.DblQuoted) (string, bool) {
	if q.Dollar {
		return "", false
	}
	var b strings.Builder
	for _, part := range q.Parts {
		lit, ok := part.(*syntax.Lit)
		if !ok {
			return "", false
		}
		text := lit.Value
		for i := 0; i < len(text); i++ {
			if text[i] == '\\' && i+1 < len(text) && strings.IndexByte("$`\"\\\n", text[i+1]) >= 0 {
				if i++; text[i] == '\n' {
					continue
				}
			}
			b.WriteByte(text[i])
		}
	}
	return b.String(), true
}
