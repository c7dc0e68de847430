package browser_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
)

// kept remembers, from run to run, which screens were looked at and found right, as Go
// remembers packages: by a hash of all that a look depends on. That is the page, in which
// style sheets, scripts and icons are named by their contents; what looks at it; and the
// browser with its fonts. SCREENS=all looks at every screen again, as CI does.
type kept struct {
	dir  string // empty: nothing is kept
	base string
}

// lookFiles are what looks at a screen.
var lookFiles = []string{"testdata/*.js", "testdata/axe/*.js", "barriers_test.go", "browser_test.go", "fonts_test.go", "kept_test.go", "reader_test.go"}

// keptFor is how long a screen is remembered that no run has shown again.
const keptFor = 14 * 24 * time.Hour

func keep(t *testing.T, ctx context.Context) *kept {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil || os.Getenv("SCREENS") == "all" {
		return &kept{}
	}
	k := &kept{dir: filepath.Join(cache, "countersign-screens")}
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		t.Logf("no screen is remembered: %v", err)
		return &kept{}
	}
	k.forget(t)
	all := sha256.New()
	for _, pattern := range lookFiles {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v, %v", pattern, names, err)
		}
		for _, name := range names {
			raw, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(all, "%s %d\n%s", name, len(raw), raw)
		}
	}
	fmt.Fprintln(all, browserVersion(t, ctx))
	for _, f := range fontSets {
		fmt.Fprintln(all, f.family, eval(t, ctx, fmt.Sprintf(widthOf, f.family)))
	}
	k.base = hex.EncodeToString(all.Sum(nil))
	return k
}

// browserVersion is the browser's version, with that of what runs its scripts.
func browserVersion(t *testing.T, ctx context.Context) (version string) {
	t.Helper()
	err := chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		got, err := cdp.Call(ctx, target, browser.GetVersion, cdp.Empty{})
		if err == nil {
			version = fmt.Sprint(got.Product, got.Revision, got.JsVersion)
		}
		return err
	}))
	if err != nil {
		t.Fatal(err)
	}
	return version
}

func (k *kept) place(page string) string {
	sum := sha256.Sum256([]byte(k.base + page))
	return filepath.Join(k.dir, hex.EncodeToString(sum[:]))
}

// has tells whether a page was found right before, and has it remembered for longer.
func (k *kept) has(page string) bool {
	now := time.Now()
	return k.dir != "" && os.Chtimes(k.place(page), now, now) == nil
}

// right remembers a page that was found right.
func (k *kept) right(t *testing.T, page string) {
	t.Helper()
	if k.dir == "" {
		return
	}
	if err := os.WriteFile(k.place(page), nil, 0o600); err != nil {
		t.Logf("it will be looked at again: %v", err)
	}
}

// forget drops what no run has shown for long.
func (k *kept) forget(t *testing.T) {
	t.Helper()
	entries, err := os.ReadDir(k.dir)
	if err != nil {
		t.Logf("nothing is forgotten: %v", err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && time.Since(info.ModTime()) > keptFor {
			err = os.Remove(filepath.Join(k.dir, e.Name()))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // another run may do the same
			t.Logf("it stays remembered: %v", err)
		}
	}
}

func TestAScreenIsRememberedForWhatItWas(t *testing.T) {
	t.Parallel()
	k := &kept{dir: t.TempDir(), base: "looks"}
	if k.has("page") {
		t.Error("it was never looked at")
	}
	k.right(t, "page")
	for name, other := range map[string]bool{
		"page":              k.has("page"),
		"no other page":     !k.has("pag"),
		"by no other look":  !(&kept{dir: k.dir, base: "look"}).has("page"),
		"not if all are":    !(&kept{}).has("page"),
		"another time, too": k.has("page"),
	} {
		if !other {
			t.Error(name)
		}
	}
	k.forget(t)
	if !k.has("page") {
		t.Error("it was forgotten at once")
	}
	old := time.Now().Add(-keptFor - time.Hour)
	if err := os.Chtimes(k.place("page"), old, old); err != nil {
		t.Fatal(err)
	}
	if k.forget(t); k.has("page") {
		t.Error("it is never forgotten")
	}
}
