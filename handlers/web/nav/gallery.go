package nav

import (
	"net/http"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
	"countersign/views"
)

// Gallery has every page in every state, drawn from fixtures.
type Gallery interface {
	Index(page views.Page) templ.Component
	// State is a whole document; false: there is no such state of a page.
	State(page, state string) (templ.Component, bool)
}

// galleryPolicy keeps a fixture's page from acting: its forms are not sent, and nothing
// is fetched for it.
const galleryPolicy = "default-src 'self'; connect-src 'none'; object-src 'none'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'"

func (s *Screens) gallery(c echo.Context) error {
	page, err := s.Frame(c, "Gallery", -1)
	if err != nil {
		return err
	}
	return handlers.Render(c, http.StatusOK, s.drawn.Index(page), nil)
}

func (s *Screens) galleryState(c echo.Context) error {
	state, ok := s.drawn.State(c.Param("page"), c.Param("state"))
	if !ok {
		return models.Errorf(models.CodeNotFound, "The gallery has no such state.")
	}
	c.Response().Header().Set("Content-Security-Policy", galleryPolicy)
	return handlers.Render(c, http.StatusOK, state, nil)
}
