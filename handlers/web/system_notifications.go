package web

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
	"countersign/models/notices"
	"countersign/views"
	"countersign/views/pages/system"
)

func (s *Site) systemNotifications(c echo.Context) error {
	return s.systemNotificationsPage(c, http.StatusOK, system.NotificationsInput{})
}

// systemNotificationsPage shows how messages go out. in carries a host that is to be
// corrected, or why something was not done.
func (s *Site) systemNotificationsPage(c echo.Context, status int, in system.NotificationsInput) error {
	var err error
	if in.Backlog, err = notices.New(s.store).Backlog(c.Request().Context(), actorOf(c)); err != nil {
		return err
	}
	if in.Means, err = s.notifyMeans(c); err != nil {
		return err
	}
	in.From = s.opts.Notify.From
	frame, err := s.frame(c, "Notifications", -1)
	if err != nil {
		return err
	}
	frame.Path = views.SystemURL() // it is a part of that place
	return handlers.Render(c, status, system.NotificationsPage(frame, system.NewNotifications(in, frame.Now)), nil)
}

// allowHost lets channels send to a host.
func (s *Site) allowHost(c echo.Context) error {
	host := strings.TrimSpace(c.Request().PostFormValue("host"))
	err := s.store.People.AllowHost(c.Request().Context(), actorOf(c), host)
	if e := asError(err, models.CodeInvalid); e != nil {
		return s.systemNotificationsPage(c, handlers.Status(e.Code), system.NotificationsInput{Host: host, Errors: e.Fields})
	}
	return s.changedHosts(c, "host-allowed", err)
}

// removeHost has nothing more sent to a host.
func (s *Site) removeHost(c echo.Context) error {
	err := s.store.People.RemoveHost(c.Request().Context(), actorOf(c), c.Request().PostFormValue("host"))
	if models.ErrorCode(err) == models.CodeNotFound { // somebody else removed it
		err = nil
	}
	return s.changedHosts(c, "host-removed", err)
}

func (s *Site) changedHosts(c echo.Context, flash string, err error) error {
	if e := asError(err, models.CodeConflict); e != nil {
		return s.systemNotificationsPage(c, handlers.Status(e.Code), system.NotificationsInput{Problem: e.Text})
	}
	if err != nil {
		return err
	}
	s.setFlash(c, flash)
	return c.Redirect(http.StatusSeeOther, views.SystemNotificationsURL())
}
