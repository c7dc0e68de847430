package channels

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/notices"
	"countersign/views/pages/account"
)

// Try sends a test, and shows what came of it. It waits for the answer: the sender
// bounds how long that takes.
func (s *Screens) Try(c echo.Context, place Place) error {
	id, err := channelOf(c, place)
	if err != nil {
		return err
	}
	if s.sender.Test == nil {
		return s.changedChannel(c, place, "", models.Errorf(models.CodeConflict, "This server can't send messages."))
	}
	actor := site.ActorOf(c)
	if err := notices.New(s.Store).AdmitTest(c.Request().Context(), actor); err != nil {
		return s.changedChannel(c, place, "", err)
	}
	result, err := s.sender.Test(c.Request().Context(), actor, id)
	if err != nil {
		return s.changedChannel(c, place, "", err)
	}
	return place.Show(http.StatusOK, account.ChannelsInput{Trial: &account.TriedChannel{ID: id, Result: result}})
}
