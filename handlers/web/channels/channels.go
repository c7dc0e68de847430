package channels

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/views"
	"countersign/views/pages/account"
)

// Sender sends messages; a channel whose part is missing here can't be added.
type Sender struct {
	// From is the address that messages by e-mail come from; empty: there is no SMTP server.
	From string
	// PushKey is the public key of web push, base64url.
	PushKey func() (string, error)
	// Check refuses a target that can't receive messages with CodeInvalid: among others, a host that no admin allows.
	// It sends nothing.
	Check func(context.Context, models.ChannelKind, models.ChannelTarget) error
	// Mail sends one message to an e-mail address, at once, if From is set.
	Mail func(ctx context.Context, address string, n models.Notice) models.SendResult
	// Test sends a test by a channel of the actor, at once.
	Test func(context.Context, models.Actor, models.ChannelID) (models.SendResult, error)
}

// mailTime is how long a page waits for the mail server.
const mailTime = 10 * time.Second

// MailFrom is the address that e-mail comes from; empty: this server sends none.
func (s *Screens) MailFrom() string { return s.sender.From }

// Mail sends one message to an e-mail address at once, and says how that ended. It goes on if the reader leaves.
func (s *Screens) Mail(ctx context.Context, address string, n models.Notice) models.SendResult {
	mailCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), mailTime)
	defer cancel()
	return s.sender.Mail(mailCtx, address, n)
}

// Place is whose channels a form is about, and the page that shows them.
type Place struct {
	Group models.GroupID // empty: the reader's own
	Back  string
	List  func() ([]models.Channel, error)
	Show  func(status int, in account.ChannelsInput) error
}

// InPlace is a handler of a form about channels.
func InPlace(place func(echo.Context) (Place, error), do func(echo.Context, Place) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		p, err := place(c)
		if err != nil {
			return err
		}
		return do(c, p)
	}
}

// ownChannels are those of who is signed in.
func (s *Screens) ownChannels(c echo.Context) (Place, error) {
	return Place{
		Back: views.NotificationsURL(),
		List: func() ([]models.Channel, error) {
			return s.Store.People.Channels(c.Request().Context(), site.ActorOf(c))
		},
		Show: func(status int, in account.ChannelsInput) error {
			return s.notificationsPage(c, status, account.NotificationsInput{Channels: in}, nil)
		},
	}, nil
}

// channelOf is the channel of the path, if it is one of the place.
func channelOf(c echo.Context, place Place) (models.ChannelID, error) {
	id, err := models.ParseID[models.ChannelID]("id", c.Param("id"))
	if err != nil {
		return "", models.NotFound("channel")
	}
	all, err := place.List()
	if err != nil {
		return "", err
	}
	if !slices.ContainsFunc(all, func(one models.Channel) bool { return one.ID == id }) {
		return "", models.NotFound("channel")
	}
	return id, nil
}

// Fill adds to a list of channels the parts that are the same on every page.
func (s *Screens) Fill(c echo.Context, in *account.ChannelsInput) error {
	means, err := s.notifyMeans(c)
	in.Means, in.Admin, in.Barred = means, site.ActorOf(c).Admin, site.BarredChannels(means.Hosts, in.Channels)
	return err
}

// notifyMeans are the ways in which messages can go.
func (s *Screens) notifyMeans(c echo.Context) (account.NotifyMeans, error) {
	hosts, err := s.Store.People.AllowedHosts(c.Request().Context(), site.ActorOf(c))
	if err != nil {
		return account.NotifyMeans{}, err
	}
	out := account.NotifyMeans{
		Mail: s.sender.From != "", Hosts: hosts, MayAllow: site.ActorOf(c).Admin,
		Secure: s.Kit.PublicURL.Scheme == "https" || !s.Cookie.Secure,
	}
	if s.sender.PushKey != nil && out.Secure {
		if out.Push, err = s.sender.PushKey(); err != nil {
			return out, err
		}
	}
	return out, nil
}

// Add adds a channel of the place, and has a code sent to it.
func (s *Screens) Add(c echo.Context, place Place) error {
	ctx, actor, sent := c.Request().Context(), site.ActorOf(c), c.Request().PostForm
	in := models.ChannelInput{
		Group: place.Group, Kind: models.ChannelKind(sent.Get("kind")), Label: strings.TrimSpace(sent.Get("label")),
		Target: models.ChannelTarget{
			Address: strings.TrimSpace(sent.Get("address")), URL: strings.TrimSpace(sent.Get("url")),
			Token: strings.TrimSpace(sent.Get("token")),
		},
	}
	if in.Kind == models.ChannelWebPush {
		in.Target = models.ChannelTarget{URL: sent.Get("endpoint"), P256dh: sent.Get("p256dh"), Auth: sent.Get("auth")}
		if in.Label == "" {
			in.Label = account.DeviceName(c.Request().UserAgent())
		}
	}
	if err := s.AllowNamedHost(c, in.Target.URL); err != nil {
		return err
	}
	added, err := s.newChannel(c, in)
	if e := site.AsError(err, models.CodeInvalid, models.CodeConflict, models.CodeTooManyRequests); e != nil {
		site.RetryAfter(c, e)
		handlers.Uncompressed(c) // it gives secrets back
		form := account.ChannelForm{
			Kind: in.Kind, Label: sent.Get("label"), Address: in.Target.Address, URL: in.Target.URL, Token: in.Target.Token,
			Errors: channelErrors(in.Kind, e), Allow: site.HostToAllow(c, in.Target.URL, e),
		}
		return place.Show(handlers.Status(e.Code), account.ChannelsInput{Form: form})
	}
	if err != nil {
		return err
	}
	if added.Kind == models.ChannelWebhook {
		secret, err := s.Store.People.WebhookSecret(ctx, actor, added.ID)
		if err != nil {
			return err
		}
		handlers.Uncompressed(c)
		return place.Show(http.StatusOK, account.ChannelsInput{Secret: secret})
	}
	flash := "channel-added"
	if added.VerifiedAt != nil {
		flash = "push-on"
	}
	s.SetFlash(c, flash)
	return c.Redirect(http.StatusSeeOther, place.Back)
}

// newChannel refuses what can't be sent from here, and adds the rest.
func (s *Screens) newChannel(c echo.Context, in models.ChannelInput) (*models.Channel, error) {
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
	if s.sender.Check == nil {
		return nil, models.Errorf(models.CodeConflict, "This server can't send messages.")
	}
	if in.Kind != models.ChannelEmail { // of an address the store says more
		if err := s.sender.Check(c.Request().Context(), in.Kind, in.Target); err != nil {
			return nil, err
		}
	}
	return s.Store.People.AddChannel(c.Request().Context(), site.ActorOf(c), in)
}

// channelErrors are the errors by the fields of the form of a kind; others get the empty key and are shown above the
// form.
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

// Verify takes the code that was sent to a channel.
func (s *Screens) Verify(c echo.Context, place Place) error {
	id, err := channelOf(c, place)
	if err != nil {
		return err
	}
	code := strings.Join(strings.Fields(c.Request().PostFormValue("code")), "") // people type it in groups
	err = s.Store.People.VerifyChannel(c.Request().Context(), site.ActorOf(c), id, code)
	if e := site.AsError(err, models.CodeInvalid); e != nil {
		return place.Show(handlers.Status(e.Code),
			account.ChannelsInput{Codes: map[models.ChannelID]string{id: e.Fields["code"]}})
	}
	return s.changedChannel(c, place, "channel-verified", err)
}

// Resend has another code sent.
func (s *Screens) Resend(c echo.Context, place Place) error {
	id, err := channelOf(c, place)
	if err != nil {
		return err
	}
	return s.changedChannel(c, place, "code-sent", s.Store.People.ResendCode(c.Request().Context(), site.ActorOf(c), id))
}

// Remove has nothing more sent to a channel.
func (s *Screens) Remove(c echo.Context, place Place) error {
	id, err := channelOf(c, place)
	if err != nil {
		return err
	}
	return s.changedChannel(c, place, "channel-removed",
		s.Store.People.RemoveChannel(c.Request().Context(), site.ActorOf(c), id))
}

// changedChannel answers a change. The page of the channels shows why a change was refused.
func (s *Screens) changedChannel(c echo.Context, place Place, flash string, err error) error {
	if e := site.AsError(err, models.CodeConflict, models.CodeTooManyRequests); e != nil {
		site.RetryAfter(c, e)
		return place.Show(handlers.Status(e.Code), account.ChannelsInput{Problem: e.Text})
	}
	if err != nil {
		return err
	}
	s.SetFlash(c, flash)
	return c.Redirect(http.StatusSeeOther, place.Back)
}
