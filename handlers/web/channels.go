package web

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
	"countersign/views"
	"countersign/views/pages/account"
	"countersign/views/pages/people"
)

// Notify is how messages go out; what is missing can't be added.
type Notify struct {
	// From is the address that messages by e-mail come from; empty: there is no SMTP server.
	From string
	// PushKey is the public key of web push, base64url.
	PushKey func() (string, error)
	// Check refuses, with CodeInvalid, what nothing could be sent to: hosts that no admin has
	// allowed among it. It asks nobody.
	Check func(context.Context, models.ChannelKind, models.ChannelTarget) error
	// Test sends a test by a channel of the actor, at once.
	Test func(context.Context, models.Actor, models.ChannelID) (models.SendResult, error)
}

// channelPlace is whose channels a form is about, and the page that shows them.
type channelPlace struct {
	group models.GroupID // empty: the reader's own
	back  string
	list  func() ([]models.Channel, error)
	show  func(status int, in account.ChannelsInput) error
}

// inPlace is a handler of a form about channels.
func inPlace(place func(echo.Context) (channelPlace, error), do func(echo.Context, channelPlace) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		p, err := place(c)
		if err != nil {
			return err
		}
		return do(c, p)
	}
}

// ownChannels are those of who is signed in.
func (s *Site) ownChannels(c echo.Context) (channelPlace, error) {
	return channelPlace{
		back: views.NotificationsURL(),
		list: func() ([]models.Channel, error) { return s.store.People.Channels(c.Request().Context(), actorOf(c)) },
		show: func(status int, in account.ChannelsInput) error {
			return s.notificationsPage(c, status, account.NotificationsInput{Channels: in}, nil)
		},
	}, nil
}

// groupChannels are those of the group of the path.
func (s *Site) groupChannels(c echo.Context) (channelPlace, error) {
	ctx, actor := c.Request().Context(), actorOf(c)
	group, _, err := s.store.People.Group(ctx, actor, c.Param("name"))
	if err != nil {
		return channelPlace{}, err
	}
	return channelPlace{
		group: group.ID, back: views.GroupURL(group.Name),
		list: func() ([]models.Channel, error) { return s.store.People.GroupChannels(ctx, actor, group.ID) },
		show: func(status int, in account.ChannelsInput) error {
			return s.groupPage(c, status, people.GroupInput{Channels: in})
		},
	}, nil
}

// channelOf is the channel of the path, if it is one of the place.
func channelOf(c echo.Context, place channelPlace) (models.ChannelID, error) {
	id, err := models.ParseID[models.ChannelID]("id", c.Param("id"))
	if err != nil {
		return "", models.NotFound("channel")
	}
	all, err := place.list()
	if err != nil {
		return "", err
	}
	if !slices.ContainsFunc(all, func(one models.Channel) bool { return one.ID == id }) {
		return "", models.NotFound("channel")
	}
	return id, nil
}

// fillChannels adds to a list of channels what is the same on every page.
func (s *Site) fillChannels(c echo.Context, in *account.ChannelsInput) error {
	means, err := s.notifyMeans(c)
	in.Means, in.Admin = means, actorOf(c).Admin
	return err
}

// notifyMeans are the ways in which messages can go.
func (s *Site) notifyMeans(c echo.Context) (account.NotifyMeans, error) {
	hosts, err := s.store.People.AllowedHosts(c.Request().Context(), actorOf(c))
	if err != nil {
		return account.NotifyMeans{}, err
	}
	out := account.NotifyMeans{Mail: s.opts.Notify.From != "", Hosts: hosts, MayAllow: actorOf(c).Admin, Secure: s.kit.PublicURL.Scheme == "https" || !s.cookie.secure}
	if s.opts.Notify.PushKey != nil && out.Secure {
		if out.Push, err = s.opts.Notify.PushKey(); err != nil {
			return out, err
		}
	}
	return out, nil
}

// addChannel adds a channel of the place, and has a code sent to it.
func (s *Site) addChannel(c echo.Context, place channelPlace) error {
	ctx, actor, sent := c.Request().Context(), actorOf(c), c.Request().PostForm
	in := models.ChannelInput{
		Group: place.group, Kind: models.ChannelKind(sent.Get("kind")), Label: strings.TrimSpace(sent.Get("label")),
		Target: models.ChannelTarget{Address: strings.TrimSpace(sent.Get("address")), URL: strings.TrimSpace(sent.Get("url")), Token: strings.TrimSpace(sent.Get("token"))},
	}
	if in.Kind == models.ChannelWebPush {
		in.Target = models.ChannelTarget{URL: sent.Get("endpoint"), P256dh: sent.Get("p256dh"), Auth: sent.Get("auth")}
		if in.Label == "" {
			in.Label = account.DeviceName(c.Request().UserAgent())
		}
	}
	if err := s.allowNamedHost(c, in.Target.URL); err != nil {
		return err
	}
	added, err := s.newChannel(c, in)
	if e := asError(err, models.CodeInvalid, models.CodeConflict, models.CodeTooManyRequests); e != nil {
		retryAfter(c, e)
		handlers.Uncompressed(c) // it gives secrets back
		form := account.ChannelForm{
			Kind: in.Kind, Label: sent.Get("label"), Address: in.Target.Address, URL: in.Target.URL, Token: in.Target.Token,
			Errors: channelErrors(in.Kind, e), Allow: hostToAllow(c, in.Target.URL, e),
		}
		return place.show(handlers.Status(e.Code), account.ChannelsInput{Form: form})
	}
	if err != nil {
		return err
	}
	if added.Kind == models.ChannelWebhook {
		secret, err := s.store.People.WebhookSecret(ctx, actor, added.ID)
		if err != nil {
			return err
		}
		handlers.Uncompressed(c)
		return place.show(http.StatusOK, account.ChannelsInput{Secret: secret})
	}
	flash := "channel-added"
	if added.VerifiedAt != nil {
		flash = "push-on"
	}
	s.setFlash(c, flash)
	return c.Redirect(http.StatusSeeOther, place.back)
}

// newChannel refuses what can't be sent from here, and adds the rest.
func (s *Site) newChannel(c echo.Context, in models.ChannelInput) (*models.Channel, error) {
	means, err := s.notifyMeans(c)
	if err != nil {
		return nil, err
	}
	if text := means.Bars(in.Kind); text != "" {
		return nil, models.Errorf(models.CodeConflict, "%s", text)
	}
	if in.Group != "" && in.Kind == models.ChannelWebPush {
		return nil, models.Invalid("kind", "must be a kind that a group can have: a browser belongs to one person")
	}
	if s.opts.Notify.Check == nil {
		return nil, models.Errorf(models.CodeConflict, "This server can't send messages.")
	}
	if in.Kind != models.ChannelEmail { // of an address the store says more
		if err := s.opts.Notify.Check(c.Request().Context(), in.Kind, in.Target); err != nil {
			return nil, err
		}
	}
	return s.store.People.AddChannel(c.Request().Context(), actorOf(c), in)
}

// channelErrors are the errors by the fields of the form of a kind; what is about none of them
// is said above.
func channelErrors(kind models.ChannelKind, e *models.Error) map[string]string {
	switch {
	case len(e.Fields) == 0:
		return map[string]string{"": e.Text}
	case kind == models.ChannelWebPush && e.Fields["label"] == "":
		return map[string]string{"": "The browser's answer can't be used, so nothing was turned on. Try again, or use another browser."}
	case e.Fields["kind"] != "":
		return map[string]string{"": e.Error()}
	}
	return e.Fields
}

// retryAfter says when something may be tried again, where that is known.
func retryAfter(c echo.Context, e *models.Error) {
	if e.RetryAfterSeconds > 0 {
		c.Response().Header().Set(echo.HeaderRetryAfter, strconv.Itoa(e.RetryAfterSeconds))
	}
}

// verifyChannel takes the code that was sent to a channel.
func (s *Site) verifyChannel(c echo.Context, place channelPlace) error {
	id, err := channelOf(c, place)
	if err != nil {
		return err
	}
	code := strings.Join(strings.Fields(c.Request().PostFormValue("code")), "") // people type it in groups
	err = s.store.People.VerifyChannel(c.Request().Context(), actorOf(c), id, code)
	if e := asError(err, models.CodeInvalid); e != nil {
		return place.show(handlers.Status(e.Code), account.ChannelsInput{Codes: map[models.ChannelID]string{id: e.Fields["code"]}})
	}
	return s.changedChannel(c, place, "channel-verified", err)
}

// resendCode has another code sent.
func (s *Site) resendCode(c echo.Context, place channelPlace) error {
	id, err := channelOf(c, place)
	if err != nil {
		return err
	}
	return s.changedChannel(c, place, "code-sent", s.store.People.ResendCode(c.Request().Context(), actorOf(c), id))
}

// removeChannel has nothing more sent to a channel.
func (s *Site) removeChannel(c echo.Context, place channelPlace) error {
	id, err := channelOf(c, place)
	if err != nil {
		return err
	}
	return s.changedChannel(c, place, "channel-removed", s.store.People.RemoveChannel(c.Request().Context(), actorOf(c), id))
}

// changedChannel answers a change: what was refused is said on the page of the channels.
func (s *Site) changedChannel(c echo.Context, place channelPlace, flash string, err error) error {
	if e := asError(err, models.CodeConflict, models.CodeTooManyRequests); e != nil {
		retryAfter(c, e)
		return place.show(handlers.Status(e.Code), account.ChannelsInput{Problem: e.Text})
	}
	if err != nil {
		return err
	}
	s.setFlash(c, flash)
	return c.Redirect(http.StatusSeeOther, place.back)
}
