package web

import (
	"net/http"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
	"countersign/models/store"
	"countersign/views"
	"countersign/views/pages"
)

// teachAgent is the name of the agent that the empty inbox makes a token for.
const teachAgent = "first-agent"

func (s *Site) inbox(c echo.Context) error {
	ctx := c.Request().Context()
	switch shellPart(c.Request()) {
	case "inbox-count":
		n, err := s.waiting(ctx, actorOf(c))
		if err != nil {
			return err
		}
		return handlers.Render(c, http.StatusOK, nil, views.InboxCountOutOfBand(n))
	case "dangers":
		frame := views.Page{Viewer: visitorOf(c).view()}
		if err := s.warn(ctx, &frame); err != nil {
			return err
		}
		return handlers.Render(c, http.StatusOK, nil, views.Dangers(frame))
	}
	return s.inboxPage(c, "")
}

// shellPart is the part of the shell that refetches itself, by its id: it wants
// nothing else of what the inbox answers.
func shellPart(r *http.Request) string {
	if !handlers.WantsFragment(r) {
		return ""
	}
	_, id, _ := strings.Cut(r.Header.Get("Hx-Source"), "#")
	return id
}

// inboxPage shows what waits; secret is a token that was made just now.
func (s *Site) inboxPage(c echo.Context, secret string) error {
	ctx, actor := c.Request().Context(), actorOf(c)
	in := pages.InboxInput{
		After: c.QueryParam("after"), BaseURL: strings.TrimSuffix(s.kit.PublicURL.String(), "/"),
		FreshToken: secret, FreshAgent: teachAgent,
	}
	if raw := c.QueryParam("conversation"); raw != "" {
		id, err := models.ParseID[models.ConversationID]("conversation", raw)
		if err != nil {
			return err
		}
		in.Conversation = id
	}
	page, err := s.store.Inbox(ctx, actor, store.InboxQuery{Brief: true, Conversation: in.Conversation, After: in.After})
	if err != nil {
		return err
	}
	in.Rows, in.Next, in.Count = page.Items, page.Next, page.Count
	if in.Origins, err = s.store.Origins(ctx, actor, idsOf(page.Items)...); err != nil {
		return err
	}
	all := page.Count
	if in.Conversation != "" {
		if len(page.Items) > 0 {
			in.ConversationTitle = pages.ConversationLabel(&page.Items[0])
		}
		if all, err = s.waiting(ctx, actor); err != nil {
			return err
		}
	}
	frame, err := s.frame(c, "Inbox", all)
	if err != nil {
		return err
	}
	frame.Path = views.InboxURL()
	v := pages.NewInbox(in, frame.Now)
	fragment := templ.Join(pages.InboxList(v), views.InboxCountOutOfBand(all))
	return handlers.Render(c, http.StatusOK, pages.InboxPage(frame, v), fragment)
}

func idsOf(rows []models.Approval) []models.ResponseID {
	ids := make([]models.ResponseID, 0, len(rows))
	for i := range rows {
		ids = append(ids, rows[i].ID)
	}
	return ids
}

// teachToken makes a token for the example of an empty inbox and shows it once.
func (s *Site) teachToken(c echo.Context) error {
	secret, _, err := s.store.AddToken(c.Request().Context(), actorOf(c), store.NewToken{Scope: models.ScopeAgent, Agent: teachAgent})
	if err != nil {
		return err
	}
	return s.inboxPage(c, secret)
}
