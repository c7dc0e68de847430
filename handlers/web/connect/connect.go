package connect

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/people"
	"countersign/views"
	"countersign/views/pages/connect"
)

// connect shows how to connect an agent in one way, and with an agent in the address
// whether its first request has come.
func (s *Screens) connect(c echo.Context) error {
	in, err := s.readConnect(c)
	if err != nil {
		return err
	}
	return s.connectPage(c, http.StatusOK, in)
}

// received is the line that says whether a request has come.
func (s *Screens) received(c echo.Context) error {
	in, err := s.readConnect(c)
	switch {
	case err != nil:
		return err
	case in.Agent == nil:
		return noSuchAgent()
	case !handlers.WantsFragment(c.Request()):
		return c.Redirect(http.StatusSeeOther, views.ConnectURL(in.Way, in.Agent.ID))
	}
	return handlers.Render(c, http.StatusOK, connect.ReceivedLine(*connect.NewReceived(in, s.Kit.Now())), nil)
}

// makeConnection makes the token of an agent and shows it in its answer, within the lines
// to paste: it is not kept anywhere that a redirect could read it from.
func (s *Screens) makeConnection(c echo.Context) error {
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	in := connect.Input{Way: c.Request().PostFormValue("way")}
	if !connect.KnowsWay(in.Way) {
		return noSuchWay()
	}
	in.Form.Agent = strings.TrimSpace(c.Request().PostFormValue("agent"))
	replace := c.Request().PostFormValue("replace") == "true"
	secret, token, err := s.Store.People.AddToken(ctx, actor,
		people.NewToken{Scope: models.ScopeAgent, Agent: in.Form.Agent, NoReplace: !replace})
	if e := site.AsError(err, models.CodeInvalid, models.CodeConflict); e != nil {
		in.Form.Errors, in.Form.Replace = e.Fields, e.Code == models.CodeConflict && e.Fields["agent"] != ""
		if in.Form.Errors["agent"] == "" {
			in.Form.Errors = map[string]string{"agent": e.Text}
		}
		if err := s.ownAgents(ctx, actor, &in); err != nil {
			return err
		}
		return s.connectPage(c, handlers.Status(e.Code), in)
	}
	if err != nil {
		return err
	}
	in.Secret = secret
	if err := s.ownAgents(ctx, actor, &in); err != nil {
		return err
	}
	if in.Agent = agentWith(in.Agents, *token.AgentID); in.Agent == nil {
		return noSuchAgent()
	}
	return s.connectPage(c, http.StatusOK, in)
}

// readConnect reads what the address names: a way, and an agent of the person's.
func (s *Screens) readConnect(c echo.Context) (connect.Input, error) {
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	in := connect.Input{Way: c.QueryParam("way")}
	if !connect.KnowsWay(in.Way) {
		return in, noSuchWay()
	}
	if err := s.ownAgents(ctx, actor, &in); err != nil {
		return in, err
	}
	named := c.QueryParam("agent")
	if named == "" {
		return in, nil
	}
	if in.Agent = agentWith(in.Agents, models.AgentID(named)); in.Agent == nil {
		return in, noSuchAgent()
	}
	of, err := s.Store.Requests.OfAgent(ctx, actor, in.Agent.ID)
	if len(of.Newest) > 0 {
		in.Last = &of.Newest[0].Approval
	}
	return in, err
}

// ownAgents reads the person's agents and their tokens.
func (s *Screens) ownAgents(ctx context.Context, actor models.Actor, in *connect.Input) (err error) {
	if in.Agents, err = s.Store.People.Agents(ctx, actor); err != nil {
		return err
	}
	in.Tokens, err = s.Store.People.Tokens(ctx, actor, false)
	return err
}

func (s *Screens) connectPage(c echo.Context, status int, in connect.Input) error {
	frame, err := s.Frame(c, "Connect an agent", -1)
	if err != nil {
		return err
	}
	frame.Path, in.Server = views.ConnectURL("", ""), s.Kit.PublicURL.String()
	if in.Agent != nil {
		frame.Agent = in.Agent.ID
	}
	return handlers.Render(c, status, connect.Page(frame, connect.New(in, frame.Now)), nil)
}

func agentWith(agents []models.Agent, id models.AgentID) *models.Agent {
	i := slices.IndexFunc(agents, func(a models.Agent) bool { return a.ID == id })
	if i < 0 {
		return nil
	}
	return &agents[i]
}

func noSuchWay() error { return models.Errorf(models.CodeNotFound, "There is no such way to connect.") }

func noSuchAgent() error { return models.NotFound("agent") }
