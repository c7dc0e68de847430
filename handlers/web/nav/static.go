package nav

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/static"
)

// serveClient answers with the module for pages of other origins, which any of them may load:
// it holds nothing of anybody.
func serveClient(c echo.Context) error {
	content := static.ClientModule()
	sum := sha256.Sum256(content)
	tag := `"` + hex.EncodeToString(sum[:8]) + `"`
	h := c.Response().Header()
	h.Set(echo.HeaderCacheControl, "public, max-age=300")
	h.Set("ETag", tag)
	h.Set(echo.HeaderAccessControlAllowOrigin, "*")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin")
	if c.Request().Header.Get("If-None-Match") == tag {
		return c.NoContent(http.StatusNotModified)
	}
	return c.Blob(http.StatusOK, "text/javascript; charset=utf-8", content)
}

// serveStatic answers with files whose names contain a hash of their content.
func serveStatic(c echo.Context) error {
	path := c.Request().URL.Path
	if path == static.Client {
		return serveClient(c)
	}
	content, contentType, ok := static.Lookup(path)
	if !ok {
		return echo.ErrNotFound
	}
	h := c.Response().Header()
	h.Set(echo.HeaderCacheControl, "public, max-age=31536000, immutable")
	h.Add(echo.HeaderVary, echo.HeaderAcceptEncoding)
	if strings.Contains(c.Request().Header.Get(echo.HeaderAcceptEncoding), "gzip") {
		if gzip := static.Gzip(path); gzip != nil {
			h.Set(echo.HeaderContentEncoding, "gzip")
			content = gzip
		}
	}
	return c.Blob(http.StatusOK, contentType, content)
}
