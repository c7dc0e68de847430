package webhooks

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// ofEntries are the types of which entries are made.
var ofEntries = regexp.MustCompile(`(Entry|Data|^entry|^Said|^Sealed)$`)

// Of each member that the ledger's entries have it is decided whether it goes out. A digest of a
// text that somebody wrote tells the text to whoever guesses it, and none goes out but those of
// inputs.
func TestEachMemberOfEntriesIsToldOrWithheld(t *testing.T) {
	t.Parallel()
	var digests []string
	for name := range toldMembers {
		if strings.HasSuffix(name, "digest") {
			digests = append(digests, name)
		}
		if withheldMembers[name] {
			t.Errorf("%s is told and withheld", name)
		}
	}
	if slices.Sort(digests); !slices.Equal(digests, []string{"digest", "edited_digest"}) {
		t.Errorf("digests that go out: %q", digests)
	}
	known := map[string]bool{}
	files, err := filepath.Glob("../../models/*/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("files: %d, %v", len(files), err)
	}
	for _, file := range files {
		maps.Copy(known, membersIn(t, file))
	}
	for name := range known {
		if !toldMembers[name] && !withheldMembers[name] {
			t.Errorf("entries have %s: is it told, or withheld?", name)
		}
	}
	for _, list := range []map[string]bool{toldMembers, withheldMembers} {
		for name := range list {
			if !known[name] {
				t.Errorf("no entry has %s", name)
			}
		}
	}
}

// membersIn are the members of entries that a file makes: those of types, and keys of maps.
func membersIn(t *testing.T, path string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	if name := filepath.Base(path); strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "rows_") {
		return out
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			if fields, ok := n.Type.(*ast.StructType); ok && ofEntries.MatchString(n.Name.Name) {
				tagsOf(t, fields, out)
			}
		case *ast.CallExpr: // the data come last
			if name := called(n); name == "record" || name == "Record" || name == "setColumn" || name == "setColumns" {
				keysOf(t, n.Args[len(n.Args)-1], out)
			}
		case *ast.AssignStmt: // entry := map[string]any{…}, entry["member"] = …
			if name, member := assigned(n); name == "entry" || name == "data" {
				keysOf(t, n.Rhs[0], out)
				keyOf(t, member, out)
			}
		case *ast.FuncDecl:
			if n.Name.Name == "described" {
				ast.Inspect(n, func(n ast.Node) bool {
					if back, ok := n.(*ast.ReturnStmt); ok {
						keysOf(t, back.Results[0], out)
					}
					return true
				})
			}
		}
		return true
	})
	return out
}

func called(n *ast.CallExpr) string {
	if s, ok := n.Fun.(*ast.SelectorExpr); ok && len(n.Args) > 0 {
		return s.Sel.Name
	}
	return ""
}

// assigned are the variable that is assigned to, and which member of it.
func assigned(n *ast.AssignStmt) (name string, member ast.Expr) {
	to := n.Lhs[0]
	if at, ok := to.(*ast.IndexExpr); ok {
		to, member = at.X, at.Index
	}
	if of, ok := to.(*ast.Ident); ok {
		name = of.Name
	}
	return name, member
}

func tagsOf(t *testing.T, of *ast.StructType, out map[string]bool) {
	t.Helper()
	for _, f := range of.Fields.List {
		if f.Tag == nil {
			continue
		}
		tag, err := strconv.Unquote(f.Tag.Value)
		if err != nil {
			t.Fatal(err)
		}
		if name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ","); name != "" && name != "-" {
			out[name] = true
		}
	}
}

// keysOf are the keys of a map that is written out.
func keysOf(t *testing.T, e ast.Expr, out map[string]bool) {
	t.Helper()
	of, ok := e.(*ast.CompositeLit)
	if !ok {
		return
	}
	if _, ok := of.Type.(*ast.MapType); !ok {
		return
	}
	for _, one := range of.Elts {
		if pair, ok := one.(*ast.KeyValueExpr); ok {
			keyOf(t, pair.Key, out)
		}
	}
}

func keyOf(t *testing.T, e ast.Expr, out map[string]bool) {
	t.Helper()
	if key, ok := e.(*ast.BasicLit); ok && key.Kind == token.STRING {
		name, err := strconv.Unquote(key.Value)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = true
	}
}
