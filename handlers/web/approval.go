package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
	"countersign/views"
	"countersign/views/pages"
)

// requestID is the request that a path names; what is no id names none.
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
	return s.approvalPage(c, http.StatusOK, id, pages.ApprovalInput{})
}

// approvalPage shows a request as it stands now. in carries what was sent and
// what became of it.
func (s *Site) approvalPage(c echo.Context, status int, id models.ResponseID, in pages.ApprovalInput) error {
	ctx, actor := c.Request().Context(), actorOf(c)
	a, err := s.store.Approval(ctx, actor, id)
	if models.ErrorCode(err) == models.CodeNotFound {
		return models.Errorf(models.CodeNotFound, "There is no such request.")
	}
	if err != nil {
		return err
	}
	turns, err := s.store.TurnsBefore(ctx, actor, id)
	if err != nil {
		return err
	}
	in.Approval, in.MayDecide = *a, actor.IsPerson()
	in.Turns = append(turns, *a)
	in.Sees = actor.Admin || a.OwnerID == actor.UserID()
	origins, err := s.store.Origins(ctx, actor, id)
	if err != nil {
		return err
	}
	in.Origin = origins[id]
	if err := s.addBudget(ctx, actor, a, &in); err != nil {
		return err
	}

	frame := views.Page{Now: s.kit.Now()}
	if !handlers.WantsFragment(c.Request()) {
		if frame, err = s.frame(c, "", -1); err != nil {
			return err
		}
	}
	v := pages.NewApproval(in, frame.Now)
	frame.Title = models.RevealString(v.Title, false)
	frame.Watch, frame.Conversation = []models.ResponseID{id}, v.Follows
	return handlers.Render(c, status, pages.ApprovalPage(frame, v), pages.ApprovalPanel(v))
}
