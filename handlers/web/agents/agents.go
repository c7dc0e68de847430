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
	"countersign/views/pages/connect"
)

func (s *Screens) agents(c echo.Context) error {
	in := agents.Input{Common: agents.Common{Place: views.AgentsPlace{After: c.QueryParam("after")}}}
	return s.agentsPage(c, http.StatusOK, in)
}

// agentsPage lists the person's agents and tokens. in carries a token that was
// just made, or a form that is to be corrected.
func (s *Screens) agentsPage(c echo.Context, status int, in agents.Input) error {
	ctx, actor := visitor(c)
	page, err := s.Store.People.AgentPage(ctx, actor,
		people.EveryoneQuery{Own: true, After: in.Place.After, Limit: models.DefaultPage})
	if err != nil {
		return err
	}
	in.Agents, in.Next = page.Agents, page.Next
	if in.Tokens, err = s.Store.People.Tokens(ctx, actor, false); err != nil {
		return err
	}
	if err := s.fill(ctx, actor, &in.Common, in.Agents...); err != nil {
		return err
	}
	frame, err := s.Frame(c, "Agents and tokens", -1)
	if err != nil {
		return err
	}
	frame.Path = views.AgentsURL()
	return handlers.Render(c, status, agents.Page(frame, agents.New(in, frame.Now)), nil)
}

// agent shows one agent.
func (s *Screens) agent(c echo.Context) error {
	id, err := models.ParseID[models.AgentID]("id", c.Param("id"))
	if err != nil {
		return models.NotFound("agent")
	}
	return s.agentPage(c, http.StatusOK, id, agents.AgentInput{})
}

// agentPage shows one agent to its owner and to admins. in carries what agentsPage's does.
func (s *Screens) agentPage(c echo.Context, status int, id models.AgentID, in agents.AgentInput) error {
	ctx, actor := visitor(c)
	agent, err := s.Store.People.Agent(ctx, actor, id)
	if err != nil {
		return err
	}
	in.Agent = *agent
	of, err := s.Store.Requests.OfAgent(ctx, actor, id)
	if err != nil {
		return err
	}
	in.Groups, in.Pending, in.Newest = of.Groups, of.Pending, of.Newest
	if err := s.fill(ctx, actor, &in.Common, in.Agent); err != nil {
		return err
	}
	frame, err := s.Frame(c, "Agent "+models.RevealName(agent.Name), -1)
	if err != nil {
		return err
	}
	frame.Path = views.AgentsURL()
	return handlers.Render(c, status, agents.AgentPage(frame, agents.NewAgent(in, frame.Now)), nil)
}

// addToken makes a token and shows it in its answer: it is not kept anywhere
// that a redirect could read it from.
func (s *Screens) addToken(c echo.Context) error {
	ctx, actor := visitor(c)
	r := c.Request()
	form := agents.TokenForm{
		Scope: models.Scope(r.PostFormValue("scope")), Agent: strings.TrimSpace(r.PostFormValue("agent")),
		Name: strings.TrimSpace(r.PostFormValue("name")), Expires: strings.TrimSpace(r.PostFormValue("expires")),
	}
	show := func(status int, fresh *connect.FreshToken) error {
		if id := placeOf(c).Agent; id != "" {
			return s.agentPage(c, status, id, agents.AgentInput{Fresh: fresh, TokenForm: form})
		}
		return s.agentsPage(c, status, agents.Input{Fresh: fresh, TokenForm: form})
	}
	in := people.NewToken{Scope: form.Scope, Agent: form.Agent, Name: form.Name}
	var err error
	var secret string
	if in.Expires, err = expiresIn(form.Expires, s.Kit.Now()); err == nil {
		secret, _, err = s.Store.People.AddToken(ctx, actor, in)
	}
	if e := site.AsError(err, models.CodeInvalid, models.CodeConflict); e != nil {
		form.Errors = e.Fields
		return show(handlers.Status(e.Code), nil)
	}
	if err != nil {
		return err
	}
	fresh := &connect.FreshToken{
		Scope: form.Scope, Name: form.Agent + form.Name, Secret: secret, Server: s.Kit.PublicURL.String(),
	}
	form = agents.TokenForm{}
	return show(http.StatusOK, fresh)
}

func (s *Screens) revokeToken(c echo.Context) error {
	ctx, actor := visitor(c)
	id, err := models.ParseID[models.TokenID]("id", c.Param("id"))
	if err != nil {
		return models.Errorf(models.CodeNotFound, "There is no such token.")
	}
	if err := s.Store.People.RevokeToken(ctx, actor, id); err != nil {
		return err
	}
	s.SetFlash(c, "token-revoked")
	return c.Redirect(http.StatusSeeOther, placeOf(c).URL())
}
