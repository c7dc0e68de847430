package agents

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/people"
	"countersign/views"
	"countersign/views/pages/agents"
)

// everyone lists everybody's agents, or the tokens by which people act.
func (s *Screens) everyone(c echo.Context) error {
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	in := agents.EveryoneInput{Place: views.EveryonePlace{
		People: c.QueryParam("what") == "people", Text: strings.TrimSpace(c.QueryParam("q")), After: c.QueryParam("after"),
	}}
	if site.EmptyMembers(c.QueryParams()) {
		return c.Redirect(http.StatusSeeOther, in.Place.URL()) // one place has one address
	}
	q, status := people.EveryoneQuery{Text: in.Place.Text, After: in.Place.After, Limit: models.DefaultPage}, http.StatusOK
	var err error
	if in.Place.People {
		var found people.EveryonesTokens
		found, err = s.Store.People.EveryonesTokens(ctx, actor, q)
		in.Tokens, in.Next = found.Tokens, found.Next
	} else {
		var found people.EveryonesAgents
		found, err = s.Store.People.EveryonesAgents(ctx, actor, q)
		in.Agents, in.Next = found.Agents, found.Next
	}
	if e := site.AsError(err, models.CodeInvalid); e != nil {
		status, in.Errors = handlers.Status(e.Code), e.Fields
	} else if err != nil {
		return err
	}
	frame, err := s.Frame(c, "Everyone's agents and tokens", -1)
	if err != nil {
		return err
	}
	frame.Path = views.AgentsURL()
	return handlers.Render(c, status, agents.EveryonePage(frame, agents.NewEveryone(in, frame.Now)), nil)
}
