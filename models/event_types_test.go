package models_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"countersign/models"
	"countersign/models/proof"
)

// eventName is how the actions of the ledger are written.
var eventName = regexp.MustCompile(`^[a-z_]+\.[a-z_]+$`)

// The list of event types is what the rooms append: no action is missing, and none is made up.
func TestEveryActionIsAnEventType(t *testing.T) {
	t.Parallel()
	types := models.EventTypes()
	if !slices.IsSortedFunc(types, func(a, b models.EventType) int { return strings.Compare(a.Name, b.Name) }) {
		t.Error("the list is not in order: IsEventType searches it")
	}
	families := map[string]bool{}
	for _, one := range types {
		families[one.Family()] = true
		if !models.IsEventType(one.Name) || !strings.HasSuffix(one.Text, ".") || one.Text == "." {
			t.Errorf("%+v is not told in a sentence", one)
		}
	}
	used := map[string]bool{proof.SealedAction: true} // the ledger's own, by its name
	for _, status := range models.Statuses() {        // outcomes are named by their status
		if status != models.StatusPending {
			used["approval."+string(status)] = true
		}
	}
	files, err := fs.Glob(os.DirFS("."), "*/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("files: %d, %v", len(files), err)
	}
	appended := 0
	for _, file := range files {
		for name, recorded := range actionsIn(t, file) {
			if recorded && !models.IsEventType(name) {
				t.Errorf("%s appends %s, which is no event type", file, name)
			}
			if recorded {
				appended++
			}
			if families[models.FamilyOf(name)] {
				used[name] = true
			}
		}
	}
	if appended < 60 {
		t.Errorf("only %d calls are read that append an entry", appended)
	}
	for _, one := range types {
		if !used[one.Name] {
			t.Errorf("nothing appends %s", one.Name)
		}
	}
}

// actionsIn are the literals of a file of a room that look like actions, and whether they are handed to the functions
// that append to the ledger.
func actionsIn(t *testing.T, path string) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	if strings.HasSuffix(path, "_test.go") {
		return out
	}
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && appends(call) {
			for _, arg := range call.Args {
				if name, ok := actionOf(t, arg); ok {
					out[name] = true
				}
			}
		}
		if name, ok := actionOf(t, n); ok && !out[name] {
			out[name] = false
		}
		return true
	})
	return out
}

// appends reports whether a call is one of those that append an entry.
func appends(call *ast.CallExpr) bool {
	f, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	switch f.Sel.Name {
	case "record", "Record", "recordChannel", "Append", "setColumn", "setColumns", "storeNote", "withdrawDecision", "changeUpstream", "newKeys":
		return true
	}
	return false
}

func actionOf(t *testing.T, n ast.Node) (string, bool) {
	t.Helper()
	literal, ok := n.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(literal.Value)
	if err != nil {
		t.Fatal(err)
	}
	return text, eventName.MatchString(text)
}
