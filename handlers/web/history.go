package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
	"countersign/models/requests"
	"countersign/views"
	"countersign/views/pages/audit"
)

// history lists what was settled. What narrows it stands in the address.
func (s *Site) history(c echo.Context) error {
	ctx, actor := c.Request().Context(), actorOf(c)
	place, q, err := readHistory(c.QueryParams())
	if err == nil && emptyMembers(c.QueryParams()) {
		return c.Redirect(http.StatusSeeOther, place.URL()) // one place has one address
	}
	in := audit.HistoryInput{Place: place, Reader: actor.UserID(), Admin: actor.MayAdminister()}
	if err == nil {
		var page requests.SettledPage
		page, err = s.store.Requests.Settled(ctx, actor, q)
		in.Rows, in.Next = page.Items, page.Next
		if page.Cut {
			in.Searched, in.Back = page.Searched, page.Back
		}
	}
	status := http.StatusOK
	if e := asError(err, models.CodeInvalid); e != nil {
		if _, cursor := e.Fields["cursor"]; cursor {
			return models.Errorf(models.CodeNotFound, "There is no such page of the history.")
		}
		status, in.Errors = handlers.Status(e.Code), e.Fields
	} else if err != nil {
		return err
	}
	if in.Agents, err = s.store.People.AgentsToChoose(ctx, actor); err != nil {
		return err
	}
	if in.People, err = s.deciders(ctx, c); err != nil {
		return err
	}
	frame, err := s.frame(c, "History", -1)
	if err != nil {
		return err
	}
	return handlers.Render(c, status, audit.SettledPage(frame, audit.NewHistory(in)), nil)
}

// deciders are the people whom the reader may name: for admins all.
func (s *Site) deciders(ctx context.Context, c echo.Context) ([]models.User, error) {
	if !actorOf(c).MayAdminister() {
		return []models.User{*visitorOf(c).user}, nil
	}
	return s.store.People.Users(ctx, actorOf(c))
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
	zone := readZone(v, faults, p.From, p.To)
	p.Zone = nameOf(zone)
	p.Conversation = readID[models.ConversationID](v, "conversation", faults)
	p.Agent = readID[models.AgentID](v, "agent", faults)
	p.By = readID[models.UserID](v, "by", faults)
	q := requests.SettledQuery{
		Conversation: p.Conversation, Agent: p.Agent, Tool: p.Tool, Risk: p.Risk, Text: p.Text, Whose: requests.Whose(p.Whose),
		Status: p.Status, Cause: p.Cause, By: p.By, After: p.After,
	}
	q.From, q.To = readDays(p.From, p.To, zone, faults)
	if len(faults) > 0 {
		return p, q, &models.Error{Code: models.CodeInvalid, Text: "The filter is not valid.", Fields: faults}
	}
	return p, q, nil
}
