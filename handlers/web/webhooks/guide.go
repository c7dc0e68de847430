package webhooks

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/views/pages/webhooks"
)

// webhookGuide explains webhooks. It needs no sign-in either: who writes a receiver may have
// no account.
func (s *Screens) webhookGuide(c echo.Context) error {
	frame, err := s.Frame(c, "Webhooks", -1)
	if err != nil {
		return err
	}
	frame.Narrow = false
	return handlers.Render(c, http.StatusOK, webhooks.GuidePage(frame), nil)
}
