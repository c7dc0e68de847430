package static_test

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"countersign/static"
)

func TestVendoredFilesAreWhatTheManifestSays(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("vendor/manifest.json")
	if err != nil {
		t.Fatal(err)
	}
	var manifest struct {
		Packages []struct {
			Package, Version, Licence string
			Files                     map[string]string
		}
	}
	if err := json.Unmarshal(raw, &manifest); err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{"manifest.json": true}
	for _, p := range manifest.Packages {
		if p.Package == "" || p.Version == "" || p.Licence == "" {
			t.Errorf("package, version and licence must be there: %+v", p)
		}
		for name, want := range p.Files {
			listed[name] = true
			content, err := os.ReadFile(filepath.Join("vendor", name))
			if err != nil {
				t.Error(err)
				continue
			}
			if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != want {
				t.Errorf("%s differs from %s %s", name, p.Package, p.Version)
			}
		}
	}
	err = fs.WalkDir(os.DirFS("vendor"), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !listed[name] {
			t.Errorf("%s is not in the manifest", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestURLAndLookup(t *testing.T) {
	t.Parallel()
	for name, wantType := range map[string]string{
		"css/app.css":      "text/css; charset=utf-8",
		"js/theme.js":      "text/javascript; charset=utf-8",
		"js/app.js":        "text/javascript; charset=utf-8",
		"js/visit.js":      "text/javascript; charset=utf-8",
		"img/favicon.svg":  "image/svg+xml",
		"img/icon-192.png": "image/png",
		static.Manifest:    "application/manifest+json",
	} {
		url := static.URL(name)
		if !regexp.MustCompile(`^/static/.+\.[0-9a-f]{12}\.(css|js|svg|png|webmanifest)$`).MatchString(url) {
			t.Errorf("URL(%q) = %q has no hash", name, url)
		}
		content, contentType, ok := static.Lookup(url)
		if !ok || contentType != wantType || len(content) == 0 {
			t.Errorf("Lookup(%q) = %d bytes, %q, %v", url, len(content), contentType, ok)
		}
		sum := sha256.Sum256(content)
		if !strings.Contains(url, hex.EncodeToString(sum[:6])) {
			t.Errorf("%q does not carry the hash of its content", url)
		}
		if z := static.Gzip(url); z != nil {
			r, err := gzip.NewReader(bytes.NewReader(z))
			if err != nil {
				t.Fatal(err)
			}
			if back, err := io.ReadAll(r); err != nil || !bytes.Equal(back, content) {
				t.Errorf("%s: gzip form differs: %v", name, err)
			}
		}
	}
	for _, path := range []string{"", "/static/", "/static/js/theme.js", static.URL("js/live.js"), static.URL("js/sw.js"), "/static/vendor/manifest.json", "/static/../embed.go", static.URL("no/such.js")} {
		if _, _, ok := static.Lookup(path); ok {
			t.Errorf("Lookup(%q) found something", path)
		}
	}
	if static.Gzip("/static/nothing") != nil {
		t.Error("Gzip found something")
	}
}

func TestStyleSheetsLoadNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"css/tokens.css", "css/base.css", "css/ui.css", "css/pages.css"} {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, bad := range []string{"url(", "@import", "http:", "https:"} {
			if bytes.Contains(raw, []byte(bad)) {
				t.Errorf("%s has %s", name, bad)
			}
		}
	}
}

func TestIcons(t *testing.T) {
	t.Parallel()
	if got := static.Icon("check"); got != `<path d="M20 6 9 17l-5-5" />` {
		t.Errorf("check is %q", got)
	}
	if static.Icon("no-such-icon") != "" {
		t.Error("an icon that is not there has markup")
	}
}
