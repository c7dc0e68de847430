package condition

import (
	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/parser"
	"mvdan.cc/sh/v3/syntax"
)

// allCommands lets all() walk the commands of a line: command(input).all(c, …) is
// command(input).commands.all(c, …).
func allCommands() cel.EnvOption {
	return cel.Macros(cel.ReceiverMacro("all", 2, func(eh parser.ExprHelper, target ast.Expr, args []ast.Expr) (ast.Expr, *common.Error) {
		if target.Kind() == ast.CallKind && target.AsCall().FunctionName() == "command" {
			target = eh.NewSelect(target, fieldCommands)
		}
		return parser.MakeAll(eh, target, args)
	}))
}

// commandsOf are all commands of a line, in their order. They are known only if the whole
// line is, and if it does nothing else: all of none is no answer, nor is a file that is written.
func commandsOf(c *command) (any, error) {
	switch {
	case c.unread != "":
		return nil, failed{c.unread}
	case c.usesFile:
		return nil, failed{"the command reads or writes a file beside its programs"}
	case len(c.each) == 0:
		return nil, failed{"there is no command"}
	}
	out := make([]ref.Val, len(c.each))
	for i, words := range c.each {
		one := &command{size: c.size, names: c.names}
		one.readWords(words)
		out[i] = opaque{commandType, one}
	}
	return out, nil
}

// toFile reports whether a redirection reads or writes a file, beside the one that is none.
func toFile(r *syntax.Redirect) bool {
	word, literal := literalWord(r.Word)
	switch {
	case r.Op == syntax.WordHdoc:
		return false
	case !literal || r.N != nil && r.N.Value != "1" && r.N.Value != "2":
		return true
	case r.Op == syntax.DplOut:
		return word != "1" && word != "2" && word != "-"
	}
	return word != "/dev/null"
}
