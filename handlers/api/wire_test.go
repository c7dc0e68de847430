package api_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"countersign/handlers"
	"countersign/handlers/api/wire"
)

// Package wire imports nothing of ours, so it has lists of its own of the words that
// programs decide by. They are those of models.
func TestWordsOfTheWireAreThoseOfTheModels(t *testing.T) {
	t.Parallel()
	models, told := wordsOf(t, "../../models"), wordsOf(t, "wire")
	for _, list := range []string{"Kind", "Status", "Code", "RunEventOutcome"} {
		if len(told[list]) == 0 || !maps.Equal(told[list], models[list]) {
			t.Errorf("%s: wire has %v, models %v", list, told[list], models[list])
		}
		delete(told, list)
	}
	for _, list := range []string{"ToolStatus", "HookName", "HookDecision"} { // of one surface alone
		delete(told, list)
	}
	for list := range told {
		t.Errorf("%s is a list that nothing is compared with", list)
	}
}

// wordsOf are the constants of a folder that are words: by type, name and text. The
// empty word is none.
func wordsOf(t *testing.T, folder string) map[string]map[string]string {
	t.Helper()
	out := map[string]map[string]string{}
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", folder, len(files), err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			kind, isNamed := spec.Type.(*ast.Ident)
			text, isText := spec.Values[0].(*ast.BasicLit)
			if isNamed && isText && text.Kind == token.STRING && text.Value != `""` {
				if out[kind.Name] == nil {
					out[kind.Name] = map[string]string{}
				}
				out[kind.Name][spec.Names[0].Name] = text.Value
			}
			return true
		})
	}
	return out
}

// What a client reads of a problem is what the server writes.
func TestProblemsOfTheWireAreThoseOfTheServer(t *testing.T) {
	t.Parallel()
	for _, both := range [][2]reflect.Type{
		{reflect.TypeFor[wire.Problem](), reflect.TypeFor[handlers.Problem]()},
		{reflect.TypeFor[wire.FieldProblem](), reflect.TypeFor[handlers.FieldProblem]()},
	} {
		read, written := members(both[0]), members(both[1])
		for _, member := range read {
			if !slices.Contains(written, member) {
				t.Errorf("%v reads %s, which the server does not write", both[0], member)
			}
		}
	}
}

func members(t reflect.Type) []string {
	var out []string
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		out = append(out, name)
	}
	return out
}
