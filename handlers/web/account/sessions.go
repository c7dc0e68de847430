package account

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/views"
	"countersign/views/pages/account"
)

// mySessions lists where the person is signed in.
func (s *Screens) mySessions(c echo.Context) error {
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	in := account.SessionsInput{Current: actor.SessionID}
	if raw := c.QueryParam("before"); raw != "" {
		var err error
		if in.Before, err = models.ParseID[models.SessionID]("before", raw); err != nil {
			return err
		}
	}
	found, err := s.Store.People.Sessions(ctx, actor, in.Before, models.DefaultPage)
	if err != nil {
		return err
	}
	in.Devices, in.Next = found.Items, found.Next
	frame, err := s.Frame(c, "My sessions", -1)
	if err != nil {
		return err
	}
	return handlers.Render(c, http.StatusOK, account.SessionsPage(frame, account.NewSessions(in)), nil)
}

func (s *Screens) endSession(c echo.Context) error {
	id, err := models.ParseID[models.SessionID]("id", c.Param("id"))
	if err != nil {
		return models.Errorf(models.CodeNotFound, "There is no such session.")
	}
	if err := s.Store.People.EndSession(c.Request().Context(), site.ActorOf(c), id); err != nil {
		return err
	}
	s.SetFlash(c, "session-ended")
	return c.Redirect(http.StatusSeeOther, views.SessionsURL())
}

func (s *Screens) endOtherSessions(c echo.Context) error {
	if _, err := s.Store.People.EndOtherSessions(c.Request().Context(), site.ActorOf(c)); err != nil {
		return err
	}
	s.SetFlash(c, "sessions-ended")
	return c.Redirect(http.StatusSeeOther, views.SessionsURL())
}
