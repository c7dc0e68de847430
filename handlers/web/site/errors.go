package site

import (
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
	"countersign/views"
	"countersign/views/pages/nav"
)

// RetryAfter says when something may be tried again, where that is known.
func RetryAfter(c echo.Context, e *models.Error) {
	if e.RetryAfterSeconds > 0 {
		c.Response().Header().Set(echo.HeaderRetryAfter, strconv.Itoa(e.RetryAfterSeconds))
	}
}

// fail answers a handler's error: a page for people, a problem document for programs. A fragment replaces nothing on
// the page.
func (s *Site) fail(err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	p := s.Kit.Problem(err, c)
	switch {
	case handlers.WantsJSON(c.Request()):
		handlers.WriteProblem(c.Response(), p)
		return
	case handlers.WantsFragment(c.Request()):
		handlers.KeepFragment(c)
	}
	for name, values := range p.GetHeaders() {
		if name != "Www-Authenticate" { // a browser would ask for a password of its own
			c.Response().Header()[name] = values
		}
	}
	frame := views.Page{Title: http.StatusText(p.Status), Path: c.Request().URL.Path, Now: s.Kit.Now(), Narrow: true}
	if p.Status < http.StatusInternalServerError {
		if full, err := s.Frame(c, frame.Title, -1); err == nil {
			frame = full
			frame.Narrow = true
		}
	}
	page := nav.FailurePage(frame, nav.NewFailure(p.Status, p.Detail, p.RequestID))
	if err := handlers.Render(c, p.Status, page, nil); err != nil {
		s.Kit.LogInternal(c, err)
	}
}

// AsError is the part of an error that a form can show, or nil.
func AsError(err error, codes ...models.Code) *models.Error {
	if e, ok := errors.AsType[*models.Error](err); ok && slices.Contains(codes, e.Code) {
		return e
	}
	return nil
}
