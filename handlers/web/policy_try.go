package web

import (
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
	"countersign/models/policy"
	"countersign/views"
	"countersign/views/pages"
)

// tryPolicy says what the policy that stands, and the draft, would do with a call.
func (s *Site) tryPolicy(c echo.Context) error {
	e, err := s.editing(c)
	if err != nil {
		return err
	}
	in := pages.PolicyTryInput{Call: policy.Call{
		Kind: models.Kind(c.QueryParam("kind")), ToolName: c.QueryParam("tool"), Explicit: c.QueryParam("explicit") == "true",
	}}
	asked := c.QueryParams().Has("tool")
	if from := models.ResponseID(c.QueryParam("from")); from != "" {
		a, err := s.requestFor(c.Request().Context(), actorOf(c), from)
		if err != nil {
			return err
		}
		in.Request, in.Call, asked = a.ID, policy.Call{Kind: a.Kind, ToolName: a.ToolName}, true
	}
	if !slices.Contains(models.Kinds(), in.Call.Kind) || in.Call.Kind == models.KindReply {
		in.Call.Kind = models.KindToolCall
	}
	if asked && (in.Call.ToolName != "" || in.Call.Kind == models.KindToolCall) {
		if wrong := asError(models.CheckToolName("tool", in.Call.ToolName), models.CodeInvalid); wrong != nil {
			in.Error = wrong.Fields["tool"]
		}
	}
	if asked && in.Error == "" {
		if err := e.try(&in); err != nil {
			return err
		}
	}
	frame, err := s.frame(c, "Try a call", -1)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if in.Error != "" {
		status = http.StatusUnprocessableEntity
	}
	return handlers.Render(c, status, pages.PolicyTryPage(frame, pages.NewPolicyTry(in)), nil)
}

// try adds what stands, and the draft if there is one that is valid.
func (e *editing) try(in *pages.PolicyTryInput) error {
	in.Tried = append(in.Tried, pages.PolicyTried{Title: "v" + views.Number(e.standing.Version) + ", which is active", Policy: e.standing.Compiled})
	if e.draft.Revision == 0 {
		return nil
	}
	if len(e.problems()) > 0 {
		in.Draft = "Your draft is not valid yet, so it can't be tried."
		return nil
	}
	raw, err := e.checked.Document.Marshal()
	if err != nil {
		return err
	}
	compiled, err := policy.ParseChanged(raw, e.base.Compiled.Document())
	if err != nil {
		return err
	}
	in.Tried = append(in.Tried, pages.PolicyTried{Title: "Your draft", Policy: compiled})
	return nil
}
