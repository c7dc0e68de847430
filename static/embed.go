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

// bundle is what css/app.css is made of, in cascade order.
var bundle = [...]string{
	"vendor/basecoat/basecoat-nova.min.css",
	"css/tokens.css", "css/base.css", "css/ui.css", "css/untrusted.css", "css/code.css", "css/pages.css", "css/budget.css", "css/conversation.css", "css/batch.css", "css/request.css", "css/decide.css", "css/inbox.css", "css/grants.css", "css/policy.css", "css/table.css", "css/trail.css", "css/keys.css",
}

// library is htmx with what it needs for streams, as one script: htmx sets itself
// up as soon as it can, and what loads after that is left out.
var library = [...]string{"vendor/htmx/htmx.min.js", "vendor/htmx/hx-sse.min.js"}

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
// "js/theme.js"; "css/app.css" is all style sheets in one, "vendor/htmx.js" all of
// htmx. A name that does not exist gives an address that answers 404.
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
	s.add("css/app.css", joined(bundle[:]))
	s.add("vendor/htmx.js", joined(library[:]))
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
	return s
}

// joined is several files as one, in the order given.
func joined(names []string) []byte {
	var b bytes.Buffer
	for _, name := range names {
		raw, err := files.ReadFile(name)
		if err != nil {
			panic(fmt.Sprintf("static: %s is not embedded", name)) // a build without its own files
		}
		b.Write(raw)
		b.WriteByte('\n')
	}
	return b.Bytes()
}

// served leaves out what only the server reads.
func served(name string) bool {
	switch {
	case strings.HasPrefix(name, "js/"), strings.HasPrefix(name, "img/"):
		return true
	}
	return false
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
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
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
