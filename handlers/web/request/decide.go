package request

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/views"
	"countersign/views/pages/inputs"
	"countersign/views/pages/requests"
)

// decide takes a verdict from the form of a request. A verdict that comes too
// late is answered with the current state, never with an error page.
func (s *Screens) decide(c echo.Context) error {
	id, err := ID(c)
	if err != nil {
		return err
	}
	form, desk := ReadVerdict(c.Request().PostForm), deskOf(c, id)
	again := requests.Input{Form: form.Refilled(), Desk: desk}
	if form.Undecided() {
		if err := s.Prefill(c.Request().Context(), site.ActorOf(c), id, form, &again.Form); err != nil {
			return err
		}
		return s.approvalPage(c, http.StatusOK, id, again)
	}
	a, err := s.TakeVerdict(c.Request().Context(), site.ActorOf(c), id, form)
	if err == nil && form.rule {
		return site.Leave(c, views.NewPolicyRuleURL(id))
	}
	if err == nil {
		if desk != "" {
			return s.Desk(c, a, desk)
		}
		return s.backToRequest(c, id, "", "")
	}
	if u, ok := errors.AsType[*models.UnconfirmedError](err); ok {
		return s.ConfirmPage(c, id, u.Input, again)
	}
	if e := site.AsError(err, TooLate...); e != nil {
		again.Late = form.Verdict
		return s.approvalPage(c, handlers.Status(e.Code), id, again)
	}
	if e := site.AsError(err, ToCorrect...); e != nil {
		again.Form.Errors = AtFields(e)
		return s.approvalPage(c, handlers.Status(e.Code), id, again)
	}
	return err
}

// TakeVerdict has the store take what a form says, with what its sender has seen. The request is
// read once: a form sends its places, not what they mean.
func (s *Screens) TakeVerdict(
	ctx context.Context, actor models.Actor, id models.ResponseID, form VerdictForm,
) (*models.Approval, error) {
	in, err := form.decision()
	if err == nil && form.rule {
		err = actor.NeedAdmin()
	}
	if err != nil {
		return nil, err
	}
	if form.Verdict == models.VerdictReject && !form.described {
		return s.Store.Decide(ctx, actor, id, in)
	}
	a, err := s.Store.Requests.Approval(ctx, actor, id)
	if err != nil {
		return nil, err
	}
	in.Page = &models.PageView{SeenEnd: SeenEnd(form.values), Confirms: form.values.Get(requests.ConfirmedField) == "true"}
	if in.Page.Folds, err = s.Folds(ctx, actor, a); err != nil {
		return nil, err
	}
	if decidable(a, form.digest) {
		if err := form.input(a, &in); err != nil {
			return nil, err
		}
	}
	return s.Store.Decide(ctx, actor, id, in)
}

// decidable reports whether a verdict with this digest can count. The store refuses one with another digest, or for a
// request that was decided meanwhile.
func decidable(a *models.Approval, digest string) bool {
	return digest == a.Digest && a.Status() == models.StatusPending && a.HeldUntil == nil
}

// input puts the edited input, or the suggested one, into the decision.
func (f VerdictForm) input(a *models.Approval, in *models.DecisionInput) error {
	if f.described {
		return f.describe(a, in)
	}
	return f.edit(a, in)
}

// SeenEnd reports whether the sender of a form has had the end of what it decides in
// view.
func SeenEnd(values url.Values) bool { return values.Get(inputs.SeenEndField) == "1" }

// OpenedAll refuses to let through what somebody has not opened.
func (s *Screens) OpenedAll(ctx context.Context, actor models.Actor, a *models.Approval, page *models.PageView) error {
	if len(a.Unopened(page.Folds, nil)) == 0 {
		return nil
	}
	opened, err := s.Store.Requests.OpenedParts(ctx, actor, a.ID)
	if err != nil {
		return err
	}
	return a.CheckOpened(page.Folds, opened)
}

// Folds are the parts of a request that its page folds for the person.
func (s *Screens) Folds(ctx context.Context, actor models.Actor, a *models.Approval) ([]string, error) {
	if a.UpstreamID == nil {
		return inputs.Folds(&a.Response, ""), nil
	}
	origins, err := s.Store.Requests.Origins(ctx, actor, a.ID)
	return inputs.Folds(&a.Response, origins[a.ID].Beside), err
}

// What can be wrong with a verdict: it meets another state than was shown, or
// its form has to be corrected.
var (
	TooLate = []models.Code{
		models.CodeAlreadyDecided, models.CodeExpired, models.CodeBeingDecided, models.CodeDigestMismatch,
	}
	ToCorrect = []models.Code{
		models.CodeInvalid, models.CodeWrongDecisionKind, models.CodeTakesNoEdits, models.CodeDigestRequired,
		models.CodeCommentRequired, models.CodeResponseRequired,
		models.CodeNoBudget, models.CodeNotAReviewer,
	}
)

// VerdictForm is what a decider sent. Who decides is never part of it (I5).
type VerdictForm struct {
	Verdict models.Verdict
	edited  bool // the verdict approves the edited input
	rule    bool // a rule is made from it afterwards
	// described: it is rejected, and the edit suggested, which the agent does not take
	described bool
	reason    string // in the decider's own words
	preset    string // one of the reasons that the rule offers
	digest    string
	values    url.Values
}

// ReadVerdict reads the form of a verdict.
func ReadVerdict(values url.Values) VerdictForm {
	f := VerdictForm{Verdict: models.Verdict(values.Get("verdict")), digest: values.Get("digest"), values: values}
	if f.Verdict == requests.ApproveAsEdited {
		f.Verdict, f.edited = models.VerdictApprove, true
	}
	switch {
	case f.Verdict == requests.ApproveAndRule:
		f.Verdict, f.rule = models.VerdictApprove, true
	case f.Verdict == requests.RejectAsEdited:
		f.Verdict, f.described = models.VerdictReject, true
	case f.Verdict == "" && values.Has(requests.RejectOptionField):
		f.Verdict = models.VerdictReject
	}
	f.reason, f.preset = f.text("reason"), f.text("preset")
	return f
}

// breaksGlass reports whether it decides alone.
func (f VerdictForm) breaksGlass() bool { return f.values.Get(requests.BreakGlassField) == "true" }

// text is a field as typed: browsers send every line break as two characters.
func (f VerdictForm) text(name string) string {
	return strings.ReplaceAll(f.values.Get(name), "\r\n", "\n")
}

// reasonForAgent is the reason that the agent gets: of a rejection the preset, then
// what the person wrote.
func (f VerdictForm) reasonForAgent() string {
	if f.Verdict != models.VerdictReject || f.preset == "" {
		return f.reason
	}
	return strings.TrimSuffix(f.preset+"\n"+f.reason, "\n")
}

// decision is what the form means. A person who approves must send the digest that was shown, whatever the risk (I6).
func (f VerdictForm) decision() (models.DecisionInput, error) {
	in := models.DecisionInput{
		BreakGlass: f.breaksGlass(), Reason: f.reasonForAgent(), Digest: f.digest, Checked: readTicks(f.values),
		Behalf: new(models.UserID(f.values.Get(requests.BehalfField))),
	}
	if err := f.budget(&in); err != nil {
		return in, err
	}
	switch f.Verdict {
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
	if f.preset != "" || f.Verdict == models.VerdictApprove && f.values.Get(requests.WithOptionField) != "" {
		return in, models.Errorf(models.CodeInvalid,
			"Nothing was decided: a reject reason is chosen. Clear it, or press Reject.")
	}
	if f.digest == "" {
		return in, noDigest()
	}
	return in, nil
}

func noDigest() error {
	return &models.Error{
		Code:   models.CodeDigestRequired,
		Fields: map[string]string{"digest": "The form did not say what you were shown. It does now: check it and send it again."},
	}
}

// AtFields puts each text at its field on the page; others get the empty key and are shown above the form.
func AtFields(e *models.Error) map[string]string {
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
