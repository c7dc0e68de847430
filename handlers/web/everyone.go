package web

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
	"countersign/models/people"
	"countersign/views"
	"countersign/views/pages/agents"
)

// everyone lists everybody's agents, or the tokens by which people act.
func (s *Site) everyone(c echo.Context) error {
	ctx, actor := c.Request().Context(), actorOf(c)
	in := agents.EveryoneInput{Place: views.EveryonePlace{
		People: c.QueryParam("what") == "people", Text: strings.TrimSpace(c.QueryParam("q")), After: c.QueryParam("after"),
	}}
	if emptyMembers(c.QueryParams()) {
		return c.Redirect(http.StatusSeeOther, in.Place.URL()) // one place has one address
	}
	q, status := people.EveryoneQuery{Text: in.Place.Text, After: in.Place.After, Limit: models.DefaultPage}, http.StatusOK
	var err error
	if in.Place.People {
		var found people.EveryonesTokens
		found, err = s.store.People.EveryonesTokens(ctx, actor, q)
		in.Tokens, in.Next = found.Tokens, found.Next
	} else {
		var found people.EveryonesAgents
		found, err = s.store.People.EveryonesAgents(ctx, actor, q)
		in.Agents, in.Next = found.Agents, found.Next
	}
	if e := asError(err, models.CodeInvalid); e != nil {
		status, in.Errors = handlers.Status(e.Code), e.Fields
	} else if err != nil {
		return err
	}
	frame, err := s.frame(c, "Everyone's agents and tokens", -1)
	if err != nil {
		return err
	}
	frame.Path = views.AgentsURL()
	return handlers.Render(c, status, agents.EveryonePage(frame, agents.NewEveryone(in, frame.Now)), nil)
}
