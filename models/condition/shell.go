package condition

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// maxShells bounds how deep shells may be nested: sh -c "sh -c …".
const maxShells = 5

// Programs that run what their arguments say, so that the arguments of a command with one
// of them are not simply arguments.
var (
	shells   = []string{"sh", "bash", "zsh", "dash", "ash", "ksh", "mksh", "fish", "csh", "tcsh", "rbash", "pwsh", "powershell", "cmd", "cmd.exe"}
	wrappers = []string{
		".", "alias", "at", "batch", "bind", "builtin", "busybox", "chroot", "chrt", "command", "complete", "coproc", "docker", "doas", "enable",
		"entr", "env", "eval", "exec", "flock", "function", "ionice", "kubectl", "ltrace", "mapfile", "nice", "nocorrect", "noglob", "nohup", "npx", "nsenter",
		"parallel", "pkexec", "podman", "proxychains", "readarray", "rsh", "runuser", "schedtool", "screen", "script", "setarch", "setpriv", "setsid", "source",
		"ssh", "start-stop-daemon", "stdbuf", "strace", "su", "sudo", "systemd-run", "taskset", "time", "timeout", "tmux", "toybox", "trap", "unbuffer",
		"unshare", "uvx", "watch", "xargs",
	}
	runsOthers = []string{"-exec", "-execdir", "-ok", "-okdir"} // of find, as arguments
)

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

// readWords reads what is run without a shell.
func (c *command) readWords(words []string) {
	c.simple(words)
	c.add(words, 0)
	if c.unread != "" && c.unclear == "" {
		c.unclear = c.unread
	}
}

// read takes the commands of a line in, at a depth of nested shells.
func (c *command) read(line string, depth int) {
	if depth > maxShells {
		c.cannot("shells are nested too deep to be read")
		return
	}
	if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' || r == 0x7f || r == '\uFFFD' }) {
		c.cannot("the command has characters that shells read differently")
		return
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
		case *syntax.CallExpr:
			c.add(c.literals(node.Args), depth)
		case *syntax.DeclClause: // declare, export and their like
			c.words = append(c.words, node.Variant.Value)
		case *syntax.FuncDecl:
			c.cannot("the command defines a function")
		case *syntax.Word:
			if _, literal := literalWord(node); !literal {
				c.cannot("a part of the command is only known when it runs")
			}
		case *syntax.Redirect:
			if node.Hdoc != nil && onlyText(node.Hdoc) {
				return false // what a program reads is no command; a shell that reads is told apart
			}
		}
		return true
	})
}

// onlyText reports whether nothing in a text is expanded.
func onlyText(w *syntax.Word) bool {
	return !slices.ContainsFunc(w.Parts, func(p syntax.WordPart) bool { _, lit := p.(*syntax.Lit); return !lit })
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
	if !ok || s.Negated || s.Background || s.Coprocess || s.Disown || s.Semicolon.IsValid() || len(s.Redirs) > 0 || len(call.Assigns) > 0 {
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
		c.unclear = "the command runs another one"
	default:
		c.program, c.args = words[0], append([]string{}, words[1:]...)
	}
}

func runsAnother(words []string) bool {
	name := programName(words[0])
	if slices.Contains(shells, name) || slices.Contains(wrappers, name) {
		return true
	}
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
	for i, word := range words {
		name := programName(word)
		switch {
		case i > 0 && !runsAnother(words):
			return
		case slices.Contains(shells, name):
			c.addShell(words[i+1:], depth)
			return
		case name == "alias" || name == "source" || name == "." || name == "bind" || name == "enable":
			c.cannot("the command changes what others do")
			return
		case name == "eval":
			c.read(strings.Join(words[i+1:], " "), depth+1)
			return
		case i > 0 && strings.ContainsAny(word, " \t\n;|&<>$`()"):
			c.read(word, depth+1) // as ssh, watch and trap take their commands
		}
	}
}

// addShell reads what a shell is told to run. One that reads it from somewhere else can't
// be read.
func (c *command) addShell(args []string, depth int) {
	for i, arg := range args {
		if !strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "+") {
			break
		}
		if !strings.HasPrefix(arg, "--") && strings.Contains(arg, "c") {
			for _, script := range args[i+1:] {
				if !strings.HasPrefix(script, "-") {
					c.read(script, depth+1)
					return
				}
			}
		}
	}
	c.cannot("a shell reads its commands from somewhere else")
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

// plainLiteral undoes the backslashes of what is not in quotation marks. What a shell would
// expand is not literal: patterns, braces, the home folder, and = in zsh.
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
		case '*', '?', '[', '{', '}', '^', '#', '!':
			if (text[i] == '#' || text[i] == '!' || text[i] == '^') && i > 0 {
				b.WriteByte(text[i])
				continue
			}
			return "", false
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
