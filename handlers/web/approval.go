package web

import (
	"context"
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
	"countersign/models/store"
	"countersign/views"
	"countersign/views/pages"
)

// requestID is the request that a path names; what is not an id names none.
func requestID(c echo.Context) (models.ResponseID, error) {
	id, err := models.ParseID[models.ResponseID]("id", c.Param("id"))
	if err != nil {
		return "", models.Errorf(models.CodeNotFound, "There is no such request.")
	}
	return id, nil
}

func (s *Site) approval(c echo.Context) error {
	id, err := requestID(c)
	if err != nil {
		return err
	}
	return s.approvalPage(c, http.StatusOK, id, pages.ApprovalInput{Desk: deskOf(c, id)})
}

// deskOf is where in the inbox the card of a request stands, from its address or
// its form: the query of the inbox's address. Empty: it is a page of its own.
func deskOf(c echo.Context, id models.ResponseID) string {
	r := c.Request()
	for _, values := range []url.Values{r.PostForm, r.URL.Query()} {
		if values.Get("desk") != "" {
			return readDesk(values.Get("desk")).At(id).Query()
		}
	}
	return ""
}

// approvalPage shows a request as it is now. in carries what was sent and
// what became of it.
func (s *Site) approvalPage(c echo.Context, status int, id models.ResponseID, in pages.ApprovalInput) error {
	in.Alone = !handlers.WantsFragment(c.Request())
	v, err := s.approvalView(c, id, in)
	if err != nil {
		return err
	}
	frame := views.Page{Now: s.kit.Now()}
	if !handlers.WantsFragment(c.Request()) {
		if frame, err = s.frame(c, "", -1); err != nil {
			return err
		}
	}
	frame.Title = v.Title
	frame.Watch, frame.Conversation = []models.ResponseID{id}, v.Follows
	fragment := pages.ApprovalPanel(v)
	if target(c.Request()) == "detail" { // from a row of the list
		fragment = pages.DeskDetail(pages.InboxDetail{Card: &v, Open: true, Focus: true, ListURL: readDesk(in.Desk).At("").URL()})
	}
	return handlers.Render(c, status, pages.ApprovalPage(frame, v), fragment)
}

// approvalView is the card of a request as it is now, for whoever is signed
// in. in carries what was sent and what became of it. CodeNotFound for what the
// reader may not see.
func (s *Site) approvalView(c echo.Context, id models.ResponseID, in pages.ApprovalInput) (pages.Approval, error) {
	ctx, actor := c.Request().Context(), actorOf(c)
	a, err := s.store.Approval(ctx, actor, id)
	if models.ErrorCode(err) == models.CodeNotFound {
		return pages.Approval{}, models.Errorf(models.CodeNotFound, "There is no such request.")
	}
	if err != nil {
		return pages.Approval{}, err
	}
	in.Approval, in.MayDecide, in.Reader, in.Admin = *a, actor.IsPerson(), actor.UserID(), actor.Admin
	in.Sees = actor.Admin || a.OwnerID == actor.UserID()
	turns, err := s.store.TurnsBefore(ctx, actor, id)
	if err != nil {
		return pages.Approval{}, err
	}
	in.Turns = append(turns, *a)
	origins, err := s.store.Origins(ctx, actor, id)
	if err != nil {
		return pages.Approval{}, err
	}
	in.Origin = origins[id]
	if err := s.addBudget(ctx, actor, a, &in); err != nil {
		return pages.Approval{}, err
	}
	if err := s.addAround(ctx, actor, a, &in); err != nil {
		return pages.Approval{}, err
	}
	in.Presence = s.store.Presence(id)
	return pages.NewApproval(in, s.kit.Now()), nil
}

// presence answers with the line that says whether a request's agent waits for it.
func (s *Site) presence(c echo.Context) error {
	id, err := requestID(c)
	if err != nil {
		return err
	}
	a, err := s.store.Approval(c.Request().Context(), actorOf(c), id)
	if err != nil {
		return err
	}
	if !handlers.WantsFragment(c.Request()) {
		return c.Redirect(http.StatusSeeOther, views.ApprovalURL(id))
	}
	if a.Status() != models.StatusPending {
		handlers.KeepFragment(c) // the card says how it ended
		return c.NoContent(http.StatusOK)
	}
	return handlers.Render(c, http.StatusOK, pages.PresenceLine(pages.NewPresence(a, s.store.Presence(id), s.kit.Now())), nil)
}

// addAround adds what stands around a request: its like, what was said about it,
// its batch, its result, and for one that is settled another that waits.
func (s *Site) addAround(ctx context.Context, actor models.Actor, a *models.Approval, in *pages.ApprovalInput) error {
	around, err := s.store.Around(ctx, actor, a.ID)
	if err != nil {
		return err
	}
	in.Around, in.Opened = around, around.Opened
	if a.BatchID != nil && in.Sees {
		// What was queued at once stands together, or nearly so.
		const near = 25
		if in.Calls, err = s.store.RunDetails(ctx, actor, a.ConversationID, max(1, a.Sequence-near), a.Sequence+near); err != nil {
			return err
		}
	}
	if a.Status() == models.StatusPending {
		return nil
	}
	if a.Kind == models.KindToolCall && a.IsCompleted {
		if in.Result, err = s.store.CallResult(ctx, actor, a.ID); err != nil {
			return err
		}
	}
	if in.Desk != "" {
		return nil // the list beside it says what comes next
	}
	waiting, err := s.store.Inbox(ctx, actor, store.InboxQuery{Brief: true, Limit: 1})
	if err != nil {
		return err
	}
	if len(waiting.Items) > 0 {
		in.Next = &waiting.Items[0]
	}
	return nil
}
