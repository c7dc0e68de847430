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

// broken puts tags on lines of their own, so that a difference is read by eye.
func broken(html string) string {
	return strings.ReplaceAll(hashed.ReplaceAllString(html, "$1.HASH."), "><", ">\n<") + "\n"
}

// around is what stands around every page alike. The states of the shell and of
// the keys show it in full, the others only what is their own in it: the title,
// and what the stream tells them of.
var around = regexp.MustCompile(`(?s)<head>.*?(<title>.*?</title>).*?</head>|<header class="top">(?:.*?(hx-sse:connect="[^"]*"))?.*?</header>|<dialog id="keys".*?</dialog>`)

// askedAgain is what stands on every page for when its session expires.
var askedAgain = regexp.MustCompile(`(?s)\s*<dialog id="session".*?</dialog>| data-user="[^"]*"`)

func own(s gallery.State, html string) string {
	if s.Page == "shell" || s.Page == "keys" {
		return html
	}
	return around.ReplaceAllString(askedAgain.ReplaceAllString(html, ""), "\n$1$2\n")
}

func TestPagesGolden(t *testing.T) {
	t.Parallel()
	for _, s := range gallery.States() {
		t.Run(s.Key(), func(t *testing.T) {
			t.Parallel()
			got := broken(own(s, draw(t, s.Component)))
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
