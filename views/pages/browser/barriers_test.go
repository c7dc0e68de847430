package browser_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"countersign/views/gallery"
	"countersign/views/pages/pagestest"
)

// sweep looks at pages, on each for all that it knows; what many have in common it looks
// at once.
type sweep struct {
	mu     sync.Mutex
	judged map[string]bool // signatures of texts of whose contrast axe was sure
	frames map[string]bool // what is around main
}

func newSweep() *sweep { return &sweep{judged: map[string]bool{}, frames: map[string]bool{}} }

// look is one of those at a page. Each gets the page as it was loaded, at 1280 px, without
// the frame if that was looked at, and tells what is wrong with it.
type look struct {
	name string
	look func(t *testing.T, ctx context.Context) string
}

// looks are in this order: after the second, the page has lost what neither says nor
// draws a text (axe.js), and the last changes the width.
func (s *sweep) looks() []look {
	return []look{{"reader", respectsTheReader}, {"barriers", s.hasNoBarriers}, {"sizes", fitsInEverySize}}
}

// begin prepares the page that a tab has loaded.
func (s *sweep) begin(t *testing.T, ctx context.Context) {
	t.Helper()
	eval(t, ctx, keepLoaded)
	key := eval(t, ctx, script(t, "frame.js"))
	s.mu.Lock()
	known := s.frames[key]
	s.frames[key] = key != ""
	s.mu.Unlock()
	eval(t, ctx, `frame.known = `+strconv.FormatBool(known)+`; ""`)
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

// Every state of the gallery, two at once: what is wrong with how it is drawn. A state that
// is drawn as it was when it was found right need not be looked at again.
func TestScreens(t *testing.T) {
	t.Parallel()
	const tabs = 2
	s, sweep, free := newSite(t), newSweep(), make(chan context.Context, tabs)
	for range tabs {
		free <- tab(t)
	}
	first := <-free
	known, again := keep(t, first), 0
	free <- first
	for _, state := range gallery.States() {
		page := pagestest.Screen(state.Key())
		if known.has(page) {
			again++
			continue
		}
		t.Run(state.Key(), func(t *testing.T) {
			t.Parallel()
			ctx := <-free
			defer func() { free <- ctx }()
			visit(t, ctx, s.URL+"/"+state.Key())
			sweep.begin(t, ctx)
			for _, l := range sweep.looks() {
				t.Run(l.name, func(t *testing.T) {
					eval(t, ctx, asLoaded)
					if wrong := l.look(t, ctx); wrong != "" {
						t.Errorf("%s, %s:%s", state.Page, state.Name, wrong)
					}
				})
			}
			if !t.Failed() {
				known.right(t, page)
			}
		})
	}
	t.Logf("%d of %d screens are as they were when they were found right", again, len(gallery.States()))
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
// state, light and dark, with everything folded and with everything open. The first time,
// it sees the frame of every page.
func (s *sweep) hasNoBarriers(t *testing.T, ctx context.Context) string {
	t.Helper()
	eval(t, ctx, script(t, "signatures.js"))
	eval(t, ctx, script(t, "axe.js"))
	wrong := eval(t, ctx, `frame.put(), barriers.folded()`)
	for _, theme := range []string{"light", "dark"} {
		fresh, err := json.Marshal(s.fresh(strings.Fields(eval(t, ctx, `barriers.open("`+theme+`")`))))
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Found string
			Sure  []string
		}
		if err := json.Unmarshal([]byte(eval(t, ctx, `barriers.opened("`+theme+`", `+string(fresh)+`)`)), &got); err != nil {
			t.Fatal(err)
		}
		wrong += strings.ReplaceAll(got.Found, "\n", "\n"+theme+": ")
		s.add(got.Sure)
	}
	return wrong
}

func (s *sweep) fresh(signatures []string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(signatures, func(one string) bool { return s.judged[one] })
}

func (s *sweep) add(signatures []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range signatures {
		s.judged[one] = true
	}
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
