package conversation

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/requests"
	"countersign/views"
	"countersign/views/pages/conversations"
)

// conversations lists those that the reader may see. The address has the filters.
func (s *Screens) conversations(c echo.Context) error {
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	in := conversations.ListInput{
		Filter: views.ConversationFilter{
			Status: c.QueryParam("status"), Agent: strings.TrimSpace(c.QueryParam("agent")),
			Archived: c.QueryParam("archived") == "true",
		},
		After: c.QueryParam("after"), Admin: actor.Admin, BaseURL: strings.TrimSuffix(s.Kit.PublicURL.String(), "/"),
	}
	if actor.Admin {
		in.Filter.Owner = strings.TrimSpace(c.QueryParam("owner"))
	}
	status := http.StatusOK
	q, err := s.conversationQuery(ctx, actor, in.Filter, in.After)
	if err == nil {
		var list requests.ConversationList
		list, err = s.Store.Requests.Conversations(ctx, actor, q)
		in.Rows, in.Next = list.Items, list.Next
	}
	if e := site.AsError(err, models.CodeInvalid); e != nil {
		if _, cursor := e.Fields["cursor"]; cursor {
			return models.Errorf(models.CodeNotFound, "There is no such page of conversations.")
		}
		status, in.Errors = handlers.Status(e.Code), e.Fields
	} else if err != nil {
		return err
	}
	if in.Agents, err = s.Store.People.AgentsToChoose(ctx, actor); err != nil {
		return err
	}
	if actor.Admin {
		if in.People, err = s.Store.People.Users(ctx, actor); err != nil {
			return err
		}
	}
	frame := views.Page{Now: s.Kit.Now()}
	if !handlers.WantsFragment(c.Request()) {
		if frame, err = s.Frame(c, "Conversations", -1); err != nil {
			return err
		}
	}
	v := conversations.NewList(in, frame.Now)
	return handlers.Render(c, status, conversations.ListPage(frame, v), conversations.List(v))
}

// conversationQuery reads the filters of an address: CodeInvalid names all that
// are wrong.
func (s *Screens) conversationQuery(
	ctx context.Context, actor models.Actor, f views.ConversationFilter, after string,
) (requests.ConversationQuery, error) {
	q := requests.ConversationQuery{Status: models.ConversationStatus(f.Status), Archived: f.Archived, Cursor: after}
	faults := map[string]string{}
	var err error
	if f.Agent != "" {
		if q.Agent, err = models.ParseID[models.AgentID]("agent", f.Agent); err != nil {
			faults["agent"] = "must be the id of an agent"
		}
	}
	owner, err := s.IDOf(ctx, actor, f.Owner)
	if e := site.AsError(err, models.CodeInvalid); e != nil {
		faults["owner"] = "must be the e-mail or id of a person on this server"
	} else if err != nil {
		return q, err
	}
	q.Owner = models.UserID(owner)
	if len(faults) > 0 {
		return q, &models.Error{Code: models.CodeInvalid, Text: "The filter is not valid.", Fields: faults}
	}
	return q, nil
}
