package audit

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/glass"
	"countersign/views"
	"countersign/views/pages/audit"
)

// refusedRemark is where a request keeps the form of a remark that was not taken, for the page that shows it again.
const refusedRemark = "refused-remark"

// acknowledge takes that somebody has looked at a decision that broke glass.
func (s *Screens) acknowledge(c echo.Context) error {
	form := c.Request().PostForm
	id, err := models.ParseID[models.VoteID]("vote", form.Get("vote"))
	if err != nil {
		return models.Errorf(models.CodeNotFound, "There is no such decision.")
	}
	remark := strings.ReplaceAll(form.Get("remark"), "\r\n", "\n")
	err = glass.New(s.Store).Acknowledge(c.Request().Context(), site.ActorOf(c), id, strings.TrimSpace(remark))
	if e := site.AsError(err, models.CodeInvalid); e != nil {
		c.Set(refusedRemark, audit.BrokenInput{Vote: id, Remark: remark, Error: e.Fields["remark"]})
		return s.audit(c)
	}
	said := "acknowledged"
	if e := site.AsError(err, models.CodeConflict); e != nil {
		said, err = "acknowledged-before", nil
	}
	if err != nil {
		return err
	}
	s.SetFlash(c, said)
	return c.Redirect(http.StatusSeeOther, views.AuditURL())
}

// broken reads the decisions that the reader may have to acknowledge, with the form that was refused. The status is
// that of the page, or the form's.
func (s *Screens) broken(c echo.Context, status int) (audit.BrokenInput, int, error) {
	in, again := c.Get(refusedRemark).(audit.BrokenInput)
	if again {
		status = handlers.Status(models.CodeInvalid)
	}
	in.Reader = site.ActorOf(c)
	var err error
	in.List, in.More, err = glass.New(s.Store).Unacknowledged(c.Request().Context(), in.Reader)
	return in, status, err
}
