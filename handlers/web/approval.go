package web

import (
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
	"countersign/views"
	"countersign/views/pages/inbox"
	"countersign/views/pages/outcomes"
	"countersign/views/pages/requests"
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
	return s.approvalPage(c, http.StatusOK, id, requests.Input{Desk: deskOf(c, id)})
}

// input hands out the input of a request as it was sent, or the form that its digest is made
// over: of a long one the page shows only the beginning and the end.
func (s *Site) input(c echo.Context) error {
	id, err := requestID(c)
	if err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), actorOf(c)
	a, err := s.store.Requests.Approval(ctx, actor, id)
	if models.ErrorCode(err) == models.CodeNotFound { // perhaps a call that was only reported
		a, err = s.store.Requests.Entry(ctx, actor, id)
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
func (s *Site) approvalPage(c echo.Context, status int, id models.ResponseID, in requests.Input) error {
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
	fragment := requests.Panel(v)
	if target(c.Request()) == "detail" { // from a row of the list
		fragment = inbox.DeskDetail(inbox.Detail{Card: &v, Open: true, Focus: true, ListURL: readDesk(in.Desk).At("").URL()})
	}
	return handlers.Render(c, status, requests.Page(frame, v), fragment)
}

// approvalView is the card of a request as it is now, for whoever is signed
// in. in carries what was sent and what became of it. CodeNotFound for what the
// reader may not see.
func (s *Site) approvalView(c echo.Context, id models.ResponseID, in requests.Input) (requests.Approval, error) {
	actor := actorOf(c)
	// Beside the list, that says what comes next.
	p, err := s.store.RequestPage(c.Request().Context(), actor, id, in.Desk == "")
	if models.ErrorCode(err) == models.CodeNotFound {
		return requests.Approval{}, models.Errorf(models.CodeNotFound, "There is no such request.")
	}
	if err != nil {
		return requests.Approval{}, err
	}
	in.Approval, in.Acting, in.Reader, in.Admin = p.Approval, p.Acting, actor.Voter(), actor.Admin
	in.Sees, in.Turns, in.Origin, in.Presence = p.SeesConversation, append(p.Turns, models.Brief{Approval: p.Approval}), p.Origin, p.Presence
	in.Around, in.Opened, in.Calls, in.Result, in.Next = &p.Around, p.Around.Opened, p.Calls, p.Result, p.Next
	in.Budget, in.AgentBudget, in.Points, in.Shares = p.Budget, p.AgentBudget, p.Points, p.Shares
	if err := s.answerers(c.Request().Context(), actor, &in); err != nil {
		return requests.Approval{}, err
	}
	return requests.New(in, s.kit.Now()), nil
}

// presence answers with the line that says whether a request's agent waits for it.
func (s *Site) presence(c echo.Context) error {
	id, err := requestID(c)
	if err != nil {
		return err
	}
	a, err := s.store.Requests.Approval(c.Request().Context(), actorOf(c), id)
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
	return handlers.Render(c, http.StatusOK, outcomes.PresenceLine(outcomes.NewPresence(a, s.store.Presence(id), s.kit.Now())), nil)
}
