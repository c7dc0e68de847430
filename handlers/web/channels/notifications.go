package channels

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/views"
	"countersign/views/pages/account"
)

func (s *Screens) notifications(c echo.Context) error {
	return s.notificationsPage(c, http.StatusOK, account.NotificationsInput{}, nil)
}

// notificationsPage shows where and when the reader is notified. in carries the form about channels that was sent;
// form, if not nil, has settings to correct.
func (s *Screens) notificationsPage(
	c echo.Context, status int, in account.NotificationsInput, form *account.NotificationForm,
) error {
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	settings, err := s.Store.People.NotificationSettings(ctx, actor)
	if err != nil {
		return err
	}
	if in.Form = account.NewNotificationForm(settings); form != nil {
		in.Form = *form
	}
	if in.Channels.Channels, err = s.Store.People.Channels(ctx, actor); err != nil {
		return err
	}
	if err := s.Fill(c, &in.Channels); err != nil {
		return err
	}
	frame, err := s.Frame(c, "Notifications", -1)
	if err != nil {
		return err
	}
	frame.Path = views.NotificationsURL()
	return handlers.Render(c, status, account.NotificationsPage(frame, account.NewNotifications(in, frame.Now)), nil)
}

// setNotifications changes when the reader is notified.
func (s *Screens) setNotifications(c echo.Context) error {
	form, settings := readNotifications(c.Request().PostForm)
	err := settings.Check()
	if e := site.AsError(err, models.CodeInvalid); e != nil {
		for field, text := range e.Fields {
			if form.Errors[field] == "" {
				form.Errors[field] = text
			}
		}
	} else if err != nil {
		return err
	}
	if len(form.Errors) > 0 {
		return s.notificationsPage(c, http.StatusUnprocessableEntity, account.NotificationsInput{}, &form)
	}
	if err := s.Store.People.SetNotificationSettings(c.Request().Context(), site.ActorOf(c), settings); err != nil {
		return err
	}
	s.SetFlash(c, "notifications-set")
	return c.Redirect(http.StatusSeeOther, views.NotificationsURL())
}

// readNotifications reads the form of the settings, with the errors of what Check would not see.
func readNotifications(sent url.Values) (account.NotificationForm, models.NotificationSettings) {
	on := func(name string) bool { return sent.Get(name) == "true" }
	field := func(name string) string { return strings.TrimSpace(sent.Get(name)) }
	form := account.NotificationForm{
		Moments: map[models.Risk]string{}, Digest: field("digest_at"), From: field("quiet_from"),
		Until: field("quiet_to"),
		Zone:  field("zone"), Critical: on("critical"), Errors: map[string]string{},
	}
	settings := models.NotificationSettings{
		Moments: map[models.Risk]models.Moments{}, DigestAt: models.ClockTime(form.Digest),
		QuietFrom: models.ClockTime(form.From), QuietTo: models.ClockTime(form.Until),
		Zone: form.Zone, CriticalBreaksThrough: form.Critical,
	}
	for _, risk := range models.Risks() {
		name := account.MomentsField(risk)
		form.Moments[risk] = field(name)
		moments, ok := models.ParseMoments(form.Moments[risk])
		if !ok {
			form.Errors[name] = "must be one of the choices"
		}
		settings.Moments[risk] = moments
	}
	return form, settings
}
