package policy

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/drafts"
	"countersign/models/policy"
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
	in.Found, in.Calls, in.Since, in.Cut, in.Days = all.Found, all.Calls, all.Since, all.Cut, drafts.SuggestedDays
	for _, d := range all.Dismissals {
		in.Dismissals = append(in.Dismissals, policies.DismissalInput{Suggestion: d.Suggestion, Note: d.By.Note, By: d.By.ByName, At: d.By.At})
	}
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
	rules := make([]policy.Form, e.doc.Rules())
	for i := range rules {
		rules[i] = e.doc.Rule(i)
	}
	named := func(name string) int {
		return slices.IndexFunc(rules, func(r policy.Form) bool { return r["name"] == name && r["disabled"] != "true" })
	}
	if one.Kind == suggest.Checklist {
		if at := named(one.Holds); at >= 0 {
			return views.PolicyRuleURL(at + 1), "", nil
		}
		return "", "", models.Errorf(models.CodeConflict, "Your draft has no such rule. It may have been renamed or deleted.")
	}
	tools := strings.Join(one.Rule.Tools, "\n")
	if at := slices.IndexFunc(rules, func(r policy.Form) bool { return r["when"] == one.Rule.When && r["tools"] == tools }); at >= 0 {
		return views.PolicyRuleURL(at + 1), "suggestion-drafted", nil
	}
	last, at := len(rules), named(one.Holds)
	e.doc.PutRule(last, policy.Form{
		"name": one.Rule.Name, "tools": tools, "when": one.Rule.When, "effect": string(one.Rule.Effect), "reason": one.Rule.Reason,
		"risk": string(one.Rule.Risk), "energy": strings.TrimPrefix(strconv.FormatInt(one.Rule.Energy, 10), "0"),
	})
	if at >= 0 {
		e.doc.MoveRule(last, at)
	} else {
		at = last
	}
	if err := s.keep(c, e); err != nil {
		return "", "", err
	}
	return views.PolicyRuleURL(at + 1), "suggestion-drafted", nil
}
