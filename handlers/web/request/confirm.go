package request

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
	"countersign/views"
	"countersign/views/pages/requests"
)

// ConfirmPage shows all of what would be approved, and asks once more. Its form sends the same fields to the same
// address; this page decides nothing.
func (s *Screens) ConfirmPage(c echo.Context, id models.ResponseID, edited []byte, in requests.Input) error {
	in.Confirm = &requests.ConfirmInput{
		URL: c.Request().URL.Path, Sent: c.Request().PostForm, Input: edited, OwnPage: c.Param("id") != string(id),
	}
	in.OwnPage = !handlers.WantsFragment(c.Request())
	v, err := s.View(c, id, in)
	if err != nil {
		return err
	}
	frame := views.Page{Now: s.Kit.Now()}
	if in.OwnPage {
		if frame, err = s.Frame(c, "", -1); err != nil {
			return err
		}
	}
	frame.Title = v.Title
	return handlers.Render(c, http.StatusOK, requests.ConfirmPage(frame, v), requests.ConfirmPanel(v))
}
