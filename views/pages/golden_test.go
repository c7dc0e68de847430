package pages_test

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/a-h/templ"

	"countersign/models"
	"countersign/views/gallery"
	"countersign/views/pages"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// now is the time of all fixtures.
var now = gallery.Now

func draw(t *testing.T, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// stable replaces what changes with every style sheet, so that golden files only
// change when pages do.
var hashed = regexp.MustCompile(`(/static/[a-z/.-]+)\.[0-9a-f]{12}\.`)

// keys is the list of keys, which is the same on every page: only the page that
// shows it has it in its golden file.
var keys = regexp.MustCompile(`(?s)(<dialog id="keys" class="keys" aria-labelledby="keys-title">).*?</dialog>`)

// broken puts tags on lines of their own, so that a difference is read by eye.
func broken(html string) string {
	return strings.ReplaceAll(keys.ReplaceAllString(hashed.ReplaceAllString(html, "$1.HASH."), "$1…</dialog>"), "><", ">\n<") + "\n"
}

func TestPagesGolden(t *testing.T) {
	t.Parallel()
	for _, s := range gallery.States() {
		t.Run(s.Key(), func(t *testing.T) {
			t.Parallel()
			got := broken(draw(t, s.Component))
			file := filepath.Join("testdata", s.Key()+".golden")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v (go test -run Golden -update makes it)", err)
			}
			if got != string(want) {
				t.Errorf("%s differs: %s", file, firstDifference(got, string(want)))
			}
		})
	}
}

// Every state has a name of its own, and a golden file that nothing draws is gone.
func TestGoldenFilesAreOfStates(t *testing.T) {
	t.Parallel()
	known := map[string]bool{"approval-huge.sha256": true}
	for _, s := range gallery.States() {
		if known[s.Key()] || s.Page == "" || s.Name == "" || s.Note == "" {
			t.Errorf("%s is there twice, or lacks page, name or note", s.Key())
		}
		known[s.Key()] = true
	}
	files, err := filepath.Glob("testdata/*.golden")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !known[strings.TrimSuffix(filepath.Base(file), ".golden")] {
			t.Errorf("%s is of no state", file)
		}
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

// The page of the largest input is checked by what it must hold, and by a hash
// of all of it.
func TestHugeInputGolden(t *testing.T) {
	t.Parallel()
	a := gallery.Call("write_file", gallery.HugeInput())
	html := broken(draw(t, pages.ApprovalPanel(pages.NewApproval(pages.ApprovalInput{Approval: a, MayDecide: true}, now))))
	if n := strings.Count(html, "0123456789abcdef"); n < 2*(models.MaxInput-16)/16-4 {
		t.Errorf("only %d of the input's pieces are shown", n)
	}
	for _, want := range []string{"256.0 KiB", "<details", a.Digest} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if len(html) > 3*models.MaxInput {
		t.Errorf("the page has %d bytes", len(html))
	}
	sum := sha256.Sum256([]byte(html))
	got := hex.EncodeToString(sum[:]) + "\n"
	file := filepath.Join("testdata", "approval-huge.sha256.golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || got != string(want) {
		t.Errorf("%s differs (%v)", file, err)
	}
}
