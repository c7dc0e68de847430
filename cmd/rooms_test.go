package cmd_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// rooms are the folders of the data layer in the order that ARCHITECTURE.md gives them.
func rooms(t *testing.T) []string {
	t.Helper()
	list := regexp.MustCompile(`Of the rooms ([a-z,\s]+) each knows only those before it`).FindStringSubmatch(architecture(t))
	if list == nil {
		t.Fatal("ARCHITECTURE.md lists no rooms")
	}
	out := strings.FieldsFunc(list[1], func(r rune) bool { return r == ',' || r == ' ' || r == '\n' })
	if len(out) < 11 {
		t.Errorf("only %d rooms are read: %q", len(out), out)
	}
	return out
}

// A room knows only those before it: the later may know the earlier, never back.
func TestRoomsKnowOnlyThoseBefore(t *testing.T) {
	t.Parallel()
	order := rooms(t)
	ours(t, func(name string) {
		place := slices.Index(order, strings.TrimPrefix(path.Dir(name), "models/"))
		if place < 0 || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(repository, name), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, spec := range file.Imports {
			room, _ := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), "countersign/models/")
			if slices.Index(order, room) >= place {
				t.Errorf("%s imports %s, which is not before it", name, room)
			}
		}
	})
}

// methodsMost is how many exported methods a type of a room may have, so that a reader sees what it does.
const methodsMost = 30

// wide are the types that have more, with the most that they may have until they are cut too.
var wide = map[string]int{
	"people.People": 70,
	"store.Store":   101,
	"store.Tx":      61,
}

// A type of a room has few exported methods, and those that have more only lose some.
func TestTypesOfRoomsAreSmall(t *testing.T) {
	t.Parallel()
	methods, order := map[string]int{}, rooms(t)
	ours(t, func(name string) {
		room := strings.TrimPrefix(path.Dir(name), "models/")
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || !slices.Contains(order, room) {
			return
		}
		for _, fn := range functions(t, name) {
			of, method, is := strings.Cut(fn, ".")
			if is && ast.IsExported(of) && ast.IsExported(method) {
				methods[room+"."+of]++
			}
		}
	})
	for name, n := range methods {
		if most, exempt := wide[name]; n > max(most, methodsMost) {
			t.Errorf("%s has %d exported methods, and may have %d: cut it", name, n, max(most, methodsMost))
		} else if exempt && n <= methodsMost {
			t.Errorf("%s is small by now: take it out of wide", name)
		}
	}
}

// entriesMost is how many entries a folder may have, so that a reader sees what it holds.
const entriesMost = 45

// crowded are the folders that have more, with the most that they may have until they are cut too.
var crowded = map[string]int{
	"models":       129,
	"models/store": 138,
	"views/ui":     55,
	"handlers/api": 109,
}

// A folder of models, pages and surfaces is small enough to be read, and those that are not yet only shrink.
func TestFoldersAreSmall(t *testing.T) {
	t.Parallel()
	for _, top := range []string{"models", "views", "handlers"} {
		err := fs.WalkDir(os.DirFS(repository), top, func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			if d.Name() == "fuzz" {
				return fs.SkipDir // inputs that were found, by the name of their hash
			}
			entries, err := os.ReadDir(filepath.Join(repository, name))
			if most, exempt := crowded[name]; len(entries) > max(most, entriesMost) {
				t.Errorf("%s has %d entries, and may have %d: cut it", name, len(entries), max(most, entriesMost))
			} else if exempt && len(entries) <= entriesMost {
				t.Errorf("%s is small by now: take it out of crowded", name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
