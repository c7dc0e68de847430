package web

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
	"countersign/models/people"
	"countersign/views"
	"countersign/views/pages/account"
)

func (s *Site) showSignIn(c echo.Context) error {
	next := localPage(c.QueryParam("next"))
	if visitorOf(c) != nil {
		return c.Redirect(http.StatusSeeOther, next)
	}
	return s.signInPage(c, http.StatusOK, account.NewSignIn("", next, nil))
}

func (s *Site) signInPage(c echo.Context, status int, v account.SignIn) error {
	frame, err := s.frame(c, "Sign in", 0)
	if err != nil {
		return err
	}
	frame.Viewer, frame.Narrow = nil, true
	if frame.Flash == nil {
		if frame.Flash, err = s.signInHint(c); err != nil {
			return err
		}
	}
	if v.Next == views.InboxURL() {
		v.Next = ""
	}
	return handlers.Render(c, status, account.SignInPage(frame, v), nil)
}

// signInHint says why signing in cannot work, where that is known.
func (s *Site) signInHint(c echo.Context) (*views.Flash, error) {
	if s.cookie.secure && s.kit.PublicURL.Scheme == "http" {
		return &views.Flash{Tone: views.ToneWarn, Text: "This server uses plain HTTP at an address other than localhost. Browsers keep you signed in only over HTTPS or on localhost."}, nil
	}
	has, err := s.store.People.HasUsers(c.Request().Context())
	if err != nil || has {
		return nil, err
	}
	return &views.Flash{Tone: views.ToneNeutral, Text: "There are no accounts yet. Open the setup link that the server printed when it started, or run countersign setup-link for a new one."}, nil
}

func (s *Site) signIn(c echo.Context) error {
	r := c.Request()
	email, next := r.PostFormValue("email"), localPage(r.PostFormValue("next"))
	user, err := s.openSession(c, email, r.PostFormValue("password"))
	if handlers.WantsJSON(r) { // the dialog of a page whose session has expired
		if err != nil {
			return err
		}
		return sayWho(c, user)
	}
	if e := asError(err, models.CodeUnauthenticated, models.CodeTooManyRequests); e != nil {
		if e.RetryAfterSeconds > 0 {
			c.Response().Header().Set(echo.HeaderRetryAfter, strconv.Itoa(e.RetryAfterSeconds))
		}
		status := http.StatusUnprocessableEntity
		if e.Code == models.CodeTooManyRequests {
			status = http.StatusTooManyRequests
		}
		v := account.NewSignIn(email, next, e)
		v.Unsent = carriedForm(r)
		return s.signInPage(c, status, v)
	}
	if err != nil {
		return err
	}
	if form := carriedForm(r); form != nil {
		return s.unsentPage(c, user, form, next)
	}
	return c.Redirect(http.StatusSeeOther, next)
}

// openSession signs in under a new secret and ends the session that this browser
// had before.
func (s *Site) openSession(c echo.Context, email, password string) (*models.User, error) {
	r := c.Request()
	from := people.SignInFrom{Address: s.kit.Proxies.Client(r), UserAgent: r.UserAgent()}
	if known, err := r.Cookie(s.cookie.device()); err == nil {
		from.Device = known.Value
	}
	secret, user, err := s.store.People.SignIn(r.Context(), email, password, from)
	if err != nil {
		return nil, err
	}
	device, err := s.store.People.RememberDevice(r.Context(), user.ID, from.Device)
	if err != nil {
		return nil, err
	}
	if before := visitorOf(c); before != nil {
		if err := s.store.People.SignOut(r.Context(), before.actor); err != nil {
			return nil, err
		}
	}
	session, err := s.cookies.Get(r, s.cookie.name)
	if err != nil {
		return nil, err
	}
	session.ID = secret
	if err := session.Save(r, c.Response()); err != nil {
		return nil, err
	}
	c.SetCookie(s.cookie.cookie(s.cookie.device(), device, deviceDays*24*60*60))
	return user, nil
}

func (s *Site) signOut(c echo.Context) error {
	r := c.Request()
	if err := s.store.People.SignOut(r.Context(), actorOf(c)); err != nil {
		return err
	}
	session, err := s.cookies.Get(r, s.cookie.name)
	if err != nil {
		return err
	}
	session.ID = ""
	if err := session.Save(r, c.Response()); err != nil {
		return err
	}
	s.setFlash(c, "signed-out")
	return c.Redirect(http.StatusSeeOther, views.SignInURL(""))
}

func (s *Site) showSetup(c echo.Context) error {
	key := c.QueryParam("key")
	if err := s.store.People.CheckSetupLink(c.Request().Context(), key); err != nil {
		return err
	}
	return s.setupPage(c, http.StatusOK, key, nil)
}

func (s *Site) setupPage(c echo.Context, status int, key string, wrong *models.Error) error {
	frame, err := s.frame(c, "Set up", 0)
	if err != nil {
		return err
	}
	r := c.Request()
	v := account.FirstAccount(key, r.PostFormValue("name"), r.PostFormValue("email"), wrong)
	handlers.Uncompressed(c) // the key of the link is in its form
	return handlers.Render(c, status, account.NewAccountPage(frame, v), nil)
}

func (s *Site) setup(c echo.Context) error {
	r := c.Request()
	in := people.NewUser{Name: r.PostFormValue("name"), Email: r.PostFormValue("email"), Password: r.PostFormValue("password")}
	_, err := s.store.People.Setup(r.Context(), r.FormValue("key"), in)
	if e := asError(err, models.CodeInvalid); e != nil {
		return s.setupPage(c, http.StatusUnprocessableEntity, r.FormValue("key"), e)
	}
	if err != nil {
		return err
	}
	return s.enter(c, in.Email, in.Password, "set-up")
}

// enter signs in whoever has just made an account, and leads to the inbox.
func (s *Site) enter(c echo.Context, email, password, flash string) error {
	if _, err := s.openSession(c, email, password); err != nil {
		return err
	}
	s.setFlash(c, flash)
	return c.Redirect(http.StatusSeeOther, views.InboxURL())
}

func (s *Site) showPassword(c echo.Context) error {
	return s.passwordPage(c, http.StatusOK, nil)
}

func (s *Site) passwordPage(c echo.Context, status int, wrong *models.Error) error {
	frame, err := s.frame(c, "Change password", -1)
	if err != nil {
		return err
	}
	v := account.NewPassword(*frame.Viewer, wrong)
	tokens, err := s.store.People.Tokens(c.Request().Context(), actorOf(c), false)
	if err != nil {
		return err
	}
	for i := range tokens {
		if tokens[i].Live(frame.Now) {
			v.Tokens++
		}
	}
	v.Revoke = c.Request().PostFormValue(account.RevokeField) == "true"
	return handlers.Render(c, status, account.PasswordPage(frame, v), nil)
}

func (s *Site) changePassword(c echo.Context) error {
	r := c.Request()
	err := s.store.People.ChangePassword(r.Context(), actorOf(c), r.PostFormValue("current"), r.PostFormValue("new"))
	if e := asError(err, models.CodeInvalid, models.CodeConflict, models.CodeTooManyRequests); e != nil {
		shown := *e
		if text, ok := e.Fields["next"]; ok {
			shown.Fields = map[string]string{"new": text}
		}
		if e.RetryAfterSeconds > 0 {
			c.Response().Header().Set(echo.HeaderRetryAfter, strconv.Itoa(e.RetryAfterSeconds))
		}
		return s.passwordPage(c, handlers.Status(e.Code), &shown)
	}
	if err != nil {
		return err
	}
	flash := "password-changed"
	if r.PostFormValue(account.RevokeField) == "true" {
		if _, err := s.store.People.RevokeOwnTokens(r.Context(), actorOf(c)); err != nil {
			return err
		}
		flash = "password-changed-tokens"
	}
	s.setFlash(c, flash)
	return c.Redirect(http.StatusSeeOther, views.InboxURL())
}
