package policy

import (
	"github.com/labstack/echo/v4"

	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/drafts"
	"countersign/models/policy"
	"countersign/views"
)

// fix carries out the remedy of a remark in the draft, and tells where that leads. What the remedy is comes from the
// draft and the installation as they are now, never from the form. CodeConflict: the remark does not apply any more.
func (s *Screens) fix(c echo.Context, e *editing, key string) (leads string, err error) {
	if len(e.problems()) > 0 {
		return "", models.Errorf(models.CodeConflict, "Nothing was changed. Correct the marked fields first.")
	}
	usage, err := drafts.New(s.Store).Usage(c.Request().Context(), site.ActorOf(c))
	if err != nil {
		return "", err
	}
	for _, w := range policy.LintIn(e.checked.Document, usage) {
		if w.Fix == nil || w.Key() != key {
			continue
		}
		rules := e.doc.Rules()
		e.doc.Fix(*w.Fix)
		switch at := w.Fix.Rule; {
		case at < 0:
			return e.section.URL(), nil
		case e.doc.Rules() < rules:
			return views.PolicyRulesURL(at/views.RulesOnAPage + 1), nil
		default:
			return views.PolicyRuleRowURL(at + 1), nil
		}
	}
	return "", models.Errorf(models.CodeConflict, "Nothing was changed: that remark does not apply any more.")
}
