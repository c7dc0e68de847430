package web

import (
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
	"countersign/views"
	"countersign/views/pages"
)

// unconfirmed says that an approval that can do much harm was sent with one press
// and has to be confirmed. Nothing was decided.
type unconfirmed struct {
	approval *models.Approval
	decision models.DecisionInput
}

func (*unconfirmed) Error() string { return "not confirmed" }

// confirm refuses what can do much harm and was not confirmed.
func (f verdictForm) confirm(a *models.Approval, in models.DecisionInput) error {
	return confirmed(f.values, a, in)
}

func confirmed(values url.Values, a *models.Approval, in models.DecisionInput) error {
	if !a.Risk.NeedsDigest() || values.Get(pages.ConfirmedField) == "true" {
		return nil
	}
	return &unconfirmed{a, in}
}

// confirmPage shows all of what would be approved, and asks once more. Its form
// sends what was sent, to where it was sent; nothing is decided here.
func (s *Site) confirmPage(c echo.Context, u *unconfirmed, in pages.ApprovalInput) error {
	in.Confirm = &pages.ConfirmInput{URL: c.Request().URL.Path, Sent: c.Request().PostForm, Input: u.decision.Input, Alone: c.Param("id") != string(u.approval.ID)}
	in.Alone = !handlers.WantsFragment(c.Request())
	v, err := s.approvalView(c, u.approval.ID, in)
	if err != nil {
		return err
	}
	frame := views.Page{Now: s.kit.Now()}
	if in.Alone {
		if frame, err = s.frame(c, "", -1); err != nil {
			return err
		}
	}
	frame.Title = v.Title
	return handlers.Render(c, http.StatusOK, pages.ConfirmPage(frame, v), pages.ConfirmPanel(v))
}
