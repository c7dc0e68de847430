package conversation

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/runs"
	"countersign/views"
	"countersign/views/pages/conversations"
)

// callIn is the tool call that a path names, within its conversation.
func (s *Screens) callIn(c echo.Context) (*models.Conversation, *models.Approval, error) {
	v, err := s.visibleConversation(c)
	if err != nil {
		return nil, nil, err
	}
	none := models.Errorf(models.CodeNotFound, "There is no such call.")
	id, err := models.ParseID[models.ResponseID]("response", c.Param("response"))
	if err != nil {
		return nil, nil, none
	}
	a, err := s.Store.Requests.Entry(c.Request().Context(), site.ActorOf(c), id)
	if models.ErrorCode(err) == models.CodeNotFound ||
		err == nil && (a.ConversationID != v.ID || a.Kind != models.KindToolCall) {
		return nil, nil, none
	}
	return &v.Conversation, a, err
}

// call shows all that is kept of a tool call.
func (s *Screens) call(c echo.Context) error {
	conv, a, err := s.callIn(c)
	if err != nil {
		return err
	}
	return s.callPage(c, http.StatusOK, conv, a, "")
}

func (s *Screens) callPage(
	c echo.Context, status int, conv *models.Conversation, a *models.Approval, problem string,
) error {
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	result, err := s.Store.Requests.CallResult(ctx, actor, a.ID)
	if err != nil {
		return err
	}
	details, err := s.Store.Requests.RunDetails(ctx, actor, a.ConversationID, a.Sequence, a.Sequence)
	if err != nil {
		return err
	}
	origins, err := s.Store.Requests.Origins(ctx, actor, a.ID)
	if err != nil {
		return err
	}
	frame, err := s.Frame(c, a.ToolName, -1)
	if err != nil {
		return err
	}
	frame.Path = views.CallURL(a.ConversationID, a.ID)
	in := conversations.CallInput{
		Conversation: *conv, Call: *a, Detail: details[a.ID], Origin: origins[a.ID], Result: *result, Problem: problem,
	}
	return handlers.Render(c, status, conversations.CallPage(frame, conversations.NewCall(in, frame.Now)), nil)
}

// closeCall completes a call that is stuck, and leads back to it. Why it cannot
// be closed is said on its page.
func (s *Screens) closeCall(c echo.Context) error {
	conv, a, err := s.callIn(c)
	if err != nil {
		return err
	}
	_, err = runs.New(s.Store).CloseCall(c.Request().Context(), site.ActorOf(c), a.ID)
	if e := site.AsError(err, models.CodeWrongDecisionKind, models.CodeBeingDecided, models.CodeAlreadyDecided); e != nil {
		return s.callPage(c, handlers.Status(e.Code), conv, a, e.Text)
	}
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, conversations.EntryURL(conv, a.Sequence))
}

// backToCall leads from the form's address to its call.
func (s *Screens) backToCall(c echo.Context) error {
	_, a, err := s.callIn(c)
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, views.CallURL(a.ConversationID, a.ID))
}
