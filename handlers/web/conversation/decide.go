package conversation

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/request"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/views/pages/conversations"
	"countersign/views/pages/requests"
)

// decideHere takes a verdict from the form of a request in its conversation, and
// leads back to it there.
func (s *Screens) decideHere(c echo.Context) error {
	v, err := s.visibleConversation(c)
	if err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	a, err := s.responseIn(ctx, actor, v.ID, c.Param("response"))
	if err != nil {
		return err
	}
	form := request.ReadVerdict(c.Request().PostForm)
	again := conversations.FailedDecision{ID: a.ID, Form: form.Refilled()}
	if form.Undecided() {
		if err := s.request.Prefill(ctx, actor, a.ID, form, &again.Form); err != nil {
			return err
		}
		return s.decidedHere(c, http.StatusOK, v, a, again)
	}
	if _, err = s.request.TakeVerdict(ctx, actor, a.ID, form); err == nil {
		return c.Redirect(http.StatusSeeOther, conversations.EntryURL(&v.Conversation, a.Sequence))
	}
	if u, ok := errors.AsType[*models.UnconfirmedError](err); ok {
		return s.request.ConfirmPage(c, a.ID, u.Input, requests.Input{Form: again.Form})
	}
	e := site.AsError(err, request.TooLate...)
	if e != nil {
		again.Late = form.Verdict
	} else if e = site.AsError(err, request.ToCorrect...); e != nil {
		again.Form.Errors = request.AtFields(e)
	} else {
		return err
	}
	return s.decidedHere(c, handlers.Status(e.Code), v, a, again)
}

// decidedHere shows the conversation with a request's form as it was sent.
func (s *Screens) decidedHere(
	c echo.Context, status int, v *models.ConversationView, a *models.Approval, again conversations.FailedDecision,
) error {
	shown := conversations.Input{Conversation: *v, Around: conversations.HistoryAround{Decided: &again}}
	if conversations.MayBeEarlier(&v.Conversation, a.Sequence) {
		shown.Before = a.Sequence + 1
	}
	return s.conversationPage(c, status, shown)
}
