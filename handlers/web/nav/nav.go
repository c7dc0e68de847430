package nav

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/views/pages/nav"
)

// more lists the places that a phone's bar has no room for.
func (s *Screens) more(c echo.Context) error {
	frame, err := s.Frame(c, "More", -1)
	if err != nil {
		return err
	}
	return handlers.Render(c, http.StatusOK, nav.MorePage(frame), nil)
}
