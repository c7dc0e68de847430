package main

import (
	"go/ast"
	"regexp"
	"slices"
	"strings"
)

// needsByName are tests that keep the race detector whatever their source is: those of an
// invariant, and those whose name says that things happen at once.
var needsByName = regexp.MustCompile(`I\d+|Race|Concurrent|AtOnce|Beside|Parallel`)

// These lines of a doc comment say of a declaration what its source does not show, with the reason:
//
//	//tests:apart its goroutine only reads the console
//	//tests:at-once two tabs of one person listen and load
//
// Of a declaration that is apart nothing counts. A test of an invariant may be apart as well.
const (
	isApart  = "//tests:apart "
	isAtOnce = "//tests:at-once "
)

// source is what the tests of a folder declare, by name, methods as ".Name". Two methods of one
// name count as one: which of them a test means would take types to tell, and to mistake one for
// the other only keeps the race detector for a test more.
type source map[string]*declaration

type declaration struct {
	isTest, apart bool
	atOnce        string   // what it does at once itself; empty: nothing
	mentions      []string // names in it, some of which may be declared in the same tests
}

func (s source) named(name string) *declaration {
	if s[name] == nil {
		s[name] = &declaration{}
	}
	return s[name]
}

// read adds what a file declares.
func (s source) read(file *ast.File) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				if name = "." + name; d.Name.IsExported() { // it may be called by an interface, so its type has it
					of := s.named(receiver(d))
					of.mentions = append(of.mentions, name)
				}
			}
			s.add(name, d, d.Doc)
			s[name].isTest = isTest(d)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					s.add(spec.Name.Name, spec, d.Doc, spec.Doc)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						s.add(name.Name, spec, d.Doc, spec.Doc)
					}
				}
			}
		}
	}
}

func (s source) add(name string, node ast.Node, docs ...*ast.CommentGroup) {
	d := s.named(name)
	if says(isApart, docs...) {
		d.apart = true
		return
	}
	if says(isAtOnce, docs...) {
		d.atOnce = "a comment that says so"
	}
	harmless := map[ast.Stmt]bool{}
	if f, ok := node.(*ast.FuncDecl); ok && isTest(f) {
		harmless = parallelButApart(f)
	}
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			if says(isApart, n.Doc) {
				return false
			}
		case *ast.ExprStmt:
			if harmless[n] {
				return false
			}
		case *ast.SelectorExpr:
			d.mentions = append(d.mentions, "."+n.Sel.Name)
		case *ast.Ident:
			d.mentions = append(d.mentions, n.Name)
		}
		if what := atOnce(n); what != "" {
			d.atOnce = what
		} else if isCallOf(n, "Parallel") {
			d.atOnce = "subtests at once"
		}
		return true
	})
}

// why says why a test needs the race detector; empty: it does not.
func (s source) why(test string) string {
	if s[test].apart {
		return ""
	}
	if name := needsByName.FindString(test); name != "" {
		return "its name has " + name
	}
	way := map[string]string{test: test} // to what is reached
	for next := []string{test}; len(next) > 0; next = next[1:] {
		d := s[next[0]]
		if d.atOnce != "" {
			return way[next[0]] + " has " + d.atOnce
		}
		for _, name := range d.mentions {
			if way[name] == "" && s[name] != nil {
				way[name] = way[next[0]] + " > " + name
				next = append(next, name)
			}
		}
	}
	return ""
}

// tests are the names of the tests that need the race detector, or of those that do not, in order.
func (s source) tests(detector bool) (names []string) {
	for name, d := range s {
		if d.isTest && detector == (s.why(name) != "") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// parallelButApart are the calls of t.Parallel by which nothing is done at once to one thing:
// that of a test itself, for each test makes what it tests, and those of subtests that use
// nothing which the test around them got from a call.
func parallelButApart(test *ast.FuncDecl) map[ast.Stmt]bool {
	harmless := map[ast.Stmt]bool{}
	mark := func(body *ast.BlockStmt) {
		for _, stmt := range body.List {
			if s, ok := stmt.(*ast.ExprStmt); ok && isCallOf(s.X, "Parallel") {
				harmless[stmt] = true
			}
		}
	}
	mark(test.Body)
	ast.Inspect(test.Body, func(n ast.Node) bool {
		if isCallOf(n, "Run") && len(n.(*ast.CallExpr).Args) == 2 {
			subtest, ok := n.(*ast.CallExpr).Args[1].(*ast.FuncLit)
			if ok && !usesAny(subtest, fromCalls(test.Body, subtest)) {
				mark(subtest.Body)
			}
		}
		return true
	})
	return harmless
}

// fromCalls are the names in a test, but for one subtest of it, whose values come from a call.
func fromCalls(test *ast.BlockStmt, but ast.Node) map[string]bool {
	names := map[string]bool{}
	ast.Inspect(test, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if name, ok := left.(*ast.Ident); ok && slices.ContainsFunc(n.Rhs, hasCall) {
					names[name.Name] = true
				}
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				names[name.Name] = names[name.Name] || slices.ContainsFunc(n.Values, hasCall)
			}
		}
		return n != but
	})
	return names
}

func usesAny(n ast.Node, names map[string]bool) bool {
	return first(n, func(n ast.Node) string {
		if name, ok := n.(*ast.Ident); ok && names[name.Name] {
			return name.Name
		}
		return ""
	}) != ""
}

func hasCall(e ast.Expr) bool {
	return first(e, func(n ast.Node) string {
		if _, ok := n.(*ast.CallExpr); ok {
			return "a call"
		}
		return ""
	}) != ""
}

// first is what the first node of a tree has that has any of it.
func first(tree ast.Node, of func(ast.Node) string) (what string) {
	ast.Inspect(tree, func(n ast.Node) bool {
		if n != nil && what == "" {
			what = of(n)
		}
		return what == ""
	})
	return what
}

// atOnce is what a node has to do with goroutines; empty: nothing.
func atOnce(n ast.Node) string {
	switch n := n.(type) {
	case *ast.ChanType:
		return "a channel"
	case *ast.ImportSpec:
		if n.Path.Value == `"sync/atomic"` {
			return "atomics"
		}
	case *ast.SelectorExpr:
		x, ok := n.X.(*ast.Ident)
		if ok && (x.Name == "atomic" || x.Name == "sync" && !strings.HasPrefix(n.Sel.Name, "Once")) {
			return x.Name + "." + n.Sel.Name
		}
	}
	return starts(n)
}

// starts is how a node starts a goroutine; empty: it does not.
func starts(n ast.Node) string {
	if _, ok := n.(*ast.GoStmt); ok || isCallOf(n, "Go") || isCallOf(n, "AfterFunc") {
		return "a goroutine"
	}
	return ""
}

func isCallOf(n ast.Node, method string) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	selector, ok := call.Fun.(*ast.SelectorExpr)
	return ok && selector.Sel.Name == method
}

// isTest is whether go test runs a function: a test, or a fuzz test with its seeds.
func isTest(f *ast.FuncDecl) bool {
	return f.Recv == nil && f.Name.Name != "TestMain" &&
		(strings.HasPrefix(f.Name.Name, "Test") || strings.HasPrefix(f.Name.Name, "Fuzz"))
}

// receiver is the name of the type that a method belongs to.
func receiver(method *ast.FuncDecl) string {
	return first(method.Recv.List[0].Type, func(n ast.Node) string {
		if name, ok := n.(*ast.Ident); ok {
			return name.Name
		}
		return ""
	})
}

func says(line string, docs ...*ast.CommentGroup) bool {
	return slices.ContainsFunc(docs, func(doc *ast.CommentGroup) bool {
		return doc != nil && slices.ContainsFunc(doc.List, func(c *ast.Comment) bool {
			return len(c.Text) > len(line) && strings.HasPrefix(c.Text, line)
		})
	})
}
