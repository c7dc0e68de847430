package web

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// atDesk notes that the reader is active on a page, as its script says.
func (s *Site) atDesk(c echo.Context) error {
	if err := s.store.AtDesk(c.Request().Context(), actorOf(c)); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// look notes that the reader has a request in view and is active, as the page's script says
// (static/js/look.js). A page that was only fetched, in a tab behind others or ahead of a
// click, was seen by nobody, so that no GET says it.
func (s *Site) look(c echo.Context) error {
	id, err := requestID(c)
	if err != nil {
		return err
	}
	if err := s.store.Saw(c.Request().Context(), actorOf(c), id); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
