package web

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
	"countersign/views"
	"countersign/views/pages"
)

// decide takes a verdict from the form of a request. A verdict that comes too
// late is answered with what stands, never with an error page.
func (s *Site) decide(c echo.Context) error {
	id, err := requestID(c)
	if err != nil {
		return err
	}
	r := c.Request()
	form := readVerdict(r.PostForm)
	in, err := form.decision()
	if err == nil {
		_, err = s.store.Decide(r.Context(), actorOf(c), id, in)
	}
	if err == nil {
		if handlers.WantsFragment(r) {
			return s.approvalPage(c, http.StatusOK, id, pages.ApprovalInput{})
		}
		return c.Redirect(http.StatusSeeOther, views.ApprovalURL(id))
	}
	again := pages.ApprovalInput{Form: form.again()}
	if e := asError(err, tooLate...); e != nil {
		again.Late = form.verdict
		return s.approvalPage(c, handlers.Status(e.Code), id, again)
	}
	if e := asError(err, toCorrect...); e != nil {
		again.Form.Errors = atFields(e)
		return s.approvalPage(c, handlers.Status(e.Code), id, again)
	}
	return err
}

// What can be wrong with a verdict: it meets another state than was shown, or
// its form has to be corrected.
var (
	tooLate   = []models.Code{models.CodeAlreadyDecided, models.CodeExpired, models.CodeBeingDecided, models.CodeDigestMismatch}
	toCorrect = []models.Code{
		models.CodeInvalid, models.CodeWrongDecisionKind, models.CodeDigestRequired, models.CodeCommentRequired, models.CodeResponseRequired,
		models.CodeNoBudget,
	}
)

// verdictForm is what a decider sent. Who decides is never part of it (I5).
type verdictForm struct {
	verdict models.Verdict
	reason  string
	digest  string
	values  url.Values
}

func readVerdict(values url.Values) verdictForm {
	f := verdictForm{verdict: models.Verdict(values.Get("verdict")), digest: values.Get("digest"), values: values}
	f.reason = f.text("reason")
	return f
}

// text is a field as typed: browsers send every line break as two characters.
func (f verdictForm) text(name string) string {
	return strings.ReplaceAll(f.values.Get(name), "\r\n", "\n")
}

// decision is what the form means. Whoever lets something through must have sent
// the digest of what was shown, whatever its risk (I6).
func (f verdictForm) decision() (models.DecisionInput, error) {
	in := models.DecisionInput{Reason: f.reason, Digest: f.digest}
	if err := f.budget(&in); err != nil {
		return in, err
	}
	switch f.verdict {
	case models.VerdictReject:
		in.Approved = new(false)
		return in, nil
	case models.VerdictApprove:
		in.Approved = new(true)
		if f.values.Has("input") {
			in.Input = []byte(f.text("input"))
		}
	case models.VerdictAnswer:
		switch {
		case f.values.Has("option"):
			in.Option = new(f.values.Get("option"))
		case f.values.Has("answer"):
			in.Answer = new(f.text("answer"))
		default:
			return in, models.Invalid("answer", "must be given, or one of the options chosen")
		}
	default:
		return in, models.Errorf(models.CodeInvalid, "Choose what to do: approve, reject or answer.")
	}
	if f.digest == "" {
		return in, &models.Error{Code: models.CodeDigestRequired, Fields: map[string]string{"digest": "The form did not say what was shown; it does now: send it again."}}
	}
	return in, nil
}

// atFields puts each text where its field is on the page; others stand above the
// form.
func atFields(e *models.Error) map[string]string {
	if len(e.Fields) == 0 {
		return map[string]string{"": e.Text}
	}
	out := make(map[string]string, len(e.Fields))
	for name, text := range e.Fields {
		switch root, _, _ := strings.Cut(strings.ReplaceAll(name, "[", "."), "."); root {
		case "reason", "answer", "option", "input", "digest", "sum", "new_budget":
			out[root] = text
		case "newBudget", "budgetChange":
			out["new_budget"] = text
		default:
			out[""] = name + ": " + text
		}
	}
	return out
}
