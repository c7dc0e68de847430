package channels

import (
	"net/http"
	"net/url"
	"strconv"
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
		if form.Errors == nil {
			form.Errors = map[string]string{}
		}
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

// readNotifications reads the form of the settings. Text that is not a number becomes a value that Check refuses.
func readNotifications(sent url.Values) (account.NotificationForm, models.NotificationSettings) {
	on := func(name string) bool { return sent.Get(name) == "true" }
	field := func(name string) string { return strings.TrimSpace(sent.Get(name)) }
	form := account.NotificationForm{
		Moments: map[models.Risk]account.MomentsForm{}, Digest: field("digest_at"), From: field("quiet_from"),
		Until: field("quiet_to"),
		Zone:  field("zone"), Critical: on("critical"),
	}
	settings := models.NotificationSettings{
		Moments: map[models.Risk]models.Moments{}, DigestAt: models.ClockTime(form.Digest),
		QuietFrom: models.ClockTime(form.From), QuietTo: models.ClockTime(form.Until),
		Zone: form.Zone, CriticalBreaksThrough: form.Critical,
	}
	for _, risk := range models.Risks() {
		name := string(risk)
		m := account.MomentsForm{
			AtOnce: on(account.AtOnceField + name), Half: on(account.HalfField + name), Tenth: on(account.TenthField + name),
			Unseen: field(account.UnseenField + name),
		}
		minutes := 0
		if m.Unseen != "" {
			var err error
			if minutes, err = strconv.Atoi(m.Unseen); err != nil || minutes < 1 {
				minutes = models.MaxUnseenMinutes + 1 // Check refuses it
			}
		}
		form.Moments[risk] = m
		settings.Moments[risk] = models.Moments{AtOnce: m.AtOnce, UnseenMinutes: minutes, Half: m.Half, Tenth: m.Tenth}
	}
	return form, settings
}
