package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// goTexts collects the texts of one Go source, or of Go within a template.
type goTexts struct {
	file  string
	set   *token.FileSet
	above []ast.Node // from the file down to the node at hand
	out   []text
}

// readGo reads the string literals of a Go file that are texts, and what tags say of a field.
func readGo(name, source string) ([]text, error) {
	g := goTexts{file: name, set: token.NewFileSet()}
	file, err := parser.ParseFile(g.set, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	g.walk(file)
	return g.out, nil
}

func (g *goTexts) walk(root ast.Node) {
	ast.Inspect(root, func(n ast.Node) bool {
		if n == nil {
			g.above = g.above[:len(g.above)-1]
			return true
		}
		if g.leaf(n) {
			return false
		}
		g.above = append(g.above, n)
		return true
	})
}

// leaf reports whether nothing below a node is to be looked at: it is a text, or no place for one.
func (g *goTexts) leaf(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ImportSpec:
		return true
	case *ast.Field:
		g.tag(n)
	case *ast.BasicLit:
		return g.isTag(n) || n.Kind == token.STRING && g.literal(n)
	case *ast.CallExpr:
		return noText(n)
	case *ast.BinaryExpr:
		if n.Op == token.EQL || n.Op == token.NEQ {
			return true // compared, not shown
		}
		return n.Op == token.ADD && g.literal(n)
	case *ast.IndexExpr:
		return isString(n.Index) // a key
	}
	return false
}

// Calls whose arguments no person reads: patterns, SQL, and what would be a mistake in the program.
var (
	patterns = []string{"MustCompile", "Compile", "panic", "Getenv", "LookupEnv", "HasPrefix", "HasSuffix", "Contains", "Index", "Cut", "Split", "SplitSeq", "TrimPrefix", "TrimSuffix", "EqualFold"}
	queries  = []string{"Where", "Joins", "Select", "Order", "Group", "Raw", "Exec", "ExecContext", "Query", "QueryContext", "QueryRow", "Preload", "Having", "Or", "Not", "Expr", "Statement", "Prepare", "Table", "Omit"}
)

func noText(call *ast.CallExpr) bool {
	name := called(call)
	return slices.Contains(patterns, name) || slices.Contains(queries, name) && len(call.Args) > 0 && isString(call.Args[0])
}

// literal adds what a literal, or several joined by +, says. It reports whether the node is such a text.
func (g *goTexts) literal(n ast.Expr) bool {
	if !isString(n) {
		return false
	}
	said := constant(n)
	if isPhrase(said) || isLabel(said) && g.labels() {
		g.out = append(g.out, text{Kind: g.kind(), File: g.file, Line: g.set.Position(n.Pos()).Line, Text: said})
	}
	if b, ok := n.(*ast.BinaryExpr); ok {
		g.within(b)
	}
	return true
}

// within looks at what is joined to a text by +: a call among it may have texts itself.
func (g *goTexts) within(b *ast.BinaryExpr) {
	for _, side := range []ast.Expr{b.X, b.Y} {
		switch side := side.(type) {
		case *ast.BasicLit:
		case *ast.BinaryExpr:
			g.within(side)
		default:
			g.walk(side)
		}
	}
}

// labels reports whether a single word with a capital is a text here, and not a header or a name.
func (g *goTexts) labels() bool {
	if call, ok := g.parent().(*ast.CallExpr); ok && slices.Contains([]string{"Get", "Set", "Add", "Del", "Values"}, called(call)) {
		return false
	}
	return strings.HasPrefix(g.file, "views/") || strings.HasPrefix(g.file, "handlers/web/") || strings.HasPrefix(g.file, "models/")
}

func (g *goTexts) parent() ast.Node {
	if len(g.above) == 0 {
		return nil
	}
	return g.above[len(g.above)-1]
}

// isTag reports whether a literal is the tag of a field, which tag has read.
func (g *goTexts) isTag(n *ast.BasicLit) bool {
	field, ok := g.parent().(*ast.Field)
	return ok && field.Tag == n
}

// tag adds what a struct's tags say to people: the documentation of a member.
func (g *goTexts) tag(field *ast.Field) {
	if field.Tag == nil {
		return
	}
	raw, err := strconv.Unquote(field.Tag.Value)
	if err != nil {
		return
	}
	for _, key := range []string{"doc", "description", "jsonschema"} {
		found := regexp.MustCompile(key + `:"((?:[^"\\]|\\.)*)"`).FindStringSubmatch(raw)
		if found != nil && isPhrase(found[1]) {
			g.out = append(g.out, text{Kind: kindAPI, File: g.file, Line: g.set.Position(field.Tag.Pos()).Line, Text: found[1]})
		}
	}
}

var (
	logs     = []string{"Debug", "Info", "Warn", "Error", "DebugContext", "InfoContext", "WarnContext", "ErrorContext", "Log", "LogAttrs"}
	failures = []string{"Errorf", "Invalid", "NotFound"}
	flagHelp = regexp.MustCompile(`^(String|Bool|Int|Int64|Uint|Duration|StringSlice|StringArray|Float64|Count)?(Var)?P?$`)
	helps    = []string{"Use", "Short", "Long", "Example"}
)

// kind says where a text is met: by what it is an argument or a field of, else by its folder.
func (g *goTexts) kind() kind {
	if strings.Contains(g.file, "/mail") || strings.Contains(g.file, "/notify") {
		return kindMessage
	}
	for _, n := range slices.Backward(g.above) {
		switch n := n.(type) {
		case *ast.CallExpr:
			name := called(n)
			switch {
			case slices.Contains(logs, name) && strings.Contains(strings.ToLower(receiver(n)), "log"):
				return kindLog
			case slices.Contains(failures, name) || name == "New" && receiver(n) == "errors":
				return kindError
			case strings.HasPrefix(g.file, "cmd/") && flagHelp.MatchString(name) && strings.Contains(strings.ToLower(receiver(n)), "flags"):
				return kindHelp
			}
		case *ast.CompositeLit:
			if strings.HasSuffix(typeName(n.Type), "Error") {
				return kindError
			}
		case *ast.KeyValueExpr:
			if key, ok := n.Key.(*ast.Ident); ok && strings.HasPrefix(g.file, "cmd/") && slices.Contains(helps, key.Name) {
				return kindHelp
			}
		}
	}
	return kindOf(g.file)
}

// kindOf is the kind of a text by its file alone.
func kindOf(file string) kind {
	for _, of := range []struct {
		beginning string
		kind      kind
	}{
		{"views/", kindPage},
		{"handlers/web/", kindNotice},
		{"handlers/api/", kindAPI},
		{"cmd/", kindOutput},
	} {
		if strings.HasPrefix(file, of.beginning) {
			return of.kind
		}
	}
	return kindWord
}

// called is the name of what is called, without its package or receiver.
func called(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// receiver is the part of a call before its last dot: `log`, `errors`, `cmd.Flags`.
func receiver(call *ast.CallExpr) string {
	if f, ok := call.Fun.(*ast.SelectorExpr); ok {
		return typeName(f.X)
	}
	return ""
}

// typeName spells the identifiers of an expression, outermost last.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return typeName(e.X) + "." + e.Sel.Name
	case *ast.CallExpr:
		return typeName(e.Fun)
	case *ast.StarExpr:
		return typeName(e.X)
	}
	return ""
}

// isString reports whether an expression is a literal, or a sum with one.
func isString(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.BasicLit:
		return e.Kind == token.STRING
	case *ast.BinaryExpr:
		return e.Op == token.ADD && (isString(e.X) || isString(e.Y))
	case *ast.ParenExpr:
		return isString(e.X)
	}
	return false
}

// constant spells an expression of strings, with an ellipsis for what is known only at run time.
func constant(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if said, err := strconv.Unquote(e.Value); err == nil {
			return said
		}
	case *ast.BinaryExpr:
		return constant(e.X) + constant(e.Y)
	case *ast.ParenExpr:
		return constant(e.X)
	}
	return "…"
}
