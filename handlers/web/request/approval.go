package request

import (
	"context"
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/views"
	"countersign/views/pages/inbox"
	"countersign/views/pages/outcomes"
	"countersign/views/pages/requests"
)

// ID is the request that a path names; a malformed id is not found.
func ID(c echo.Context) (models.ResponseID, error) {
	id, err := models.ParseID[models.ResponseID]("id", c.Param("id"))
	if err != nil {
		return "", models.Errorf(models.CodeNotFound, "There is no such request.")
	}
	return id, nil
}

func (s *Screens) approval(c echo.Context) error {
	id, err := ID(c)
	if err != nil {
		return err
	}
	return s.approvalPage(c, http.StatusOK, id, requests.Input{Desk: deskOf(c, id)})
}

// input hands out the input of a request as it was sent, or the form that its digest is made
// over: of a long one the page shows only the beginning and the end.
func (s *Screens) input(c echo.Context) error {
	id, err := ID(c)
	if err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	a, err := s.Store.Requests.Approval(ctx, actor, id)
	if models.ErrorCode(err) == models.CodeNotFound { // perhaps a call that was only reported
		a, err = s.Store.Requests.Entry(ctx, actor, id)
	}
	if err != nil {
		return err
	}
	if a.IsRemoved() {
		return models.Errorf(models.CodeNotFound, "The input was %s.", a.RemovedText())
	}
	if a.Kind != models.KindToolCall || a.InputBytes != nil {
		return models.Errorf(models.CodeNotFound, "The input of this request is not kept whole.")
	}
	name, text := "input", []byte(a.ToolInputJSON)
	if c.QueryParam("form") == "hashed" {
		name = "hashed"
		if text, err = a.CanonicalForm(); err != nil {
			return err
		}
	}
	c.Response().Header().Set(echo.HeaderContentDisposition, `attachment; filename="`+name+`-`+string(id)+`.json"`)
	return c.Blob(http.StatusOK, echo.MIMEApplicationJSON, text)
}

// deskOf is the place of a request's card in the inbox, from its address or its form: the query of the inbox's
// address. Empty: the request has its own page.
func deskOf(c echo.Context, id models.ResponseID) string {
	r := c.Request()
	for _, values := range []url.Values{r.PostForm, r.URL.Query()} {
		if values.Get("desk") != "" {
			return ReadDesk(values.Get("desk")).At(id).Query()
		}
	}
	return ""
}

// approvalPage shows the current state of a request. in carries the form that was sent, and its errors.
func (s *Screens) approvalPage(c echo.Context, status int, id models.ResponseID, in requests.Input) error {
	in.OwnPage = !handlers.WantsFragment(c.Request())
	v, err := s.View(c, id, in)
	if err != nil {
		return err
	}
	frame := views.Page{Now: s.Kit.Now()}
	if !handlers.WantsFragment(c.Request()) {
		if frame, err = s.Frame(c, "", -1); err != nil {
			return err
		}
	}
	frame.Title = v.Title
	frame.Watch, frame.Conversation = []models.ResponseID{id}, v.Follows
	fragment := requests.Panel(v)
	if site.Target(c.Request()) == "detail" { // from a row of the list
		fragment = inbox.DeskDetail(inbox.Detail{Card: &v, Open: true, Focus: true, ListURL: ReadDesk(in.Desk).At("").URL()})
	}
	return handlers.Render(c, status, requests.Page(frame, v), fragment)
}

// View is the current card of a request, for the person who is signed in. in carries the form that was sent, and its
// errors. CodeNotFound for a request that the reader may not see.
func (s *Screens) View(c echo.Context, id models.ResponseID, in requests.Input) (requests.Approval, error) {
	actor := site.ActorOf(c)
	// Beside the list, the list itself shows which request is next.
	p, err := s.Store.RequestPage(c.Request().Context(), actor, id, in.Desk == "")
	if models.ErrorCode(err) == models.CodeNotFound {
		return requests.Approval{}, models.Errorf(models.CodeNotFound, "There is no such request.")
	}
	if err != nil {
		return requests.Approval{}, err
	}
	in.Approval, in.Substitution, in.Reader, in.Admin, in.Watches = p.Approval, p.Substitution, actor.Voter(), actor.Admin, actor.Auditor
	in.Sees, in.Turns, in.Origin, in.Presence = p.SeesConversation, append(p.Turns,
		models.Brief{Approval: p.Approval}), p.Origin, p.Presence
	in.Around, in.Opened, in.Calls, in.Result, in.Next = &p.Around, p.Around.Opened, p.Calls, p.Result, p.Next
	in.Budget, in.AgentBudget, in.Points, in.Shares = p.Budget, p.AgentBudget, p.Points, p.Shares
	if err := s.answerers(c.Request().Context(), actor, &in); err != nil {
		return requests.Approval{}, err
	}
	return requests.New(in, s.Kit.Now()), nil
}

// presence answers with the line that says whether a request's agent waits for it.
func (s *Screens) presence(c echo.Context) error {
	id, err := ID(c)
	if err != nil {
		return err
	}
	a, err := s.Store.Requests.Approval(c.Request().Context(), site.ActorOf(c), id)
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
	agents, err := s.Store.Presences(c.Request().Context(), id)
	if err != nil {
		return err
	}
	return handlers.Render(c, http.StatusOK, outcomes.PresenceLine(outcomes.NewPresence(a, agents[id], s.Kit.Now())), nil)
}

// Find reads a request that a page is about.
func (s *Screens) Find(ctx context.Context, actor models.Actor, id models.ResponseID) (*models.Approval, error) {
	a, err := s.Store.Requests.Approval(ctx, actor, id)
	if models.ErrorCode(err) == models.CodeNotFound {
		return nil, models.Errorf(models.CodeNotFound, "There is no such request.")
	}
	return a, err
}

// backToPageOfRequest leads to the page of the request in the address.
func backToPageOfRequest(c echo.Context) error {
	id, err := ID(c)
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, views.ApprovalURL(id))
}
