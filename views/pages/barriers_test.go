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

// eachState looks at every state of the gallery, some at once, each as a subtest
// of its own. What look returns is wrong with the page it stands on.
func eachState(t *testing.T, look func(t *testing.T, ctx context.Context, url string) string) {
	t.Helper()
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
			if wrong := look(t, ctx, s.URL+"/"+state.Key()); wrong != "" {
				t.Errorf("%s, %s:%s", state.Page, state.Name, wrong)
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
func TestScreensHaveNoBarriers(t *testing.T) {
	t.Parallel()
	run := script(t, "axe.js")
	eachState(t, func(t *testing.T, ctx context.Context, url string) string {
		t.Helper()
		visit(t, ctx, url, 1280)
		return eval(t, ctx, run)
	})
}

// Every screen on the narrowest phone, there also without script, at 200 % zoom
// and wide, some light and some dark: AA contrast of all text, nothing to scroll
// sideways, nothing that the content security policy refuses.
func TestScreensAreReadable(t *testing.T) {
	t.Parallel()
	check := script(t, "contrast.js")
	eachState(t, func(t *testing.T, ctx context.Context, url string) string {
		t.Helper()
		wrong := ""
		visit(t, ctx, url, 320)
		for _, as := range []struct {
			name  string
			width int64
			theme string
			class string
		}{
			{"a phone without script", 320, "light", "no"},
			{"a phone at night", 320, "dark", "js"},
			{"at 200 %", 720, "light", "js"},
			{"wide", 1440, "dark", "js"},
		} {
			resize(t, ctx, as.width)
			if found := eval(t, ctx, `document.documentElement.className = "`+as.class+`"; document.documentElement.dataset.theme = "`+as.theme+`"; `+check); found != "" {
				wrong += "\n" + as.name + ": " + found
			}
		}
		return wrong
	})
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
