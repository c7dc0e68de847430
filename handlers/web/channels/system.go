package channels

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/notices"
	"countersign/views"
	"countersign/views/pages/system"
)

func (s *Screens) systemNotifications(c echo.Context) error {
	return s.systemNotificationsPage(c, http.StatusOK, system.NotificationsInput{})
}

// systemNotificationsPage shows how messages go out. in carries a host that is to be
// corrected, or why something was not done.
func (s *Screens) systemNotificationsPage(c echo.Context, status int, in system.NotificationsInput) error {
	var err error
	var broken []models.Channel
	if in.Backlog, err = notices.New(s.Store).Backlog(c.Request().Context(), site.ActorOf(c)); err != nil {
		return err
	}
	if in.Means, err = s.notifyMeans(c); err != nil {
		return err
	}
	for i := range in.Backlog.Failures {
		broken = append(broken, in.Backlog.Failures[i].Channel)
	}
	in.From, in.Barred = s.sender.From, site.BarredChannels(in.Means.Hosts, broken)
	frame, err := s.Frame(c, "Notifications", -1)
	if err != nil {
		return err
	}
	frame.Path = views.SystemURL() // it is a part of that place
	return handlers.Render(c, status, system.NotificationsPage(frame, system.NewNotifications(in, frame.Now)), nil)
}

// allowHost lets channels send to a host, and leads back to the page that offered it.
func (s *Screens) allowHost(c echo.Context) error {
	host := strings.TrimSpace(c.Request().PostFormValue("host"))
	err := s.Store.People.AllowHost(c.Request().Context(), site.ActorOf(c), host)
	if e := site.AsError(err, models.CodeInvalid); e != nil {
		return s.systemNotificationsPage(c, handlers.Status(e.Code), system.NotificationsInput{Host: host, Errors: e.Fields})
	}
	return s.changedHosts(c, "host-allowed", err)
}

// removeHost has nothing more sent to a host.
func (s *Screens) removeHost(c echo.Context) error {
	err := s.Store.People.RemoveHost(c.Request().Context(), site.ActorOf(c), c.Request().PostFormValue("host"))
	if models.ErrorCode(err) == models.CodeNotFound { // somebody else removed it
		err = nil
	}
	return s.changedHosts(c, "host-removed", err)
}

func (s *Screens) changedHosts(c echo.Context, flash string, err error) error {
	if e := site.AsError(err, models.CodeConflict); e != nil {
		return s.systemNotificationsPage(c, handlers.Status(e.Code), system.NotificationsInput{Problem: e.Text})
	}
	if err != nil {
		return err
	}
	s.SetFlash(c, flash)
	if back := c.Request().PostFormValue("back"); back != "" {
		return c.Redirect(http.StatusSeeOther, site.LocalPage(back))
	}
	return c.Redirect(http.StatusSeeOther, views.SystemNotificationsURL())
}
