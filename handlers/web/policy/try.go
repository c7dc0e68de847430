package policy

import (
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/policy"
	"countersign/views"
	"countersign/views/pages/policies"
)

// tryPolicy says what the active policy, and the draft, would do with a call. It is sent
// as a form, since an input may be long; nothing is changed.
func (s *Screens) tryPolicy(c echo.Context) error {
	e, err := s.editing(c)
	if err != nil {
		return err
	}
	form, asked := c.QueryParams(), c.QueryParams().Has("tool")
	if c.Request().Method == http.MethodPost {
		form, asked = c.Request().PostForm, true
	}
	in := s.callToTry(e, form)
	if from := models.ResponseID(form.Get("from")); from != "" {
		if in, err = s.requestToTry(c, from); err != nil {
			return err
		}
		asked = true
	}
	if !slices.Contains(models.Kinds(), in.Call.Kind) || in.Call.Kind == models.KindReply {
		in.Call.Kind = models.KindToolCall
	}
	if asked {
		checkTried(&in)
	} else {
		in.Errors = nil
	}
	if asked && len(in.Errors) == 0 {
		if err := e.try(&in); err != nil {
			return err
		}
	}
	frame, err := s.Frame(c, "Try a call", -1)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if len(in.Errors) > 0 {
		status = http.StatusUnprocessableEntity
	}
	return handlers.Render(c, status, policies.TryPage(frame, policies.NewTry(in)), nil)
}

// localTime is how browsers send a date and time.
const localTime = "2006-01-02T15:04"

// callToTry reads the form.
func (s *Screens) callToTry(e *editing, form url.Values) policies.TryInput {
	in := policies.TryInput{When: form.Get("at"), Errors: map[string]string{}, Call: policy.Call{
		Kind: models.Kind(form.Get("kind")), ToolName: form.Get("tool"), Explicit: form.Get("explicit") == "true",
		Template: form.Get("template"), At: s.Store.Now(),
		Facts: policy.Facts{
			Agent: form.Get("agent"), Owner: form.Get("owner"), Conversation: form.Get("conversation"),
			Input: []byte(form.Get("input")),
		},
	}}
	if in.When != "" {
		at, err := time.ParseInLocation(localTime, in.When, e.standing.Program.Zone())
		if err != nil {
			in.Errors["at"] = "must be a date and a time such as 2026-03-02T18:00"
		}
		in.Call.At = at
	}
	return in
}

// requestToTry fills a request in.
func (s *Screens) requestToTry(c echo.Context, id models.ResponseID) (policies.TryInput, error) {
	a, err := s.request.Find(c.Request().Context(), site.ActorOf(c), id)
	if err != nil {
		return policies.TryInput{}, err
	}
	call, err := s.Store.CallOf(c.Request().Context(), a)
	return policies.TryInput{Request: a.ID, Call: call}, err
}

// checkTried checks the call that was typed.
func checkTried(in *policies.TryInput) {
	if in.Errors == nil {
		in.Errors = map[string]string{}
	}
	if wrong := site.AsError(in.Call.Check(), models.CodeInvalid); wrong != nil {
		for _, field := range [...]string{"input", "toolName"} {
			if text := wrong.Fields[field]; text != "" {
				in.Errors[field] = text
			}
		}
	}
}

// try adds what the active policy says, and the draft if there is one that is valid.
func (e *editing) try(in *policies.TryInput) error {
	in.Trial = append(in.Trial,
		policies.Tried{Title: "v" + views.Number(e.standing.Version) + ", which is active", Policy: e.standing.Program})
	if e.draft.Revision == 0 {
		return nil
	}
	candidate, err := e.compiled()
	if candidate == nil || err != nil {
		in.Draft = "Your draft is not valid yet, so it can't be tried."
		return err
	}
	in.Trial = append(in.Trial, policies.Tried{Title: "Your draft", Policy: candidate})
	return nil
}

// compiled is the draft as a policy; nil: it is not valid.
func (e *editing) compiled() (*policy.Policy, error) {
	if len(e.problems()) > 0 {
		return nil, nil //nolint:nilnil // there is none, which is no failure
	}
	raw, err := e.checked.Document.Marshal()
	if err != nil {
		return nil, err
	}
	return policy.ParseChanged(raw, e.base.Program.Document())
}
