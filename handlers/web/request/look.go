package request

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"countersign/handlers/web/site"
)

// atDesk notes that the reader is active on a page, as its script says.
func (s *Screens) atDesk(c echo.Context) error {
	if err := s.Store.AtDesk(c.Request().Context(), site.ActorOf(c)); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// look notes that the reader has a request in view and is active, as the page's script says (static/js/look.js). A GET
// does not note it, for a browser also fetches pages that no person sees: in a background tab, or before a click.
func (s *Screens) look(c echo.Context) error {
	id, err := ID(c)
	if err != nil {
		return err
	}
	if err := s.Store.Saw(c.Request().Context(), site.ActorOf(c), id); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
