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
	"countersign/views/pages/connect"
)

func (s *Site) agents(c echo.Context) error {
	return s.agentsPage(c, http.StatusOK, agents.Input{})
}

// agentsPage lists the person's agents and tokens. in carries a token that was
// just made, or a form that is to be corrected.
func (s *Site) agentsPage(c echo.Context, status int, in agents.Input) error {
	ctx, actor := c.Request().Context(), actorOf(c)
	var err error
	if in.Agents, err = s.store.People.Agents(ctx, actor); err != nil {
		return err
	}
	if in.Tokens, err = s.store.People.Tokens(ctx, actor, false); err != nil {
		return err
	}
	if in.Budgets, err = s.store.AgentBudgets(ctx, actor); err != nil {
		return err
	}
	frame, err := s.frame(c, "Agents and tokens", -1)
	if err != nil {
		return err
	}
	if in.Stops, err = s.store.Stops(ctx, actor); err != nil {
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
func (s *Site) addToken(c echo.Context) error {
	r := c.Request()
	form := agents.TokenForm{
		Scope: models.Scope(r.PostFormValue("scope")), Agent: strings.TrimSpace(r.PostFormValue("agent")),
		Name: strings.TrimSpace(r.PostFormValue("name")), Expires: strings.TrimSpace(r.PostFormValue("expires")),
	}
	in := people.NewToken{Scope: form.Scope, Agent: form.Agent, Name: form.Name}
	var err error
	var secret string
	if in.Expires, err = expiresIn(form.Expires, s.kit.Now()); err == nil {
		secret, _, err = s.store.People.AddToken(r.Context(), actorOf(c), in)
	}
	if e := asError(err, models.CodeInvalid, models.CodeConflict); e != nil {
		form.Errors = e.Fields
		return s.agentsPage(c, handlers.Status(e.Code), agents.Input{Form: form})
	}
	if err != nil {
		return err
	}
	fresh := &connect.FreshToken{Scope: form.Scope, Name: form.Agent + form.Name, Secret: secret, Server: s.kit.PublicURL.String()}
	return s.agentsPage(c, http.StatusOK, agents.Input{Fresh: fresh})
}

func (s *Site) revokeToken(c echo.Context) error {
	id, err := models.ParseID[models.TokenID]("id", c.Param("id"))
	if err != nil {
		return models.Errorf(models.CodeNotFound, "There is no such token.")
	}
	if err := s.store.People.RevokeToken(c.Request().Context(), actorOf(c), id); err != nil {
		return err
	}
	s.setFlash(c, "token-revoked")
	if c.Request().PostFormValue("everyone") == "true" {
		return c.Redirect(http.StatusSeeOther, views.EveryonePlace{}.URL())
	}
	return c.Redirect(http.StatusSeeOther, views.AgentsURL())
}
