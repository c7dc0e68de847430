package agents

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/views/pages/agents"
)

// stopAgents stops one agent, or all.
func (s *Screens) stopAgents(c echo.Context) error {
	ctx, actor := visitor(c)
	form := c.Request().PostForm
	sent := agents.StopForm{Agent: strings.ToLower(form.Get("agent")), Note: form.Get("note")}
	agent := models.AgentID("")
	if sent.Agent != agents.AllAgents {
		var err error
		if agent, err = models.ParseID[models.AgentID]("agent", sent.Agent); err != nil {
			return models.NotFound("agent")
		}
	}
	stop, cancelled, err := s.Store.Stop(ctx, actor, agent, sent.Note)
	switch failed := site.AsError(err, models.CodeInvalid, models.CodeConflict); {
	case failed != nil && failed.Code == models.CodeConflict:
		s.SetFlash(c, "stopped-before")
	case failed != nil:
		sent.Errors = failed.Fields
		return s.again(c, handlers.Status(failed.Code), sent)
	case err != nil:
		return err
	default:
		s.SetFlash(c, site.StoppedFlash(cancelled, stop))
	}
	return c.Redirect(http.StatusSeeOther, placeOf(c).Row(agent))
}

// liftStop lets stopped agents go on.
func (s *Screens) liftStop(c echo.Context) error {
	ctx, actor := visitor(c)
	sent := agents.StopForm{Lift: models.StopID(strings.ToLower(c.Param("id"))), Note: c.Request().PostForm.Get("note")}
	err := s.Store.Lift(ctx, actor, sent.Lift, sent.Note)
	if failed := site.AsError(err, models.CodeInvalid); failed != nil {
		sent.Errors = failed.Fields
		return s.again(c, http.StatusUnprocessableEntity, sent)
	}
	if err != nil {
		return err
	}
	s.SetFlash(c, "stop-lifted")
	return c.Redirect(http.StatusSeeOther, placeOf(c).URL())
}
