package agents

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/views"
	"countersign/views/pages/agents"
	"countersign/views/ui"
)

// allAgents is what the form sends for all of them.
const allAgents = "all"

// mayBeStopped are the agents that a person may stop: their own, for admins each, and all.
func (s *Screens) mayBeStopped(ctx context.Context, actor models.Actor, own []models.Agent) ([]ui.Choice, error) {
	var out []ui.Choice
	if !actor.Admin {
		for i := range own {
			if own[i].DisabledAt == nil {
				out = append(out, ui.Choice{Value: string(own[i].ID), Label: models.RevealString(own[i].Name, false)})
			}
		}
		return out, nil
	}
	agents, err := s.Store.People.EveryAgent(ctx, actor)
	if err != nil {
		return nil, err
	}
	for _, a := range agents {
		out = append(out, ui.Choice{Value: string(a.ID), Label: models.RevealString(a.Name+", of "+a.Owner, false)})
	}
	return append(out, ui.Choice{Value: allAgents, Label: "All agents"}), nil
}

// stopAgents stops one agent, or all.
func (s *Screens) stopAgents(c echo.Context) error {
	form := c.Request().PostForm
	sent := agents.StopForm{Agent: form.Get("agent"), Note: form.Get("note")}
	agent := models.AgentID("")
	var err error
	if sent.Agent != allAgents {
		if agent, err = models.ParseID[models.AgentID]("agent", sent.Agent); err != nil {
			sent.Errors = map[string]string{"agent": "must be one of these"}
			return s.agentsPage(c, http.StatusUnprocessableEntity, agents.Input{StopForm: sent})
		}
	}
	stop, cancelled, err := s.Store.Stop(c.Request().Context(), site.ActorOf(c), agent, sent.Note)
	switch failed := site.AsError(err, models.CodeInvalid, models.CodeConflict); {
	case failed != nil:
		if sent.Errors = failed.Fields; failed.Code == models.CodeConflict {
			sent.Errors = map[string]string{"agent": "is already stopped"}
		}
		return s.agentsPage(c, handlers.Status(failed.Code), agents.Input{StopForm: sent})
	case err != nil:
		return err
	}
	s.SetFlash(c, site.StoppedFlash(cancelled, stop))
	return c.Redirect(http.StatusSeeOther, views.StopsURL())
}

// liftStop lets stopped agents go on.
func (s *Screens) liftStop(c echo.Context) error {
	note := c.Request().PostForm.Get("note")
	id := models.StopID(strings.ToLower(c.Param("id")))
	err := s.Store.Lift(c.Request().Context(), site.ActorOf(c), id, note)
	if failed := site.AsError(err, models.CodeInvalid); failed != nil {
		return s.agentsPage(c, http.StatusUnprocessableEntity,
			agents.Input{StopForm: agents.StopForm{Lift: id, LiftNote: note, Errors: failed.Fields}})
	}
	if err != nil {
		return err
	}
	s.SetFlash(c, "stop-lifted")
	return c.Redirect(http.StatusSeeOther, views.StopsURL())
}
