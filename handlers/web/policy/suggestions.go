package policy

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/drafts"
	"countersign/models/suggest"
	"countersign/views"
	"countersign/views/pages/policies"
)

// showSuggestions lists rules that past decisions suggest.
func (s *Screens) showSuggestions(c echo.Context) error {
	return s.suggestionsPage(c, http.StatusOK, policies.SuggestionsInput{})
}

func (s *Screens) suggestionsPage(c echo.Context, status int, in policies.SuggestionsInput) error {
	all, err := drafts.New(s.Store).Suggestions(c.Request().Context(), site.ActorOf(c))
	if err != nil {
		return err
	}
	in.Report, in.Days = *all, drafts.SuggestedDays
	frame, err := s.Frame(c, "Suggested rules", -1)
	if err != nil {
		return err
	}
	in.Now = frame.Now
	return handlers.Render(c, status, policies.SuggestionsPage(frame, policies.NewSuggestions(in)), nil)
}

// actOnSuggestion puts one into the draft, dismisses it, or has a dismissed one suggested again.
func (s *Screens) actOnSuggestion(c echo.Context) error {
	ctx, actor, form := c.Request().Context(), site.ActorOf(c), c.Request().PostForm
	key, work := form.Get("key"), drafts.New(s.Store)
	var err error
	leads, flash := views.SuggestionsURL(), ""
	switch form.Get("step") {
	case "draft":
		leads, flash, err = s.draftSuggestion(c, key)
	case "dismiss":
		flash, err = "suggestion-dismissed", work.Dismiss(ctx, actor, key, form.Get("note"))
	case "reoffer":
		flash, err = "suggestion-again", work.Reoffer(ctx, actor, key)
	default:
		err = models.Errorf(models.CodeConflict, "Nothing was changed: the button is not known.")
	}
	switch failed := site.AsError(err, models.CodeInvalid, models.CodeConflict, models.CodeNotFound); {
	case failed == nil && err != nil:
		return err
	case failed != nil && failed.Fields["note"] != "":
		return s.suggestionsPage(c, http.StatusUnprocessableEntity, policies.SuggestionsInput{Key: key, Note: form.Get("note"), NoteError: failed.Fields["note"]})
	case failed != nil:
		return s.suggestionsPage(c, http.StatusConflict, policies.SuggestionsInput{Notice: failed.Text})
	}
	if flash != "" {
		s.SetFlash(c, flash)
	}
	return c.Redirect(http.StatusSeeOther, leads)
}

// draftSuggestion puts a suggested rule into the draft, and leads to its form. A rule that is there already stays as it is.
func (s *Screens) draftSuggestion(c echo.Context, key string) (leads, flash string, err error) {
	one, err := drafts.New(s.Store).Suggestion(c.Request().Context(), site.ActorOf(c), key)
	if err != nil {
		return "", "", err
	}
	e, err := s.editing(c)
	if err != nil {
		return "", "", err
	}
	if e.doc == nil {
		return "", "", models.Errorf(models.CodeConflict, "Your draft can't be shown as a form. Correct its JSON, or discard it, first.")
	}
	if one.Kind == suggest.Checklist {
		at := e.doc.RuleNamed(one.Holds)
		if at < 0 {
			return "", "", models.Errorf(models.CodeConflict, "Your draft has no such rule. It may have been renamed or deleted.")
		}
		return views.PolicyRuleURL(at + 1), "", nil
	}
	at := e.doc.AddRule(one.Rule, one.Holds)
	if err := s.keep(c, e); err != nil {
		return "", "", err
	}
	return views.PolicyRuleURL(at + 1), "suggestion-drafted", nil
}
