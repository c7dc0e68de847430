package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
	"countersign/views/pages/inputs"
	"countersign/views/pages/requests"
)

// decide takes a verdict from the form of a request. A verdict that comes too
// late is answered with the current state, never with an error page.
func (s *Site) decide(c echo.Context) error {
	id, err := requestID(c)
	if err != nil {
		return err
	}
	form, desk := readVerdict(c.Request().PostForm), deskOf(c, id)
	again := requests.Input{Form: form.refilled(), Desk: desk}
	if form.undecided() {
		if err := s.prefill(c.Request().Context(), actorOf(c), id, form, &again.Form); err != nil {
			return err
		}
		return s.approvalPage(c, http.StatusOK, id, again)
	}
	a, err := s.takeVerdict(c.Request().Context(), actorOf(c), id, form)
	if err == nil {
		if desk != "" {
			return s.backToDesk(c, a, desk)
		}
		return s.backToRequest(c, id, "", "")
	}
	if u, ok := errors.AsType[*models.UnconfirmedError](err); ok {
		return s.confirmPage(c, id, u.Input, again)
	}
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

// takeVerdict has the store take what a form says, with what its sender has seen. The request is
// read once: a form sends its places, not what they mean.
func (s *Site) takeVerdict(ctx context.Context, actor models.Actor, id models.ResponseID, form verdictForm) (*models.Approval, error) {
	in, err := form.decision()
	if err != nil {
		return nil, err
	}
	if form.verdict == models.VerdictReject && !form.described {
		return s.store.Decide(ctx, actor, id, in)
	}
	a, err := s.store.Requests.Approval(ctx, actor, id)
	if err != nil {
		return nil, err
	}
	in.Page = &models.PageView{SeenEnd: seenEnd(form.values), Confirmed: form.values.Get(requests.ConfirmedField) == "true"}
	if in.Page.Folds, err = s.folds(ctx, actor, a); err != nil {
		return nil, err
	}
	if decidable(a, form.digest) {
		if err := form.input(a, &in); err != nil {
			return nil, err
		}
	}
	return s.store.Decide(ctx, actor, id, in)
}

// decidable reports whether a verdict with this digest can count. What has another, or was
// decided meanwhile, is for the store to refuse.
func decidable(a *models.Approval, digest string) bool {
	return digest == a.Digest && a.Status() == models.StatusPending && a.HeldUntil == nil
}

// input puts the edited input, or the suggested one, into the decision.
func (f verdictForm) input(a *models.Approval, in *models.DecisionInput) error {
	if f.described {
		return f.describe(a, in)
	}
	return f.edit(a, in)
}

// seenEnd reports whether the sender of a form has had the end of what it decides in
// view.
func seenEnd(values url.Values) bool { return values.Get(inputs.SeenEndField) == "1" }

// openedAll refuses to let through what somebody has not opened.
func (s *Site) openedAll(ctx context.Context, actor models.Actor, a *models.Approval, page *models.PageView) error {
	if len(a.Unopened(page.Folds, nil)) == 0 {
		return nil
	}
	opened, err := s.store.Requests.OpenedParts(ctx, actor, a.ID)
	if err != nil {
		return err
	}
	return a.CheckOpened(page.Folds, opened)
}

// folds are the parts of a request that its page folds for the person.
func (s *Site) folds(ctx context.Context, actor models.Actor, a *models.Approval) ([]string, error) {
	if a.UpstreamID == nil {
		return inputs.Folds(&a.Response, ""), nil
	}
	origins, err := s.store.Requests.Origins(ctx, actor, a.ID)
	return inputs.Folds(&a.Response, origins[a.ID].Beside), err
}

// What can be wrong with a verdict: it meets another state than was shown, or
// its form has to be corrected.
var (
	tooLate   = []models.Code{models.CodeAlreadyDecided, models.CodeExpired, models.CodeBeingDecided, models.CodeDigestMismatch}
	toCorrect = []models.Code{
		models.CodeInvalid, models.CodeWrongDecisionKind, models.CodeTakesNoEdits, models.CodeDigestRequired, models.CodeCommentRequired, models.CodeResponseRequired,
		models.CodeNoBudget, models.CodeNotAReviewer,
	}
)

// verdictForm is what a decider sent. Who decides is never part of it (I5).
type verdictForm struct {
	verdict models.Verdict
	edited  bool // the edited input is what is approved
	// described: it is rejected, and the edit suggested, which whoever asked does not take
	described bool
	reason    string // in the decider's own words
	preset    string // one of the reasons that the rule offers
	digest    string
	values    url.Values
}

func readVerdict(values url.Values) verdictForm {
	f := verdictForm{verdict: models.Verdict(values.Get("verdict")), digest: values.Get("digest"), values: values}
	if f.verdict == requests.ApproveAsEdited {
		f.verdict, f.edited = models.VerdictApprove, true
	}
	switch {
	case f.verdict == requests.RejectAsEdited:
		f.verdict, f.described = models.VerdictReject, true
	case f.verdict == "" && values.Has(requests.RejectOptionField):
		f.verdict = models.VerdictReject
	}
	f.reason, f.preset = f.text("reason"), f.text("preset")
	return f
}

// text is a field as typed: browsers send every line break as two characters.
func (f verdictForm) text(name string) string {
	return strings.ReplaceAll(f.values.Get(name), "\r\n", "\n")
}

// reasonForAgent is the reason that the agent gets: of a rejection the preset, then
// what the person wrote.
func (f verdictForm) reasonForAgent() string {
	if f.verdict != models.VerdictReject || f.preset == "" {
		return f.reason
	}
	return strings.TrimSuffix(f.preset+"\n"+f.reason, "\n")
}

// decision is what the form means. Whoever lets something through must have sent
// the digest of what was shown, whatever its risk (I6).
func (f verdictForm) decision() (models.DecisionInput, error) {
	in := models.DecisionInput{Reason: f.reasonForAgent(), Digest: f.digest, Checked: readTicks(f.values), Behalf: new(models.UserID(f.values.Get(requests.BehalfField)))}
	if err := f.budget(&in); err != nil {
		return in, err
	}
	switch f.verdict {
	case models.VerdictReject:
		in.Approved = new(false)
		f.chosenOption(&in)
		if f.described && f.digest == "" { // of what the change is is not known
			return in, noDigest()
		}
		return in, nil
	case models.VerdictApprove:
		in.Approved = new(true)
	case models.VerdictAnswer:
		switch {
		case f.values.Has("option"):
			in.Option = new(f.values.Get("option"))
		case f.values.Has("answer"):
			in.Answer = new(f.text("answer"))
			f.chosenOption(&in)
		default:
			return in, models.Invalid("answer", "is required, or choose one of the options")
		}
	default:
		return in, models.Errorf(models.CodeInvalid, "Choose Approve, Reject or Answer.")
	}
	if f.preset != "" || f.verdict == models.VerdictApprove && f.values.Get(requests.WithOptionField) != "" {
		return in, models.Errorf(models.CodeInvalid, "Nothing was decided: a reject reason is chosen. Clear it, or press Reject.")
	}
	if f.digest == "" {
		return in, noDigest()
	}
	return in, nil
}

func noDigest() error {
	return &models.Error{Code: models.CodeDigestRequired, Fields: map[string]string{"digest": "The form did not say what you were shown. It does now: check it and send it again."}}
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
		case "suggestedInput":
			out["input"] = text
		case requests.CheckedField:
			out[root] = models.TickAll
		case "newBudget", "budgetChange":
			out["new_budget"] = text
		default:
			if _, err := strconv.Atoi(strings.TrimPrefix(root, requests.FieldName(0)[:1])); err == nil {
				out[root] = text // a member of the input
				continue
			}
			out[""] = name + ": " + text
		}
	}
	return out
}
