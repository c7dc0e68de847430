package pages_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"countersign/views/gallery"
)

// looks are what every state of the gallery is looked at for, on one loaded page:
// each gets the page as it was loaded, at 1280 px, and tells what is wrong with it.
// The one that changes the width is the last.
var looks = []struct {
	name string
	look func(t *testing.T, ctx context.Context) string
}{
	{"barriers", hasNoBarriers},
	{"reader", respectsTheReader},
	{"focus", showsTheFocus},
	{"sizes", fitsInEverySize},
}

// keepLoaded remembers what a look may change of a page, asLoaded puts it back.
const (
	keepLoaded = `(() => {
	const page = document.documentElement, style = page.style.cssText;
	const open = new Set(document.querySelectorAll("details[open]"));
	const kept = page.getAttributeNames().map((name) => [name, page.getAttribute(name)]);
	window.asLoaded = () => {
		for (const name of page.getAttributeNames()) page.removeAttribute(name);
		for (const [name, value] of kept) if (name !== "style") page.setAttribute(name, value);
		page.style.cssText = style; // not as an attribute, which the policy refuses
		for (const fold of document.querySelectorAll("details")) if (fold.open !== open.has(fold)) fold.open = open.has(fold);
		document.activeElement?.blur();
		return "";
	};
	return "";
})()`
	asLoaded = `asLoaded()`
)

// Every state of the gallery, some at once: what is wrong with how it is drawn.
func TestScreens(t *testing.T) {
	t.Parallel()
	const tabs = 4
	s, free := newSite(t), make(chan context.Context, tabs)
	for range tabs {
		free <- tab(t)
	}
	for _, state := range gallery.States() {
		t.Run(state.Key(), func(t *testing.T) {
			t.Parallel()
			ctx := <-free
			defer func() { free <- ctx }()
			visit(t, ctx, s.URL+"/"+state.Key())
			eval(t, ctx, keepLoaded)
			for _, l := range looks {
				t.Run(l.name, func(t *testing.T) {
					eval(t, ctx, asLoaded)
					if wrong := l.look(t, ctx); wrong != "" {
						t.Errorf("%s, %s:%s", state.Page, state.Name, wrong)
					}
				})
			}
		})
	}
}

func script(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// axe finds nothing that breaks WCAG 2.2 AA, nor its own best practice, in any
// state, light and dark, with everything folded and with everything open.
func hasNoBarriers(t *testing.T, ctx context.Context) string {
	t.Helper()
	return eval(t, ctx, script(t, "axe.js"))
}

func TestAxeIsWhatTheManifestSays(t *testing.T) {
	t.Parallel()
	var manifest struct {
		Package, Version, Licence string
		Files                     map[string]string
	}
	if err := json.Unmarshal([]byte(script(t, "axe/manifest.json")), &manifest); err != nil {
		t.Fatal(err)
	}
	for name, want := range manifest.Files {
		if sum := sha256.Sum256([]byte(script(t, "axe/"+name))); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s differs from %s %s", name, manifest.Package, manifest.Version)
		}
	}
	files, err := os.ReadDir("testdata/axe")
	if err != nil || len(files) != len(manifest.Files)+1 || manifest.Licence == "" {
		t.Errorf("%d files, %d in the manifest (%v)", len(files)-1, len(manifest.Files), err)
	}
}
