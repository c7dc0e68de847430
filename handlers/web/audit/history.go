package audit

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/requests"
	"countersign/views"
	"countersign/views/pages/audit"
)

// history lists settled requests. The address has the filters.
func (s *Screens) history(c echo.Context) error {
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	place, q, err := readHistory(c.QueryParams())
	if err == nil && site.EmptyMembers(c.QueryParams()) {
		return c.Redirect(http.StatusSeeOther, place.URL()) // one place has one address
	}
	in := audit.HistoryInput{Place: place, Reader: actor.UserID(), Admin: actor.MayAdminister(), Zone: site.ZoneOf(c)}
	if err == nil {
		var page requests.SettledPage
		page, err = s.Store.Requests.Settled(ctx, actor, q)
		in.Rows, in.Next = page.Items, page.Next
		if page.Cut {
			in.ScanCount, in.Back = page.ScanCount, page.Back
		}
	}
	status := http.StatusOK
	if e := site.AsError(err, models.CodeInvalid); e != nil {
		if _, cursor := e.Fields["cursor"]; cursor {
			return models.Errorf(models.CodeNotFound, "There is no such page of the history.")
		}
		status, in.Errors = handlers.Status(e.Code), e.Fields
	} else if err != nil {
		return err
	}
	if in.Agents, err = s.Store.People.AgentsToChoose(ctx, actor); err != nil {
		return err
	}
	if in.People, err = s.deciders(ctx, c); err != nil {
		return err
	}
	if in.Saved, status, err = s.savedOn(c, models.ListHistory, keptOfHistory, status); err != nil {
		return err
	}
	frame, err := s.Frame(c, "History", -1)
	if err != nil {
		return err
	}
	frame.Path = views.HistoryURL()
	return handlers.Render(c, status, audit.SettledPage(frame, audit.NewHistory(in, frame.Now)), nil)
}

// deciders are the people whom the reader may name: for admins all.
func (s *Screens) deciders(ctx context.Context, c echo.Context) ([]models.User, error) {
	if !site.ActorOf(c).MayAdminister() {
		return []models.User{*site.VisitorOf(c).User}, nil
	}
	return s.Store.People.Users(ctx, site.ActorOf(c))
}

// readHistory reads where in the history an address leads. CodeInvalid names
// every member that is wrong.
func readHistory(v url.Values) (views.HistoryPlace, requests.SettledQuery, error) {
	p := views.HistoryPlace{
		Tool: strings.TrimSpace(v.Get("tool")), Text: strings.TrimSpace(v.Get("q")), Whose: v.Get("whose"),
		Risk: models.Risk(v.Get("risk")), Status: models.Status(v.Get("status")), Cause: models.Cause(v.Get("cause")),
		From: strings.TrimSpace(v.Get("from")), To: strings.TrimSpace(v.Get("to")), After: v.Get("after"),
	}
	faults := map[string]string{}
	zone := site.ReadZone(v, faults, p.From, p.To)
	p.Zone = site.NameOf(zone)
	p.Conversation = site.ReadID[models.ConversationID](v, "conversation", faults)
	p.Agent = site.ReadID[models.AgentID](v, "agent", faults)
	p.By = site.ReadID[models.UserID](v, "by", faults)
	q := requests.SettledQuery{
		Conversation: p.Conversation, Agent: p.Agent, Tool: p.Tool, Risk: p.Risk, Text: p.Text,
		Whose:  requests.Whose(p.Whose),
		Status: p.Status, Cause: p.Cause, By: p.By, After: p.After,
	}
	q.From, q.To = site.ReadDays(p.From, p.To, zone, faults)
	if len(faults) > 0 {
		return p, q, &models.Error{Code: models.CodeInvalid, Text: "The filter is not valid.", Fields: faults}
	}
	return p, q, nil
}
