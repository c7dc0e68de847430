package agents

import (
	"context"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/views"
	"countersign/views/pages/agents"
)

// placeOf is the page on which a form was sent.
func placeOf(c echo.Context) views.AgentsPlace {
	p := views.AgentsPlace{
		People: c.QueryParam("what") == "people", Text: strings.TrimSpace(c.QueryParam("q")), After: c.QueryParam("after"),
	}
	switch at := c.QueryParam("at"); at {
	case "":
	case views.PlaceEveryone:
		p.Everyone = true
	default:
		p = views.AgentsPlace{Agent: models.AgentID(strings.ToLower(at))}
	}
	return p
}

// again is a page of agents once more, with a form that is to be corrected.
func (s *Screens) again(c echo.Context, status int, sent agents.StopForm) error {
	switch place := placeOf(c); {
	case place.Agent != "":
		return s.agentPage(c, status, place.Agent, agents.AgentInput{Common: agents.Common{StopForm: sent}})
	case place.Everyone:
		return s.everyonePage(c, status, agents.EveryoneInput{Common: agents.Common{Place: place, StopForm: sent}})
	default:
		return s.agentsPage(c, status, agents.Input{Common: agents.Common{Place: place, StopForm: sent}})
	}
}

// fill reads what every page of agents says of them and of the stops in force.
func (s *Screens) fill(ctx context.Context, actor models.Actor, c *agents.Common, list ...models.OwnedAgent) (err error) {
	ids := make([]models.AgentID, 0, len(list))
	for i := range list {
		ids = append(ids, list[i].ID)
	}
	c.Reader, c.Admin = actor.UserID(), actor.Admin
	if c.Figures, err = s.Store.AgentFigures(ctx, actor, ids); err != nil {
		return err
	}
	c.Stops, err = s.Store.Stops(ctx, actor)
	return err
}

// visitor is who acts, and the context of the request.
func visitor(c echo.Context) (context.Context, models.Actor) {
	return c.Request().Context(), site.ActorOf(c)
}
