package request

import (
	"context"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/notices"
	"countersign/views/pages/requests"
)

// answerers adds to whom the reader may hand a request over that waits, and of one that expired
// who could have answered.
func (s *Screens) answerers(ctx context.Context, actor models.Actor, in *requests.Input) (err error) {
	a := &in.Approval
	switch a.StateAt(s.Kit.Now()) { //nolint:exhaustive // of all others nothing is said
	case models.StatusPending:
		if in.Substitution.MayApprove && in.Substitution.OnBehalf == nil {
			in.HandOverTo, err = s.Store.MayHandOverTo(ctx, actor, a.ID)
		}
	case models.StatusExpired:
		in.Unanswered, err = notices.New(s.Store).Unanswered(ctx, actor, a.ID)
	}
	if models.ErrorCode(err) == models.CodeNotFound {
		return nil // it went out of their sight meanwhile: the card was read before
	}
	return err
}

// handOver hands a request to somebody else as well.
func (s *Screens) handOver(c echo.Context) error {
	id, err := ID(c)
	if err != nil {
		return err
	}
	form := c.Request().PostForm
	to, note := form.Get("to"), strings.ReplaceAll(form.Get("note"), "\r\n", "\n")
	again := requests.Input{LateAct: requests.LateHandOver, Form: requests.DecideForm{HandOverTo: to, HandOverNote: note}}
	who, err := models.ParseID[models.UserID]("to", to)
	if err != nil {
		return s.notDone(c, id, models.Invalid("to", "choose a person"), again, "to")
	}
	if _, err := s.Store.HandOver(c.Request().Context(), site.ActorOf(c), id, who, note); err != nil {
		field := "to"
		if e := site.AsError(err, models.CodeInvalid); e != nil && e.Fields["note"] != "" {
			field, err = "handover_note", &models.Error{
				Code: e.Code, Text: e.Text, Fields: map[string]string{"handover_note": e.Fields["note"]},
			}
		}
		return s.notDone(c, id, err, again, field)
	}
	return s.backToRequest(c, id, deskOf(c, id), "#handovers")
}

// takeBackHandOver ends a hand-over of the reader's.
func (s *Screens) takeBackHandOver(c echo.Context) error {
	id, err := ID(c)
	if err != nil {
		return err
	}
	hand, err := models.ParseID[models.HandOverID]("handover", c.Param("handover"))
	if err != nil {
		return models.NotFound("hand-over")
	}
	if err := s.Store.TakeBackHandOver(c.Request().Context(), site.ActorOf(c), hand); err != nil {
		return s.notDone(c, id, err, requests.Input{LateAct: requests.LateHandOver}, "")
	}
	return s.backToRequest(c, id, deskOf(c, id), "")
}
