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
	return s.agentsPage(c, http.StatusOK, agents.Input{})
}

// agentsPage lists the person's agents and tokens. in carries a token that was
// just made, or a form that is to be corrected.
func (s *Screens) agentsPage(c echo.Context, status int, in agents.Input) error {
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	var err error
	if in.Agents, err = s.Store.People.Agents(ctx, actor); err != nil {
		return err
	}
	if in.Tokens, err = s.Store.People.Tokens(ctx, actor, false); err != nil {
		return err
	}
	if in.Budgets, err = s.Store.AgentBudgets(ctx, actor); err != nil {
		return err
	}
	frame, err := s.Frame(c, "Agents and tokens", -1)
	if err != nil {
		return err
	}
	if in.Stops, err = s.Store.Stops(ctx, actor); err != nil {
		return err
	}
	if in.Stoppers, err = s.mayBeStopped(ctx, actor, in.Agents); err != nil {
		return err
	}
	in.Reader = actor.UserID()
	in.Admin, frame.Path = actor.Admin, views.AgentsURL()
	return handlers.Render(c, status, agents.Page(frame, agents.New(in, frame.Now)), nil)
}

// addToken makes a token and shows it in its answer: it is not kept anywhere
// that a redirect could read it from.
func (s *Screens) addToken(c echo.Context) error {
	r := c.Request()
	form := agents.TokenForm{
		Scope: models.Scope(r.PostFormValue("scope")), Agent: strings.TrimSpace(r.PostFormValue("agent")),
		Name: strings.TrimSpace(r.PostFormValue("name")), Expires: strings.TrimSpace(r.PostFormValue("expires")),
	}
	in := people.NewToken{Scope: form.Scope, Agent: form.Agent, Name: form.Name}
	var err error
	var secret string
	if in.Expires, err = expiresIn(form.Expires, s.Kit.Now()); err == nil {
		secret, _, err = s.Store.People.AddToken(r.Context(), site.ActorOf(c), in)
	}
	if e := site.AsError(err, models.CodeInvalid, models.CodeConflict); e != nil {
		form.Errors = e.Fields
		return s.agentsPage(c, handlers.Status(e.Code), agents.Input{Form: form})
	}
	if err != nil {
		return err
	}
	fresh := &connect.FreshToken{
		Scope: form.Scope, Name: form.Agent + form.Name, Secret: secret, Server: s.Kit.PublicURL.String(),
	}
	return s.agentsPage(c, http.StatusOK, agents.Input{Fresh: fresh})
}

func (s *Screens) revokeToken(c echo.Context) error {
	id, err := models.ParseID[models.TokenID]("id", c.Param("id"))
	if err != nil {
		return models.Errorf(models.CodeNotFound, "There is no such token.")
	}
	if err := s.Store.People.RevokeToken(c.Request().Context(), site.ActorOf(c), id); err != nil {
		return err
	}
	s.SetFlash(c, "token-revoked")
	if c.Request().PostFormValue("everyone") == "true" {
		return c.Redirect(http.StatusSeeOther, views.EveryonePlace{}.URL())
	}
	return c.Redirect(http.StatusSeeOther, views.AgentsURL())
}
