package web

import (
	"net/http"
	"sync"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/views"
	"countersign/views/pages"
)

// ServeDocs adds the page that describes the JSON surfaces, made from their
// OpenAPI document at the first visit. It needs no sign-in and is the same for
// everybody.
func (s *Site) ServeDocs(document func() ([]byte, error)) {
	described := sync.OnceValues(func() (pages.Docs, error) {
		text, err := document()
		if err != nil {
			return pages.Docs{}, err
		}
		return pages.NewDocs(text)
	})
	s.echo.GET(views.DocsURL(), func(c echo.Context) error {
		docs, err := described()
		if err != nil {
			return err
		}
		frame := views.Page{Title: "API", Path: c.Request().URL.Path, Now: s.kit.Now()}
		if err := s.warn(c.Request().Context(), &frame); err != nil {
			return err
		}
		return handlers.Render(c, http.StatusOK, pages.DocsPage(frame, docs), nil)
	})
}
