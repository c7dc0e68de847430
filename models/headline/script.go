package headline

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// mostCommands is how many commands of a script are named.
const mostCommands = 6

// maxProgram is the longest word of a command that is shown, in bytes.
const maxProgram = 40

// script is what a shell finds in a text.
type script struct {
	text     string
	commands []string // each by its program, in their order
	parts    []part   // each as it is written
	comments bool
	short    string // the commands and how they hang together; empty: there are too many, or one would be left out
}

// readScript reads a text as Bash does; not ok: it can't be read, or shells would read
// something else.
func readScript(text string) (script, bool) {
	s := script{text: text}
	unclear := func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' || r == 0x7f || r == '\uFFFD' }
	// The parser goes on with the line behind a comment that ends in a backslash; shells do not.
	if strings.ContainsFunc(text, unclear) || strings.Contains(text, "#") && strings.Contains(text, "\\\n") {
		return s, false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash),
		syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
	if err != nil {
		return s, false
	}
	found := wholes{}
	syntax.Walk(file, func(node syntax.Node) bool {
		found.note(s, node)
		switch node := node.(type) {
		case *syntax.Comment:
			s.comments = true
		case *syntax.CallExpr:
			if len(node.Args) > 0 {
				s.commands, s.parts = append(s.commands, s.program(node)), append(s.parts, found.call(s, node))
			}
		case *syntax.DeclClause, *syntax.LetClause, *syntax.ArithmCmd, *syntax.TestClause:
			s.commands, s.parts = append(s.commands, s.cut(s.source(node))), append(s.parts, part{s.source(node), changes})
		}
		return true
	})
	if len(s.commands) <= mostCommands {
		count := 0
		if list := s.list(file.Stmts, &count); count == len(s.commands) {
			s.short = list
		}
	}
	return s, true
}

// subcommands are programs whose first argument says what they do.
var subcommands = []string{
	"apt", "apt-get", "aws", "az", "brew", "bundle", "cargo", "docker", "gcloud", "gh", "git", "go", "helm", "kubectl",
	"make", "npm", "pip", "pnpm", "podman",
	"systemctl", "terraform", "uv", "yarn",
}

// program is a command by its program, with "…" for what it leaves out.
func (s script) program(call *syntax.CallExpr) string {
	shown := s.cut(s.source(call.Args[0]))
	rest := call.Args[1:]
	if len(rest) > 0 && slices.Contains(subcommands, shown) {
		if word := s.source(rest[0]); word != "" && len(word) <= maxProgram &&
			strings.Trim(word, "abcdefghijklmnopqrstuvwxyz-") == "" && word[0] != '-' {
			shown, rest = shown+" "+word, rest[1:]
		}
	}
	if len(call.Assigns) > 0 {
		shown = "… " + shown
	}
	if len(rest) > 0 {
		shown += " …"
	}
	return shown
}

func (s script) source(node syntax.Node) string {
	return s.text[node.Pos().Offset():node.End().Offset()]
}

func (s script) cut(word string) string {
	if len(word) <= maxProgram {
		return word
	}
	return strings.ToValidUTF8(word[:maxProgram], "") + "…"
}

// list are statements as they follow each other, as far as they are calls, pipes and lists;
// listed counts the commands in it.
func (s script) list(stmts []*syntax.Stmt, count *int) string {
	var b strings.Builder
	for i, stmt := range stmts {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(s.stmt(stmt, count))
		switch {
		case stmt.Background:
			b.WriteString(" &")
		case i < len(stmts)-1:
			b.WriteByte(';')
		}
	}
	return b.String()
}

func (s script) stmt(stmt *syntax.Stmt, count *int) string {
	var out string
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		if len(cmd.Args) == 0 {
			return "…"
		}
		*count++
		out = s.program(cmd)
	case *syntax.BinaryCmd:
		out = s.stmt(cmd.X, count) + " " + cmd.Op.String() + " " + s.stmt(cmd.Y, count)
	default:
		return "…"
	}
	if stmt.Negated {
		out = "! " + out
	}
	if len(stmt.Redirs) > 0 && !strings.HasSuffix(out, "…") {
		out += " …"
	}
	return out
}
