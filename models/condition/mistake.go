package condition

import (
	"slices"

	"cel.dev/cel-go/common/ast"
)

// mistakeIn finds mistakes that the library takes: a regular expression that an agent could send, which could
// be costly to compile; numbers and folders that can't be read; and a decimal that is not compared with another one. A
// text is never equal to a decimal, nor in a list of them, so such a condition would be false without a word.
func mistakeIn(source string, tree *ast.AST) (err error) {
	isDecimal := func(e ast.Expr) bool { return tree.GetType(e.ID()).IsExactType(decimalType) }
	compared := map[int64]bool{}
	ast.PreOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if err != nil {
			return
		}
		mistake := ""
		if e.Kind() == ast.CallKind {
			call := e.AsCall()
			args := call.Args()
			switch name := call.FunctionName(); {
			case name == "matches" && len(args) > 0 && args[len(args)-1].Kind() != ast.LiteralKind:
				mistake = "the regular expression of matches() must be written in the condition itself, in quotation marks"
			case name == funcDeletes:
				mistake = folderMistake(args[0])
			case name == funcDecimal:
				mistake = numberMistake(args[0])
			case name == funcBetween:
				compared[call.Target().ID()] = true
				mistake = betweenMistake(args)
			case slices.Contains(orders, name) && isDecimal(args[0]) && isDecimal(args[1]):
				compared[args[0].ID()], compared[args[1].ID()] = true, true
			}
		}
		if mistake == "" && isDecimal(e) && !compared[e.ID()] {
			mistake = `a decimal can only be compared with another one, as in decimal(input.amount) > decimal("100")`
		}
		if mistake != "" {
			name := ""
			if e.Kind() == ast.CallKind {
				name = e.AsCall().FunctionName()
			}
			f := newFault(source, tree.SourceInfo().GetStartLocation(e.ID()), name)
			f.Text, err = mistake, f
		}
	}))
	return err
}
