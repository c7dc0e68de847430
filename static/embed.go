// Package static holds what browsers load besides pages: style sheets, scripts
// and icons, embedded and served under names that contain a hash of the content,
// so that they may be cached for ever.
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
)

//go:embed css js img vendor
var files embed.FS

// Prefix begins the path of every static file.
const Prefix = "/static/"

// Manifest is the name of the file by which browsers install the product.
const Manifest = "app.webmanifest"

type asset struct {
	content     []byte
	contentType string
	compressed  func() []byte
}

// set maps names to addresses and addresses to content.
type set struct {
	urls   map[string]string
	assets map[string]asset
}

var all = sync.OnceValue(load)

// URL is the address of a file by its name below this folder, such as
// "js/theme.js"; "css/app.css" is all style sheets in one, "js/app.js" and
// "js/visit.js" are scripts in one (bundle.go). A name that does not exist gives an
// address that answers 404.
func URL(name string) string {
	if u, ok := all().urls[name]; ok {
		return u
	}
	return Prefix + name
}

// Lookup returns what stands at a path that URL gave. The content must not be
// changed. It may be cached for ever: another content has another path.
func Lookup(urlPath string) (content []byte, contentType string, ok bool) {
	a, ok := all().assets[urlPath]
	return a.content, a.contentType, ok
}

// Client is where the module for pages of other origins stands, under a name that stays.
const Client = Prefix + "client.js"

// ClientModule is that module.
func ClientModule() []byte { return embedded("js/client.js") }

// Gzip is the content at a path in gzip form, or nil if there is no such path or
// compressing does not make it smaller.
func Gzip(urlPath string) []byte {
	a, ok := all().assets[urlPath]
	if !ok {
		return nil
	}
	return a.compressed()
}

// Icon is the inside of a vendored icon's svg element: markup on a grid of 24
// by 24, to be stroked. It is empty for an icon that is not vendored.
func Icon(name string) string { return icons()[name] }

var icons = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	const dir = "vendor/lucide/icons"
	entries, err := files.ReadDir(dir)
	if err != nil {
		return out
	}
	for _, e := range entries {
		raw, err := files.ReadFile(path.Join(dir, e.Name()))
		if err != nil {
			continue
		}
		_, svg, _ := strings.Cut(string(raw), "<svg")
		_, inner, _ := strings.Cut(svg, ">")
		inner, _, _ = strings.Cut(inner, "</svg>")
		out[strings.TrimSuffix(e.Name(), ".svg")] = strings.Join(strings.Fields(inner), " ")
	}
	return out
})

func load() *set {
	s := &set{urls: map[string]string{}, assets: map[string]asset{}}
	s.add("css/app.css", joinedSheets(sheets))
	s.add("js/app.js", joinedScripts(appScripts))
	s.add("js/visit.js", joinedScripts(visitScripts))
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !served(name) {
			return err
		}
		raw, err := files.ReadFile(name)
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		s.add(name, raw)
		return nil
	})
	if err != nil {
		panic("static: " + err.Error())
	}
	s.add(Manifest, manifest(s.urls))
	return s
}

// served leaves out what only the server reads, and what comes joined.
func served(name string) bool {
	return name == "js/theme.js" || strings.HasPrefix(name, "img/")
}

func (s *set) add(name string, content []byte) {
	sum := sha256.Sum256(content)
	ext := path.Ext(name)
	url := Prefix + strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext
	s.urls[name] = url
	s.assets[url] = asset{
		content:     content,
		contentType: contentTypes[ext],
		compressed:  sync.OnceValue(func() []byte { return compress(content) }),
	}
}

var contentTypes = map[string]string{
	".css":         "text/css; charset=utf-8",
	".js":          "text/javascript; charset=utf-8",
	".png":         "image/png",
	".svg":         "image/svg+xml",
	".webmanifest": "application/manifest+json",
}

func compress(content []byte) []byte {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil
	}
	if _, err := w.Write(content); err != nil || w.Close() != nil || b.Len() >= len(content) {
		return nil
	}
	return b.Bytes()
}
