package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/views/pages"
)

// decideHere takes a verdict from the form of a request in its conversation, and
// leads back to it there.
func (s *Site) decideHere(c echo.Context) error {
	v, err := s.visibleConversation(c)
	if err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), actorOf(c)
	a, err := s.responseIn(ctx, actor, v.ID, c.Param("response"))
	if err != nil {
		return err
	}
	form := readVerdict(c.Request().PostForm)
	if _, err = s.takeVerdict(ctx, actor, a.ID, form); err == nil {
		return c.Redirect(http.StatusSeeOther, pages.EntryURL(&v.Conversation, a.Sequence))
	}
	again := pages.DecidedHere{ID: a.ID, Form: form.again()}
	e := asError(err, tooLate...)
	if e != nil {
		again.Late = form.verdict
	} else if e = asError(err, toCorrect...); e != nil {
		again.Form.Errors = atFields(e)
	} else {
		return err
	}
	shown := pages.ConversationInput{Conversation: *v, Around: pages.HistoryAround{Decided: &again}}
	if pages.MayBeEarlier(&v.Conversation, a.Sequence) {
		shown.Before = a.Sequence + 1
	}
	return s.conversationPage(c, handlers.Status(e.Code), shown)
}
