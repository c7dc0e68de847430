package account

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/views/pages/account"
)

func (s *Screens) showJoin(c echo.Context) error {
	return s.joinPage(c, http.StatusOK, c.QueryParam("key"), nil)
}

func (s *Screens) joinPage(c echo.Context, status int, key string, wrong *models.Error) error {
	r := c.Request()
	invite, err := s.Store.People.CheckInvite(r.Context(), key)
	if err != nil {
		return err
	}
	frame, err := s.Frame(c, "Join", 0)
	if err != nil {
		return err
	}
	frame.Viewer, frame.Narrow = nil, true
	handlers.Uncompressed(c) // the key of the link is in its form
	return handlers.Render(c, status,
		account.NewAccountPage(frame, account.InvitedAccount(key, *invite, r.PostFormValue("name"), wrong)), nil)
}

// join uses an invitation up and signs the new person in.
func (s *Screens) join(c echo.Context) error {
	r := c.Request()
	key, password := r.FormValue("key"), r.PostFormValue("password")
	user, err := s.Store.People.Join(r.Context(), key, r.PostFormValue("name"), password)
	if e := site.AsError(err, models.CodeInvalid, models.CodeConflict); e != nil {
		return s.joinPage(c, handlers.Status(e.Code), key, e)
	}
	if err != nil {
		return err
	}
	return s.enter(c, user.Email, password, "joined")
}
