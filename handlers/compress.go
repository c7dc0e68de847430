package handlers

import (
	"net/http"
	"sync"

	"github.com/klauspost/compress/gzhttp"
	"github.com/labstack/echo/v4"
)

// smallPage is how many bytes a page may have that is not worth compressing: they fit into
// one packet.
const smallPage = 1400

// padding is how many bytes at most make the length of a compressed page uncertain. They
// depend on the page's content: who can put text beside a secret and only sees lengths would
// have to guess them too (BREACH). See D89 in DECISIONS.md.
const padding = 64

// compressing gives a handler of one page the form that browsers take.
var compressor = sync.OnceValue(func() func(http.Handler) http.HandlerFunc {
	wrap, err := gzhttp.NewWrapper(gzhttp.EnableZstd(false), gzhttp.MinSize(smallPage),
		gzhttp.RandomJitter(padding, 0, true))
	if err != nil {
		panic("handlers: " + err.Error()) // the options are constants
	}
	return wrap
})

const uncompressedKey = "uncompressed"

// Uncompressed has the page that answers c sent as it is, whatever the browser takes: for
// pages that hold a secret.
func Uncompressed(c echo.Context) { c.Set(uncompressedKey, true) }

// mayCompress reports whether a page may be compressed. Secrets are made by forms and shown once, in the page that
// answers (I15), so whole pages that answer a form are not: then it does not matter which of them shows one.
func mayCompress(c echo.Context, fragment bool) bool {
	plain, _ := c.Get(uncompressedKey).(bool)
	return !plain && (fragment || c.Request().Method == http.MethodGet)
}

// sendHTML answers with a page or a part of one, all of it at once.
func sendHTML(c echo.Context, status int, body []byte, compress bool) error {
	if !compress {
		return c.HTMLBlob(status, body)
	}
	var err error
	compressor()(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(echo.HeaderContentType, echo.MIMETextHTMLCharsetUTF8)
		w.WriteHeader(status)
		_, err = w.Write(body)
	})).ServeHTTP(c.Response(), c.Request())
	return err
}
