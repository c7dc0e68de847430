package account

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/views/pages/account"
)

// session says whose session the browser has. A page asks before it replaces a form with what its user typed.
func (s *Screens) session(c echo.Context) error { return sayWho(c, site.VisitorOf(c).User) }

func sayWho(c echo.Context, user *models.User) error {
	c.Response().Header().Set(echo.HeaderCacheControl, handlers.CacheControl(c.Request()))
	return c.JSON(http.StatusOK, map[string]models.UserID{"user": user.ID})
}

// unsentPage is where somebody comes whose form was carried through signing in.
func (s *Screens) unsentPage(c echo.Context, user *models.User, form *account.Unsent, next string) error {
	frame, err := s.Frame(c, "Not sent yet", 0)
	if err != nil {
		return err
	}
	frame.Viewer, frame.Narrow = nil, true
	c.Response().Header().Set(echo.HeaderCacheControl, "no-store")
	return handlers.Render(c, http.StatusOK, account.UnsentPage(frame, user.Name, *form, next), nil)
}
