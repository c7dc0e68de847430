package pages_test

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// hashed is the name of a static file, which changes with what is in it.
var hashed = regexp.MustCompile(`(/static/[a-z0-9/.-]+)\.[0-9a-f]{12}\.`)

// component is a part of a page in one of its states: which state of the gallery
// shows it, and where. Its name begins with the area that draws it.
type component struct{ name, state, selector string }

// file is beside the templates that draw it; what every page is made of is kept here.
func (c component) file() string {
	area, name, _ := strings.Cut(c.name, "/")
	if area == "shell" || area == "part" {
		return filepath.Join("testdata", area, name+".golden")
	}
	return filepath.Join(area, "testdata", name+".golden")
}

// outline is the component as a page shows it.
func (c component) outline(page *goquery.Document) string {
	var b strings.Builder
	selector, shallow := strings.CutPrefix(c.selector, frame)
	for _, n := range page.Find(selector).Nodes {
		if shallow {
			b.WriteString(n.Data + attributes(n) + "\n")
		} else {
			writeOutline(&b, n, "")
		}
	}
	return b.String()
}

func TestComponentsGolden(t *testing.T) {
	t.Parallel()
	for _, c := range components {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := c.outline(shows(t, c.state))
			if got == "" {
				t.Fatalf("nothing on %s is %q", c.state, c.selector)
			}
			compare(t, c.file(), got)
		})
	}
}

// compare fails where something differs from its golden file; with -update it
// rewrites the file instead.
func compare(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (make golden writes it)", err)
	}
	if got != string(want) {
		t.Errorf("%s differs: %s", file, firstDifference(got, string(want)))
	}
}

// A golden file belongs to a component, and each component has a name of its own.
func TestGoldenFilesAreOfComponents(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, c := range components {
		if known[c.file()] {
			t.Errorf("two components are called %s", c.name)
		}
		known[c.file()] = true
	}
	err := filepath.WalkDir(".", func(file string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(file, ".golden") && !known[file] {
			t.Errorf("%s is of no component", file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d\n got %s\nwant %s", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}
