package request

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/policy"
	"countersign/views"
	"countersign/views/pages/requests"
)

// backToRequest answers an act on a request: with its card or, without script, with a redirect to the page that shows
// it.
func (s *Screens) backToRequest(c echo.Context, id models.ResponseID, desk, anchor string) error {
	if handlers.WantsFragment(c.Request()) {
		return s.approvalPage(c, http.StatusOK, id, requests.Input{Desk: desk})
	}
	to := views.ApprovalURL(id)
	if desk != "" {
		to = ReadDesk(desk).URL()
	}
	return c.Redirect(http.StatusSeeOther, to+anchor)
}

// notDone answers an act that was refused: with the card, which shows the current state or the error at its field. It
// returns any other error.
func (s *Screens) notDone(c echo.Context, id models.ResponseID, err error, again requests.Input, field string) error {
	again.Desk = deskOf(c, id)
	if e := site.AsError(err, TooLate...); e != nil {
		return s.approvalPage(c, handlers.Status(e.Code), id, again)
	}
	if e := site.AsError(err, append(ToCorrect, models.CodeConflict)...); e != nil {
		again.LateAct = ""
		text := e.Text
		for _, name := range []string{"text", field} {
			if at := e.Fields[name]; at != "" {
				text = at
			}
		}
		if len(e.Fields) == 0 {
			field = ""
		}
		again.Form.Errors = map[string]string{field: text}
		return s.approvalPage(c, handlers.Status(e.Code), id, again)
	}
	return err
}

// undo takes back an approval of the reader's that is held.
func (s *Screens) undo(c echo.Context) error {
	id, err := ID(c)
	if err != nil {
		return err
	}
	a, err := s.Store.Undo(c.Request().Context(), site.ActorOf(c), id)
	if err != nil {
		return s.notDone(c, id, err, requests.Input{LateAct: requests.LateUndo}, "")
	}
	if desk := deskOf(c, id); desk != "" {
		return s.Desk(c, a, desk)
	}
	return s.backToRequest(c, id, "", "")
}

// openPart notes that the reader has opened a folded part, and shows it.
func (s *Screens) openPart(c echo.Context) error {
	id, err := ID(c)
	if err != nil {
		return err
	}
	ctx, actor, part := c.Request().Context(), site.ActorOf(c), c.Request().PostForm.Get("part")
	a, err := s.Store.Requests.Approval(ctx, actor, id)
	if models.ErrorCode(err) == models.CodeNotFound {
		return models.Errorf(models.CodeNotFound, "There is no such request.")
	}
	if err != nil {
		return err
	}
	folds, err := s.Folds(ctx, actor, a)
	if err != nil {
		return err
	}
	if !slices.Contains(folds, part) {
		return s.notDone(c, id, models.Errorf(models.CodeInvalid, "There is no such section."), requests.Input{}, "")
	}
	if err := s.Store.OpenPart(ctx, actor, id, part); err != nil {
		return err
	}
	return s.backToRequest(c, id, deskOf(c, id), "#"+requests.PartAnchor(part))
}

// typedText is what a form says in its text field: browsers send every line break
// as two characters.
func typedText(c echo.Context) string {
	return strings.ReplaceAll(c.Request().PostForm.Get("text"), "\r\n", "\n")
}

// askBack asks the agent and its owner something.
func (s *Screens) askBack(c echo.Context) error {
	id, err := ID(c)
	if err != nil {
		return err
	}
	text := typedText(c)
	if _, err = s.Store.AskBack(c.Request().Context(), site.ActorOf(c), id, text); err != nil {
		return s.notDone(c, id, err, requests.Input{LateAct: requests.LateQuestion, Form: requests.DecideForm{Ask: text}},
			"ask")
	}
	return s.backToRequest(c, id, deskOf(c, id), "")
}

// answerNote takes the owner's answer to a reviewer's question.
func (s *Screens) answerNote(c echo.Context) error {
	id, err := ID(c)
	if err != nil {
		return err
	}
	text := typedText(c)
	if _, _, err = s.Store.AnswerNote(c.Request().Context(), site.ActorOf(c), id, text); err != nil {
		return s.notDone(c, id, err, requests.Input{LateAct: requests.LateNote, Form: requests.DecideForm{Note: text}},
			"note")
	}
	return s.backToRequest(c, id, deskOf(c, id), "")
}

// extend moves the deadline by some minutes, or as far as may be.
func (s *Screens) extend(c echo.Context) error {
	id, err := ID(c)
	if err != nil {
		return err
	}
	text := strings.TrimSpace(c.Request().PostForm.Get("minutes"))
	again := requests.Input{LateAct: requests.LateExtension, Form: requests.DecideForm{Minutes: text}}
	if text == requests.LastChoice {
		again.Form.Minutes = ""
	}
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	until, err := s.extendTo(ctx, actor, id, text)
	if err == nil {
		_, err = s.Store.Extend(ctx, actor, id, until)
	}
	if err != nil {
		return s.notDone(c, id, err, again, "minutes")
	}
	return s.backToRequest(c, id, deskOf(c, id), "")
}

// extendTo adds a form's minutes to the current deadline.
func (s *Screens) extendTo(
	ctx context.Context, actor models.Actor, id models.ResponseID, text string,
) (time.Time, error) {
	a, err := s.Store.Requests.Approval(ctx, actor, id)
	if models.ErrorCode(err) == models.CodeNotFound {
		return time.Time{}, models.Errorf(models.CodeNotFound, "There is no such request.")
	}
	if err != nil {
		return time.Time{}, err
	}
	if text == requests.LastChoice {
		doc, err := s.Policies.Document(ctx)
		return s.Kit.Now().Add(time.Duration(doc.MaxTimeoutMinutes) * time.Minute), err
	}
	minutes, err := strconv.ParseInt(text, 10, 64)
	if err != nil || minutes < 1 || minutes > policy.MaxTimeoutMinutes {
		return time.Time{}, models.Invalid("minutes", "must be a whole number from 1 to %d", policy.MaxTimeoutMinutes)
	}
	if !a.HasDeadline() {
		return models.NoDeadline, nil // which the store refuses in its own words
	}
	return a.ApprovalTimeoutAt.Add(time.Duration(minutes) * time.Minute), nil
}

// withdrawDecision takes back a decision that another system does not hear of.
func (s *Screens) withdrawDecision(c echo.Context) error {
	id, err := ID(c)
	if err != nil {
		return err
	}
	text := typedText(c)
	if _, err := s.Store.WithdrawDecision(c.Request().Context(), site.ActorOf(c), id, text); err != nil {
		if e := site.AsError(err, models.CodeCommentRequired, models.CodeInvalid); e != nil {
			return s.approvalPage(c, handlers.Status(e.Code), id, requests.Input{
				Desk: deskOf(c, id),
				Form: requests.DecideForm{Withdraw: text, Errors: map[string]string{"withdraw": e.Fields["reason"]}},
			})
		}
		return s.notDone(c, id, err,
			requests.Input{LateAct: requests.LateWithdrawal, Form: requests.DecideForm{Withdraw: text}}, "withdraw")
	}
	return s.backToRequest(c, id, deskOf(c, id), "")
}

// cancelRequest withdraws a request, for its owner and admins.
func (s *Screens) cancelRequest(c echo.Context) error {
	id, err := ID(c)
	if err != nil {
		return err
	}
	a, err := s.Store.Cancel(c.Request().Context(), site.ActorOf(c), id)
	if err != nil {
		return s.notDone(c, id, err, requests.Input{LateAct: requests.LateWithdrawal}, "")
	}
	if desk := deskOf(c, id); desk != "" {
		return s.Desk(c, a, desk)
	}
	return s.backToRequest(c, id, "", "")
}
