package policy

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/policy"
	"countersign/views"
	"countersign/views/pages/policies"
)

// showPolicyJSON shows the draft as JSON.
func (s *Screens) showPolicyJSON(c echo.Context) error {
	e, err := s.editing(c)
	if err != nil {
		return err
	}
	text, err := e.text()
	if err != nil {
		return err
	}
	return s.policyJSON(c, http.StatusOK, e, text, "")
}

func (s *Screens) policyJSON(c echo.Context, status int, e *editing, text, notice string) error {
	frame, err := s.Frame(c, "The policy as JSON", -1)
	if err != nil {
		return err
	}
	v := policies.NewJSON(e.draft.Base, e.draft.Revision, policy.Visible(text), notice, e.problems())
	return handlers.Render(c, status, policies.JSONPage(frame, v), nil)
}

// changePolicyJSON takes the draft as JSON.
func (s *Screens) changePolicyJSON(c echo.Context) error {
	form := c.Request().PostForm
	text := strings.ReplaceAll(form.Get("document"), "\r\n", "\n")
	e, err := s.editing(c)
	if err != nil {
		return err
	}
	same, err := s.sentFrom(c, e)
	if err != nil {
		return err
	}
	if err := e.read(text); err != nil {
		return err
	}
	if !same {
		return s.policyJSON(c, http.StatusConflict, e, text, otherWindow)
	}
	if err := s.keepText(c, e, text); err != nil {
		switch failed := site.AsError(err, models.CodeInvalid, models.CodeConflict); {
		case failed == nil:
			return err
		case failed.Code == models.CodeConflict:
			return s.policyJSON(c, http.StatusConflict, e, text, otherWindow)
		default:
			return s.policyJSON(c, http.StatusUnprocessableEntity, e, text, "")
		}
	}
	switch {
	case e.broken != nil:
		return s.policyJSON(c, http.StatusUnprocessableEntity, e, text,
			"This can't be shown as a form yet. Your text is kept.")
	case form.Get("step") == "form":
		return c.Redirect(http.StatusSeeOther, views.PolicyURL())
	case len(e.checked.Problems) > 0:
		return s.policyJSON(c, http.StatusUnprocessableEntity, e, text, "Some fields are not valid yet. Your draft is kept.")
	}
	return c.Redirect(http.StatusSeeOther, views.PolicyReviewURL())
}
