package agents

import (
	"net/http"

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
	place := placeOf(c)
	place.Everyone = true
	if site.EmptyMembers(c.QueryParams()) {
		return c.Redirect(http.StatusSeeOther, place.URL()) // one place has one address
	}
	return s.everyonePage(c, http.StatusOK, agents.EveryoneInput{Common: agents.Common{Place: place}})
}

// everyonePage is a page of that list. in carries a form that is to be corrected.
func (s *Screens) everyonePage(c echo.Context, status int, in agents.EveryoneInput) error {
	ctx, actor := visitor(c)
	q := people.EveryoneQuery{Text: in.Place.Text, After: in.Place.After, Limit: models.DefaultPage}
	var err error
	if in.Place.People {
		var found people.EveryonesTokens
		found, err = s.Store.People.EveryonesTokens(ctx, actor, q)
		in.Tokens, in.Next = found.Tokens, found.Next
	} else {
		var found people.AgentsPage
		found, err = s.Store.People.AgentPage(ctx, actor, q)
		in.Agents, in.Next = found.Agents, found.Next
	}
	if e := site.AsError(err, models.CodeInvalid); e != nil {
		status, in.Errors = handlers.Status(e.Code), e.Fields
	} else if err != nil {
		return err
	}
	if err := s.fill(ctx, actor, &in.Common, in.Agents...); err != nil {
		return err
	}
	frame, err := s.Frame(c, "Everyone's agents and tokens", -1)
	if err != nil {
		return err
	}
	frame.Path = views.AgentsURL()
	return handlers.Render(c, status, agents.EveryonePage(frame, agents.NewEveryone(in, frame.Now)), nil)
}
