package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A folder is a package with its tests.
type folder struct {
	ImportPath, Dir                    string
	GoFiles, TestGoFiles, XTestGoFiles []string
	Deps                               []string

	atOnce, starts string // what its program does at once, and whether that starts a goroutine; empty: nothing
	testsStart     string // the same of its tests
	tests          source
	size           int64 // of its tests, which tells about how long they take
}

// folders reads the source of packages.
func folders(ctx context.Context, dir string, patterns ...string) (all []*folder, err error) {
	list := exec.CommandContext(ctx, "go", append([]string{"list", "-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles,Deps"}, patterns...)...) //nolint:gosec // packages that the Makefile names
	list.Dir, list.Stderr = dir, os.Stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for in := json.NewDecoder(strings.NewReader(string(out))); ; {
		f := &folder{tests: source{}}
		if err := in.Decode(f); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		if err := f.read(); err != nil {
			return nil, err
		}
		all = append(all, f)
	}
}

func (f *folder) read() error {
	for i, name := range slices.Concat(f.GoFiles, f.TestGoFiles, f.XTestGoFiles) {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(f.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if i < len(f.GoFiles) {
			f.atOnce += first(file, atOnce)
			f.starts += first(file, starts)
			continue
		}
		f.tests.read(file)
		f.size += int64(file.FileEnd - file.FileStart)
		for _, d := range file.Decls {
			if fn, ok := d.(*ast.FuncDecl); !ok || !says(isApart, fn.Doc) {
				f.testsStart += first(d, starts)
			}
		}
	}
	return nil
}

// doesNothingAtOnce is whether no test of a folder needs the race detector: its program shares
// nothing, and neither what it imports nor its tests start a goroutine.
func (f *folder) doesNothingAtOnce(all []*folder) bool {
	return f.atOnce == "" && f.testsStart == "" && !slices.ContainsFunc(all, func(other *folder) bool {
		return other.starts != "" && slices.Contains(f.Deps, other.ImportPath)
	})
}
