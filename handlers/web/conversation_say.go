package web

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
	"countersign/views"
	"countersign/views/pages"
)

// say takes what is said, decided and changed in one form: all of it or nothing.
// What met another state than was shown, or has to be corrected, comes back with
// the form as it was sent.
func (s *Site) say(c echo.Context) error {
	v, err := s.visibleConversation(c)
	if err != nil {
		return err
	}
	form := readSay(c.Request().PostForm)
	in, err := form.message(v.ID)
	if err == nil && c.Request().PostForm.Get(pages.CancelField) != "" {
		return s.showAfterSay(c, v.ID, http.StatusOK, form.SayForm)
	}
	if err == nil {
		err = s.readyToApprove(c, in)
	}
	if u, ok := errors.AsType[*unconfirmed](err); ok {
		return s.confirmPage(c, u, pages.ApprovalInput{})
	}
	if err == nil {
		_, err = s.store.Say(c.Request().Context(), actorOf(c), in)
	}
	if err == nil {
		return c.Redirect(http.StatusSeeOther, views.ConversationEndURL(v.ID))
	}
	if e := asError(err, append(tooLate, models.CodeNoPendingApproval)...); e != nil {
		form.Notice = s.unsaid(e, form.Decision)
		form.Decision = "" // whatever waits now was not decided on
		return s.showAfterSay(c, v.ID, handlers.Status(e.Code), form.SayForm)
	}
	if e := asError(err, append(toCorrect, models.CodeNoBudget)...); e != nil {
		form.Errors = atComposer(e)
		return s.showAfterSay(c, v.ID, handlers.Status(e.Code), form.SayForm)
	}
	return err
}

// readyToApprove refuses an approval beside a message that lets through what its
// decider has not opened, or has not confirmed.
func (s *Site) readyToApprove(c echo.Context, in models.MessageInput) error {
	ctx, actor, d := c.Request().Context(), actorOf(c), in.Decision
	if d == nil || d.Approved == nil || !*d.Approved {
		return nil
	}
	a, err := s.store.Approval(ctx, actor, d.ResponseID)
	switch {
	case models.ErrorCode(err) == models.CodeNotFound:
		return nil // which the store refuses in its own words
	case err != nil:
		return err
	}
	if d.Page.Folds, err = s.folds(ctx, actor, a); err != nil {
		return err
	}
	if err := s.openedIfShown(ctx, actor, a, d.Digest, d.Page); err != nil || !decidable(a, d.Digest) {
		return err
	}
	if err := tickedFirst(actor, a, d.Checked); err != nil {
		return err
	}
	return confirmed(c.Request().PostForm, a, models.DecisionInput{})
}

// showAfterSay shows the conversation as it is now, with what was sent.
func (s *Site) showAfterSay(c echo.Context, id models.ConversationID, status int, form pages.SayForm) error {
	v, err := s.store.Conversation(c.Request().Context(), actorOf(c), id)
	if err != nil {
		return err
	}
	return s.conversationPage(c, status, pages.ConversationInput{Conversation: *v, Say: form})
}

// unsaid says what the outcome is when a decision came too late.
func (s *Site) unsaid(e *models.Error, verdict models.Verdict) string {
	text := e.Text
	if e.Approval != nil {
		text = pages.LateNotice(e.Approval, verdict, s.kit.Now())
	}
	return text + " The rest of what you sent was not saved either. It is still in the form."
}

// saidForm is what a person sent. Who decides is never part of it (I5).
type saidForm struct {
	pages.SayForm

	seenEnd bool
}

func readSay(values url.Values) saidForm {
	text := func(name string) string { return strings.ReplaceAll(values.Get(name), "\r\n", "\n") }
	return saidForm{
		SayForm: pages.SayForm{
			Sent: true, Response: values.Get("responseId"), Digest: values.Get("digest"),
			Content: text("content"), Decision: models.Verdict(values.Get("decision")), Reason: text("reason"),
			Checked: readTicks(values), Mode: values.Get("budgetMode"), Amount: strings.TrimSpace(values.Get("budgetAmount")),
		},
		seenEnd: seenEnd(values),
	}
}

// message is what the form means. A verdict names what it is about and carries
// the digest of what was shown (I6).
func (f saidForm) message(id models.ConversationID) (models.MessageInput, error) {
	in := models.MessageInput{ConversationID: id, Content: f.Content}
	if strings.TrimSpace(f.Content) == "" {
		in.Content = ""
	}
	decision := models.ConversationDecision{Feedback: f.Reason, Checked: f.Checked, Page: &models.PageView{SeenEnd: f.seenEnd}}
	var err error
	if decision.Budget, err = f.budget(); err != nil {
		return in, err
	}
	switch f.Decision {
	case "":
	case models.VerdictApprove, models.VerdictReject:
		if f.Digest == "" {
			return in, &models.Error{Code: models.CodeDigestRequired, Fields: map[string]string{"decision": "The form did not say which request you saw. It does now: decide again, then send."}}
		}
		response, err := models.ParseID[models.ResponseID]("decision", f.Response)
		if err != nil {
			return in, err
		}
		decision.Approved, decision.ResponseID, decision.Digest = new(f.Decision == models.VerdictApprove), response, f.Digest
	case models.VerdictAnswer:
		return in, models.Invalid("decision", "must be approve, reject or neither; answer a question at its entry")
	default:
		return in, models.Invalid("decision", "must be approve, reject or neither")
	}
	if decision.Approved == nil && decision.Budget.None() {
		if in.Content == "" {
			return in, models.Invalid("content", "must not be empty, unless something is decided or changed")
		}
		return in, nil
	}
	in.Decision = &decision
	return in, nil
}

// budget is the change that the form asks for. What a proposal would like is
// taken only with its approval.
func (f saidForm) budget() (models.BudgetChange, error) {
	none := models.BudgetChange{}
	switch f.Mode {
	case pages.BudgetLeave:
		return none, nil
	case pages.BudgetGrant:
		if f.Decision != models.VerdictApprove {
			return none, nil
		}
	case pages.BudgetSet, pages.BudgetStep:
	default:
		return none, models.Invalid("budget", "must be kept, set or changed by an amount")
	}
	n, err := strconv.ParseInt(f.Amount, 10, 64)
	if err != nil {
		return none, models.Invalid("budget", "must be a whole number of units")
	}
	if f.Mode == pages.BudgetStep {
		return models.BudgetChange{Delta: &n}, nil
	}
	return models.BudgetChange{Set: &n}, nil
}

// atComposer puts each text where its field is in the form.
func atComposer(e *models.Error) map[string]string {
	if len(e.Fields) == 0 {
		at := map[models.Code]string{models.CodeNoBudget: "budget", models.CodeCommentRequired: "reason", models.CodeDigestRequired: "decision", models.CodeNotAReviewer: "decision"}[e.Code]
		return map[string]string{at: e.Text}
	}
	out := make(map[string]string, len(e.Fields))
	for name, text := range e.Fields {
		switch name {
		case "newBudget", "budgetChange", "budget":
			out["budget"] = text
		case "feedback", "reason":
			out["reason"] = text
		case "digest", "responseId", "decision":
			out["decision"] = text
		case "content":
			out["content"] = text
		case pages.CheckedField:
			out[name] = models.TickAll
		default:
			out[""] = name + ": " + text
		}
	}
	return out
}
