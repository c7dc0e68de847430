package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/views"
	"countersign/views/pages"
)

// ServeDocs adds the page that describes the JSON surfaces, made from their
// OpenAPI document. It needs no sign-in and is the same for everybody.
func (s *Site) ServeDocs(document []byte) error {
	docs, err := pages.NewDocs(document)
	if err != nil {
		return err
	}
	s.echo.GET(views.DocsURL(), func(c echo.Context) error {
		frame := views.Page{Title: "API", Path: c.Request().URL.Path, Now: s.kit.Now()}
		if err := s.warn(c.Request().Context(), &frame); err != nil {
			return err
		}
		return handlers.Render(c, http.StatusOK, pages.DocsPage(frame, docs), nil)
	})
	return nil
}
