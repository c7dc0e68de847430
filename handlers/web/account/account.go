package account

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/models/people"
	"countersign/views"
	"countersign/views/pages/account"
)

func (s *Screens) showSignIn(c echo.Context) error {
	next := site.LocalPage(c.QueryParam("next"))
	if site.VisitorOf(c) != nil {
		return c.Redirect(http.StatusSeeOther, next)
	}
	return s.SignInPage(c, http.StatusOK, account.NewSignIn("", next, nil))
}

func (s *Screens) signIn(c echo.Context) error {
	r := c.Request()
	email, next := r.PostFormValue("email"), site.LocalPage(r.PostFormValue("next"))
	user, err := s.openSession(c, email, r.PostFormValue("password"))
	if handlers.WantsJSON(r) { // the dialog of a page whose session has expired
		if err != nil {
			return err
		}
		return sayWho(c, user)
	}
	if e := site.AsError(err, models.CodeUnauthenticated, models.CodeTooManyRequests); e != nil {
		if e.RetryAfterSeconds > 0 {
			c.Response().Header().Set(echo.HeaderRetryAfter, strconv.Itoa(e.RetryAfterSeconds))
		}
		status := http.StatusUnprocessableEntity
		if e.Code == models.CodeTooManyRequests {
			status = http.StatusTooManyRequests
		}
		v := account.NewSignIn(email, next, e)
		v.Unsent = site.CarriedForm(r)
		return s.SignInPage(c, status, v)
	}
	if err != nil {
		return err
	}
	if form := site.CarriedForm(r); form != nil {
		return s.unsentPage(c, user, form, next)
	}
	return c.Redirect(http.StatusSeeOther, next)
}

// openSession signs in under a new secret and ends the session that this browser
// had before.
func (s *Screens) openSession(c echo.Context, email, password string) (*models.User, error) {
	r := c.Request()
	from := people.SignInFrom{Address: s.Kit.Proxies.Client(r), UserAgent: r.UserAgent()}
	if known, err := r.Cookie(s.Cookie.Device()); err == nil {
		from.Device = known.Value
	}
	secret, user, err := s.Store.People.SignIn(r.Context(), email, password, from)
	if err != nil {
		return nil, err
	}
	device, err := s.Store.People.RememberDevice(r.Context(), user.ID, from.Device)
	if err != nil {
		return nil, err
	}
	if before := site.VisitorOf(c); before != nil {
		if err := s.Store.People.SignOut(r.Context(), before.Actor); err != nil {
			return nil, err
		}
	}
	session, err := s.Cookies.Get(r, s.Cookie.Name)
	if err != nil {
		return nil, err
	}
	session.ID = secret
	if err := session.Save(r, c.Response()); err != nil {
		return nil, err
	}
	c.SetCookie(s.Cookie.Cookie(s.Cookie.Device(), device, site.DeviceDays*24*60*60))
	return user, nil
}

func (s *Screens) signOut(c echo.Context) error {
	r := c.Request()
	if err := s.Store.People.SignOut(r.Context(), site.ActorOf(c)); err != nil {
		return err
	}
	session, err := s.Cookies.Get(r, s.Cookie.Name)
	if err != nil {
		return err
	}
	session.ID = ""
	if err := session.Save(r, c.Response()); err != nil {
		return err
	}
	s.SetFlash(c, "signed-out")
	return c.Redirect(http.StatusSeeOther, views.SignInURL(""))
}

func (s *Screens) showSetup(c echo.Context) error {
	key := c.QueryParam("key")
	if err := s.Store.People.CheckSetupLink(c.Request().Context(), key); err != nil {
		return err
	}
	return s.setupPage(c, http.StatusOK, key, nil)
}

func (s *Screens) setupPage(c echo.Context, status int, key string, wrong *models.Error) error {
	frame, err := s.Frame(c, "Set up", 0)
	if err != nil {
		return err
	}
	r := c.Request()
	v := account.FirstAccount(key, r.PostFormValue("name"), r.PostFormValue("email"), wrong)
	handlers.Uncompressed(c) // the key of the link is in its form
	return handlers.Render(c, status, account.NewAccountPage(frame, v), nil)
}

func (s *Screens) setup(c echo.Context) error {
	r := c.Request()
	in := people.NewUser{
		Name: r.PostFormValue("name"), Email: r.PostFormValue("email"), Password: r.PostFormValue("password"),
	}
	_, err := s.Store.People.Setup(r.Context(), r.FormValue("key"), in)
	if e := site.AsError(err, models.CodeInvalid); e != nil {
		return s.setupPage(c, http.StatusUnprocessableEntity, r.FormValue("key"), e)
	}
	if err != nil {
		return err
	}
	return s.enter(c, in.Email, in.Password, "set-up")
}

// enter signs in the person who has just made an account, and leads to the inbox.
func (s *Screens) enter(c echo.Context, email, password, flash string) error {
	if _, err := s.openSession(c, email, password); err != nil {
		return err
	}
	s.SetFlash(c, flash)
	return c.Redirect(http.StatusSeeOther, views.InboxURL())
}

func (s *Screens) showPassword(c echo.Context) error {
	return s.passwordPage(c, http.StatusOK, nil)
}

func (s *Screens) passwordPage(c echo.Context, status int, wrong *models.Error) error {
	frame, err := s.Frame(c, "Change password", -1)
	if err != nil {
		return err
	}
	v := account.NewPassword(*frame.Viewer, wrong)
	tokens, err := s.Store.People.Tokens(c.Request().Context(), site.ActorOf(c), false)
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

func (s *Screens) changePassword(c echo.Context) error {
	r := c.Request()
	err := s.Store.People.ChangePassword(r.Context(), site.ActorOf(c), r.PostFormValue("current"), r.PostFormValue("new"))
	if e := site.AsError(err, models.CodeInvalid, models.CodeConflict, models.CodeTooManyRequests); e != nil {
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
		if _, err := s.Store.People.RevokeOwnTokens(r.Context(), site.ActorOf(c)); err != nil {
			return err
		}
		flash = "password-changed-tokens"
	}
	s.SetFlash(c, flash)
	return c.Redirect(http.StatusSeeOther, views.InboxURL())
}
