package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
	"countersign/views/gallery"
)

// galleryPolicy keeps a fixture's page from acting: its forms are not sent, and nothing
// is fetched for it.
const galleryPolicy = "default-src 'self'; connect-src 'none'; object-src 'none'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'"

func (s *Site) gallery(c echo.Context) error {
	frame, err := s.frame(c, "Gallery", -1)
	if err != nil {
		return err
	}
	return handlers.Render(c, http.StatusOK, gallery.IndexPage(frame, gallery.States()), nil)
}

func showState(c echo.Context) error {
	state, ok := gallery.Find(c.Param("page"), c.Param("state"))
	if !ok {
		return models.Errorf(models.CodeNotFound, "The gallery has no such state.")
	}
	c.Response().Header().Set("Content-Security-Policy", galleryPolicy)
	return handlers.Render(c, http.StatusOK, state.Document(), nil)
}
