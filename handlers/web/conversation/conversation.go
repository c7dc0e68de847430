package conversation

import (
	"context"
	"net/http"
	"strconv"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/requests"
	"countersign/views"
	"countersign/views/pages/conversations"
)

// conversationID is the conversation that a path names; a malformed id is not found.
func conversationID(c echo.Context) (models.ConversationID, error) {
	id, err := models.ParseID[models.ConversationID]("id", c.Param("id"))
	if err != nil {
		return "", noConversation()
	}
	return id, nil
}

func noConversation() error {
	return models.Errorf(models.CodeNotFound, "There is no such conversation.")
}

// visibleConversation reads the conversation that a path names, for its owner
// and admins: a reviewer of one request sees that one on its own page.
func (s *Screens) visibleConversation(c echo.Context) (*models.ConversationView, error) {
	id, err := conversationID(c)
	if err != nil {
		return nil, err
	}
	v, err := s.Store.Requests.Conversation(c.Request().Context(), site.ActorOf(c), id)
	if models.ErrorCode(err) == models.CodeNotFound {
		return nil, noConversation()
	}
	return v, err
}

// conversation shows one, or for a part's own refetch that part.
func (s *Screens) conversation(c echo.Context) error {
	v, err := s.visibleConversation(c)
	if err != nil {
		return err
	}
	if handlers.WantsFragment(c.Request()) {
		part, err := s.conversationPart(c, v)
		switch {
		case err != nil:
			return err
		case part == nil:
			return c.NoContent(http.StatusNoContent)
		}
		return handlers.Render(c, http.StatusOK, nil, part)
	}
	before, err := sequenceParam(c, "before")
	if err != nil {
		return err
	}
	return s.conversationPage(c, http.StatusOK, conversations.Input{Conversation: *v, Before: before})
}

// sequenceParam reads a key of the history; 0 where it is missing.
func sequenceParam(c echo.Context, name string) (int64, error) {
	raw := c.QueryParam(name)
	if raw == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(raw, 10, 64)
	if err != nil || n < 0 {
		return 0, models.Invalid(name, "must be the number of an entry")
	}
	return n, nil
}

// conversationPage shows a conversation. in carries the conversation, the page of its history, and a form that was
// sent with its errors.
func (s *Screens) conversationPage(c echo.Context, status int, in conversations.Input) error {
	ctx, actor, id := c.Request().Context(), site.ActorOf(c), in.Conversation.ID
	history, err := s.Store.Requests.History(ctx, actor, id,
		requests.HistoryQuery{Before: in.Before, Limit: conversations.HistoryPage})
	if err != nil {
		return err
	}
	in.History = *history
	if in.Waiting, err = s.waitingIn(ctx, actor, id); err != nil {
		return err
	}
	if in.Around.Shares, err = s.sharesFor(ctx, actor, id, history.Entries); err != nil {
		return err
	}
	if in.Around.Run, err = s.runAround(ctx, actor, id, history.Entries); err != nil {
		return err
	}
	if in.Parent, in.Children, err = s.Store.Requests.Family(ctx, actor, id); err != nil {
		return err
	}
	if in.Budget, err = s.budgetPanel(c, &in.Conversation); err != nil {
		return err
	}
	in.Draft = s.drafted(id)
	frame, err := s.Frame(c, "", -1)
	if err != nil {
		return err
	}
	v := conversations.New(in, frame.Now)
	frame.Title, frame.Path = v.Name, views.ConversationURL(id)
	if v.AtEnd {
		frame.Conversation = id
	}
	return handlers.Render(c, status, conversations.Page(frame, v), nil)
}

// waitingIn are the requests of a conversation that wait, newest first.
func (s *Screens) waitingIn(
	ctx context.Context, actor models.Actor, id models.ConversationID,
) ([]models.Approval, error) {
	list, err := s.Store.Requests.Approvals(ctx, actor,
		requests.ListQuery{Conversation: id, Status: models.StatusPending, Limit: models.DefaultPage})
	return list.Items, err
}

// sharesFor is what energy was spent on, where a budget request waits among the
// entries.
func (s *Screens) sharesFor(
	ctx context.Context, actor models.Actor, id models.ConversationID, entries []models.HistoryEntry,
) ([]models.EnergyShare, error) {
	for _, e := range entries {
		if e.Response != nil && e.Response.Kind == models.KindBudget && e.Response.Status() == models.StatusPending {
			return s.Store.EnergyBy(ctx, actor, id, models.SharesRead)
		}
	}
	return nil, nil
}

// conversationPart is the part of the page that refetches itself; nil: nothing
// new is there.
func (s *Screens) conversationPart(c echo.Context, v *models.ConversationView) (templ.Component, error) {
	now := s.Kit.Now()
	switch c.QueryParam("part") {
	case "head":
		return conversations.Heading(conversations.NewHead(v, conversations.RenameForm{}, now)), nil
	case "note":
		return conversations.ComposerNote(conversations.NewComposer(v, conversations.SayForm{})), nil
	case "after":
		return s.historyGrowth(c, v)
	case "entry":
		return s.entryPart(c, v)
	case "batch":
		return s.batchPart(c, v)
	}
	return nil, models.Errorf(models.CodeNotFound, "There is no such part of the page.")
}

// historyGrowth is what came after what a page shows.
func (s *Screens) historyGrowth(c echo.Context, v *models.ConversationView) (templ.Component, error) {
	after, err := sequenceParam(c, "after")
	if err != nil {
		return nil, err
	}
	if after == 0 {
		after = -1 // from the very beginning
	}
	history, err := s.Store.Requests.History(c.Request().Context(), site.ActorOf(c), v.ID,
		requests.HistoryQuery{After: after, Limit: conversations.HistoryPage})
	if err != nil || len(history.Entries) == 0 {
		return nil, err
	}
	in := conversations.Input{Conversation: *v, History: *history}
	if in.Around.Run, err = s.runAround(c.Request().Context(), site.ActorOf(c), v.ID, history.Entries); err != nil {
		return nil, err
	}
	in.History.Entries = conversations.WithoutKnownBatches(history.Entries, in.Around.Run.Calls)
	if in.Around.Shares, err = s.sharesFor(c.Request().Context(), site.ActorOf(c), v.ID, history.Entries); err != nil {
		return nil, err
	}
	return conversations.HistoryGrowth(conversations.New(in, s.Kit.Now())), nil
}

// responseIn is a response of this conversation and of no other.
func (s *Screens) responseIn(
	ctx context.Context, actor models.Actor, conv models.ConversationID, raw string,
) (*models.Approval, error) {
	none := models.Errorf(models.CodeNotFound, "There is no such request.")
	id, err := models.ParseID[models.ResponseID]("response", raw)
	if err != nil {
		return nil, none
	}
	a, err := s.Store.Requests.Approval(ctx, actor, id)
	if models.ErrorCode(err) == models.CodeNotFound || err == nil && a.ConversationID != conv {
		return nil, none
	}
	return a, err
}

// drafted is what the built-in agent is writing, or nil.
func (s *Screens) drafted(id models.ConversationID) *conversations.Draft {
	if s.draftOf == nil {
		return nil
	}
	text, model, ok := s.draftOf(id)
	if !ok {
		return nil
	}
	return &conversations.Draft{Text: text, Model: model}
}

// draft is what the built-in agent is writing, for its own refetch.
func (s *Screens) draft(c echo.Context) error {
	v, err := s.visibleConversation(c)
	if err != nil {
		return err
	}
	if !handlers.WantsFragment(c.Request()) {
		return c.Redirect(http.StatusSeeOther, views.ConversationEndURL(v.ID))
	}
	return handlers.Render(c, http.StatusOK, nil, conversations.DraftPart(conversations.NewDraft(v, s.drafted(v.ID))))
}

// backToConversation leads from a form's address to its page.
func (s *Screens) backToConversation(c echo.Context) error {
	v, err := s.visibleConversation(c)
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, views.ConversationEndURL(v.ID))
}
