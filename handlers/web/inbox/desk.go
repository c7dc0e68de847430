package inbox

import (
	"net/http"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/request"
	"countersign/models"
	"countersign/views/pages/inbox"
)

// BackToDesk answers a verdict that was given beside the list, or one that was
// taken back there: with the request that comes next, or the same if there is
// none, and the list in which a line says what became of it. desk is the query of
// the place that the form stood in.
func (s *Screens) BackToDesk(c echo.Context, a *models.Approval, desk string) error {
	place := request.ReadDesk(desk)
	in, err := s.readInbox(c, place, a.ID)
	if err != nil {
		return err
	}
	open := a.ID
	if a.Status() != models.StatusPending || a.HeldUntil != nil {
		if next := inbox.Next(in, a.ID, s.Kit.Now()); next != "" {
			open = next
		}
	}
	in.Place = place.At(open)
	if !handlers.WantsFragment(c.Request()) {
		s.setDecided(c, a.ID)
		return c.Redirect(http.StatusSeeOther, in.Place.URL())
	}
	in.Explicit = true
	if err := s.openCard(c, &in); err != nil {
		return err
	}
	h := c.Response().Header()
	h.Set("Hx-Retarget", "#detail")
	h.Set("Hx-Reswap", "outerHTML")
	v := inbox.New(in, s.Kit.Now())
	v.Apart, v.Detail.Focus = true, true
	return handlers.Render(c, http.StatusOK, templ.NopComponent, inbox.DeskFragment(v))
}
