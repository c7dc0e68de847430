package condition

import (
	"regexp"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
)

// shapes is what expressions are parsed in to be read back: without macros, so that all(…) stays as it is written.
var shapes = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(cel.ClearMacros(), cel.ParserExpressionSizeLimit(MaxSource), cel.ParserRecursionLimit(maxNesting))
})

func parsed(source string) (ast.Expr, bool) {
	env, err := shapes()
	if err != nil || len(source) > MaxSource {
		return nil, false
	}
	tree, issues := env.Parse(source)
	if issues.Err() != nil {
		return nil, false
	}
	return tree.NativeRep().Expr(), true
}

var (
	quotations = regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'`)
	// unusual are comments, which would be lost, and texts in other quotation marks, which could look as if one were in
	// them.
	unusual = regexp.MustCompile(`//|[rRbB]"|""`)
)

// Read reads an expression as a form has it; an empty one has no rows. Not ok: no form can show it, and it must be left
// as it is. Written again it means the same, though it may be spelled otherwise.
func Read(source string) (built Built, ok bool) {
	if strings.TrimSpace(source) == "" {
		return Built{}, true
	}
	if unusual.MatchString(quotations.ReplaceAllLiteralString(source, `"`)) {
		return Built{}, false
	}
	expr, ok := parsed(source)
	if !ok {
		return Built{}, false
	}
	if built, ok = readGroups(expr); !ok {
		return Built{}, false
	}
	if _, err := built.CEL(); err != nil {
		return Built{}, false
	}
	return built, true
}

func readGroups(expr ast.Expr) (Built, bool) {
	outer, inner := operators.LogicalAnd, operators.LogicalOr
	either := isCall(expr, inner, 2)
	if either {
		outer, inner = inner, outer
	}
	out := Built{Any: either}
	for _, part := range operands(expr, outer) {
		var group Group
		for _, e := range operands(part, inner) {
			row, ok := readRow(e)
			if !ok {
				return Built{}, false
			}
			group = append(group, row)
		}
		out.Groups = append(out.Groups, group)
	}
	return out, true
}

// operands are those of a chain of && or ||, however the parser has put it together.
func operands(expr ast.Expr, operator string) []ast.Expr {
	if !isCall(expr, operator, 2) {
		return []ast.Expr{expr}
	}
	args := expr.AsCall().Args()
	return append(operands(args[0], operator), operands(args[1], operator)...)
}

// isCall reports whether an expression is a call of a function or operator, not of a member.
func isCall(expr ast.Expr, function string, args int) bool {
	if expr.Kind() != ast.CallKind {
		return false
	}
	call := expr.AsCall()
	return !call.IsMemberFunction() && call.FunctionName() == function && len(call.Args()) == args
}

func readRow(expr ast.Expr) (Row, bool) {
	if expr.Kind() != ast.CallKind {
		return Row{}, false
	}
	call := expr.AsCall()
	if call.IsMemberFunction() {
		return readMethod(call)
	}
	args := call.Args()
	if len(args) != 2 {
		return Row{}, false
	}
	if call.FunctionName() == operators.In {
		return readIn(args[0], args[1])
	}
	for op, sign := range signs {
		if call.FunctionName() == sign.function {
			return readComparison(op, args[0], args[1])
		}
	}
	return Row{}, false
}

// readIn reads "x" in input.list, and input.text in ["x", "y"].
func readIn(left, right ast.Expr) (Row, bool) {
	if value, ok := textIn(left); ok {
		m, ok := memberOfInput(right)
		return Row{m, Contains, KindList, []string{value}}, ok
	}
	m, ok := subjectIn(left)
	values, isList := textsIn(right)
	return Row{m, OneOf, KindText, values}, ok && isList
}

// readComparison reads the operators between two sides.
func readComparison(op Op, left, right ast.Expr) (Row, bool) {
	if isCall(left, funcDecimal, 1) && isCall(right, funcDecimal, 1) {
		m, ok := memberOfInput(left.AsCall().Args()[0])
		value, written := textIn(right.AsCall().Args()[0])
		return Row{m, op, KindNumber, []string{value}}, ok && written
	}
	if op != Is && op != IsNot {
		return Row{}, false
	}
	if right.Kind() == ast.LiteralKind {
		if b, ok := right.AsLiteral().(types.Bool); ok {
			m, ok := memberOfInput(left)
			value := "false"
			if b {
				value = "true"
			}
			return Row{m, op, KindBool, []string{value}}, ok
		}
	}
	value, ok := textIn(right)
	if !ok {
		return Row{}, false
	}
	values := []string{value}
	if m, ok := subjectIn(left); ok {
		return Row{m, op, KindText, values}, true
	}
	if op == Is && isCall(left, "host", 1) {
		m, ok := memberOfInput(left.AsCall().Args()[0])
		return Row{m, HostIs, KindText, values}, ok
	}
	if op == Is && left.Kind() == ast.SelectKind && left.AsSelect().FieldName() == fieldProgram {
		m, ok := commandIn(left.AsSelect().Operand())
		return Row{m, ProgramIs, KindText, values}, ok
	}
	return Row{}, false
}

// readMethod reads calls of members, such as input.text.contains("x").
func readMethod(call ast.CallExpr) (Row, bool) {
	target, args := call.Target(), call.Args()
	var values []string
	for _, arg := range args {
		if value, ok := textIn(arg); ok {
			values = append(values, value)
		}
	}
	row := Row{Kind: KindText, Values: values}
	ok := len(values) == len(args)
	var found bool
	switch call.FunctionName() {
	case "contains":
		row.Op = Contains
		row.Subject, found = subjectIn(target)
	case "startsWith":
		row.Op = StartsWith
		row.Subject, found = subjectIn(target)
	case funcBetween:
		row.Op, row.Kind = Between, KindNumber
		row.Subject, found = argumentOf(funcDecimal, target)
	case "within":
		row.Op = Within
		row.Subject, found = argumentOf("path", target)
	case funcDeletes:
		row.Op = DeletesOutside
		row.Subject, found = commandIn(target)
	case "all":
		row.Op = EveryProgram
		row.Subject, found = commandIn(target)
		row.Values, ok = programsIn(args)
	}
	return row, ok && found
}

// programsIn reads the arguments of all: c, c.program in ["a", "b"].
func programsIn(args []ast.Expr) ([]string, bool) {
	if len(args) != 2 || args[0].Kind() != ast.IdentKind || !isCall(args[1], operators.In, 2) {
		return nil, false
	}
	in := args[1].AsCall().Args()
	if in[0].Kind() != ast.SelectKind {
		return nil, false
	}
	program := in[0].AsSelect()
	if program.FieldName() != fieldProgram || program.Operand().Kind() != ast.IdentKind ||
		program.Operand().AsIdent() != args[0].AsIdent() {
		return nil, false
	}
	return textsIn(in[1])
}

// argumentOf is the member that a helper is called with.
func argumentOf(function string, expr ast.Expr) (string, bool) {
	if !isCall(expr, function, 1) {
		return "", false
	}
	return memberOfInput(expr.AsCall().Args()[0])
}

// commandIn is the subject of a call of command().
func commandIn(expr ast.Expr) (string, bool) {
	if !isCall(expr, "command", 1) {
		return "", false
	}
	arg := expr.AsCall().Args()[0]
	if arg.Kind() == ast.IdentKind && arg.AsIdent() == varInput {
		return SubjectCommand, true
	}
	return memberOfInput(arg)
}

// subjectIn is a name or a member.
func subjectIn(expr ast.Expr) (string, bool) {
	if expr.Kind() == ast.IdentKind {
		for _, name := range callTexts {
			if expr.AsIdent() == name {
				return name, true
			}
		}
	}
	return memberOfInput(expr)
}

// memberOfInput is the path of a member.
func memberOfInput(expr ast.Expr) (string, bool) {
	steps, ok := stepsOf(expr)
	return MemberPath(steps...), ok && len(steps) > 0
}

// stepsOf are the names on the way from the input to a member.
func stepsOf(expr ast.Expr) ([]string, bool) {
	switch expr.Kind() { //nolint:exhaustive // all others are no members
	case ast.IdentKind:
		return nil, expr.AsIdent() == varInput
	case ast.SelectKind:
		steps, ok := stepsOf(expr.AsSelect().Operand())
		return append(steps, expr.AsSelect().FieldName()), ok
	case ast.CallKind:
		if !isCall(expr, operators.Index, 2) {
			return nil, false
		}
		args := expr.AsCall().Args()
		steps, ok := stepsOf(args[0])
		step, named := textIn(args[1])
		return append(steps, step), ok && named
	}
	return nil, false
}

func textIn(expr ast.Expr) (string, bool) {
	if expr.Kind() != ast.LiteralKind {
		return "", false
	}
	return textOf(expr.AsLiteral())
}

func textsIn(expr ast.Expr) ([]string, bool) {
	if expr.Kind() != ast.ListKind {
		return nil, false
	}
	var out []string
	for _, e := range expr.AsList().Elements() {
		text, ok := textIn(e)
		if !ok {
			return nil, false
		}
		out = append(out, text)
	}
	return out, true
}
