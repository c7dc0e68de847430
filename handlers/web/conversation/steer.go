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

// steered names the message about each way to steer.
var steered = map[models.Steering]string{
	models.SteerPause: "conversation-paused", models.SteerResume: "conversation-resumed",
	models.SteerStop:    "conversation-stopped",
	models.SteerArchive: "conversation-archived", models.SteerUnarchive: "conversation-unarchived",
}

// steer pauses, resumes, stops, archives or takes out of the archive.
func (s *Screens) steer(c echo.Context) error {
	v, err := s.visibleConversation(c)
	if err != nil {
		return err
	}
	how := models.Steering(c.FormValue("how"))
	flash, known := steered[how]
	if !known {
		return models.Invalid("how", "must be pause, resume, stop, archive or unarchive")
	}
	if _, err := runs.New(s.Store).Steer(c.Request().Context(), site.ActorOf(c), v.ID, how); err != nil {
		return err
	}
	s.SetFlash(c, flash)
	return c.Redirect(http.StatusSeeOther, views.ConversationURL(v.ID))
}

// chooseOnReject chooses what becomes of the calls queued after one that is rejected.
func (s *Screens) chooseOnReject(c echo.Context) error {
	v, err := s.visibleConversation(c)
	if err != nil {
		return err
	}
	if _, err := runs.New(s.Store).SetOnReject(c.Request().Context(), site.ActorOf(c), v.ID,
		c.FormValue("onReject")); err != nil {
		return err
	}
	s.SetFlash(c, "conversation-on-reject")
	return c.Redirect(http.StatusSeeOther, views.ConversationURL(v.ID))
}

// rename gives a conversation another title.
func (s *Screens) rename(c echo.Context) error {
	v, err := s.visibleConversation(c)
	if err != nil {
		return err
	}
	title := c.FormValue("title")
	_, err = runs.New(s.Store).Rename(c.Request().Context(), site.ActorOf(c), v.ID, title)
	if e := site.AsError(err, models.CodeInvalid); e != nil {
		problem := e.Fields["title"]
		if problem == "" {
			problem = e.Error()
		}
		return s.conversationPage(c, handlers.Status(e.Code),
			conversations.Input{Conversation: *v, Rename: conversations.RenameForm{Title: title, Error: problem}})
	}
	if err != nil {
		return err
	}
	s.SetFlash(c, "conversation-renamed")
	return c.Redirect(http.StatusSeeOther, views.ConversationURL(v.ID))
}
