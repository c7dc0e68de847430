package cmd_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The folders that make test runs without the race detector start no goroutine, and share
// nothing but what is made once.
func TestWhatNeedsNoRaceDetectorDoesNothingAtOnce(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?m)^PLAIN := ((?:.*\\\n)*.*)$`).FindSubmatch(raw)
	if list == nil {
		t.Fatal("the Makefile has no PLAIN")
	}
	folders := strings.Fields(strings.ReplaceAll(string(list[1]), "\\\n", " "))
	if len(folders) < 10 {
		t.Fatalf("only %q", folders)
	}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join("..", folder, "*.go"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s: %d files, %v", folder, len(files), err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if what := atOnce(n); what != "" {
					t.Errorf("%s has %s: its folder needs the race detector", set.Position(n.Pos()), what)
				}
				return true
			})
		}
	}
}

// atOnce is what a node has to do with goroutines; empty: nothing.
func atOnce(n ast.Node) string {
	switch n := n.(type) {
	case *ast.GoStmt:
		return "a goroutine"
	case *ast.ChanType:
		return "a channel"
	case *ast.ImportSpec:
		if n.Path.Value == `"sync/atomic"` {
			return "atomics"
		}
	case *ast.SelectorExpr:
		if x, ok := n.X.(*ast.Ident); ok && x.Name == "sync" && !strings.HasPrefix(n.Sel.Name, "Once") {
			return "sync." + n.Sel.Name
		}
	}
	return ""
}
