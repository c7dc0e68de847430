package nav

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/requests"
	"countersign/views/pages/nav"
)

// lookUp finds where a text leads: a page with a form, or what the palette shows. It
// takes a place among lists, for each letter that somebody types may ask for one.
func (s *Screens) lookUp(c echo.Context) error {
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	in := nav.GoInput{Text: strings.TrimSpace(c.QueryParam("q")), Viewer: *site.VisitorOf(c).View()}
	if in.Text != "" {
		if err := s.Kit.Lists.Begin(ctx, c.Response()); err != nil {
			return err
		}
		defer s.Kit.Lists.End()
	}
	status := http.StatusOK
	found, err := s.Store.Requests.LookUp(ctx, actor, in.Text)
	if e := site.AsError(err, models.CodeInvalid); e != nil {
		status, in.Error = handlers.Status(e.Code), "The text "+e.Fields["q"]+"."
	} else if err != nil {
		return err
	}
	in.Agents, in.Conversations, in.Requests, in.Cut = foundAgents(found), found.Conversations, found.Requests, found.Cut
	if in.Error != "" {
		in.Text = ""
	}
	v := nav.NewGo(in)
	if handlers.WantsFragment(c.Request()) {
		return handlers.Render(c, status, nil, nav.GoOptions(v))
	}
	frame, err := s.Frame(c, "Search or go to", -1)
	if err != nil {
		return err
	}
	return handlers.Render(c, status, nav.GoPage(frame, v), nil)
}

func foundAgents(found requests.Found) []nav.FoundAgent {
	out := make([]nav.FoundAgent, 0, len(found.Agents))
	for _, a := range found.Agents {
		out = append(out, nav.FoundAgent(a))
	}
	return out
}
