package handlers

import (
	"errors"
	"net/http"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"countersign/models"
)

// Headers by which htmx says what it wants, and gets instructions.
const (
	headerHXRequest     = "Hx-Request"
	headerHXRequestType = "Hx-Request-Type"
	headerHXBoosted     = "Hx-Boosted"
	headerHXRestore     = "Hx-History-Restore-Request"
	headerHXReswap      = "Hx-Reswap"
)

// WantsFragment reports whether a request is htmx's for a part of a page: one
// that swaps the whole body, follows a boosted link or restores history wants
// the page.
func WantsFragment(r *http.Request) bool {
	h := r.Header
	return h.Get(headerHXRequest) == "true" && h.Get(headerHXRequestType) != "full" &&
		h.Get(headerHXBoosted) == "" && h.Get(headerHXRestore) == ""
}

// WantsJSON reports whether a client takes JSON and no page: its errors are
// problem documents then.
func WantsJSON(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "json") && !strings.Contains(accept, "text/html")
}

// Render answers with a fragment or with the whole page: the one place that
// decides which. Nothing is sent unless all of it could be rendered.
func Render(c echo.Context, status int, page, fragment templ.Component) error {
	shown, part := page, fragment != nil && WantsFragment(c.Request())
	if part {
		shown = fragment
	}
	body := templ.GetBuffer()
	defer templ.ReleaseBuffer(body)
	if err := shown.Render(c.Request().Context(), body); err != nil {
		return err
	}
	h := c.Response().Header()
	h.Add(echo.HeaderVary, headerHXRequest)
	h.Set(echo.HeaderCacheControl, CacheControl(c.Request()))
	return sendHTML(c, status, body.Bytes(), mayCompress(c, part))
}

// KeepFragment tells htmx to leave the page unchanged where an error answer would otherwise be swapped in.
func KeepFragment(c echo.Context) { c.Response().Header().Set(headerHXReswap, "none") }

// Problem puts a handler's error into words for the asker, and logs those that tell the caller nothing.
func (k Kit) Problem(err error, c echo.Context) *Problem {
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		err = models.Errorf(models.CodeTooLarge, "This is too large; at most %d bytes are allowed.", tooLarge.Limit)
	}
	p := ProblemOf(routingError(err, c))
	if p.Code == models.CodeInternal {
		p.RequestID = RequestID(c)
		if !errors.Is(err, errPanic) {
			k.LogInternal(c, err)
		}
	}
	return p
}
