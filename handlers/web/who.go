package web

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
	"countersign/models/events"
	"countersign/static"
	"countersign/views"
	"countersign/views/pages/account"
)

// visitor is who sends a request, from the session's cookie and nothing else
// (I5).
type visitor struct {
	since events.Mark // when the request came
	actor models.Actor
	user  *models.User
}

func (v *visitor) view() *views.Viewer {
	return &views.Viewer{ID: v.user.ID, Name: v.user.Name, Email: v.user.Email, Admin: v.actor.Admin}
}

const visitorKey = "visitor"

// headerUser names the person whom a page was made for.
const headerUser = "Countersign-User"

// visitorOf is who is signed in, or nil.
func visitorOf(c echo.Context) *visitor {
	v, _ := c.Get(visitorKey).(*visitor)
	return v
}

// actorOf is who is signed in on routes behind signedIn.
func actorOf(c echo.Context) models.Actor {
	if v := visitorOf(c); v != nil {
		return v.actor
	}
	return models.Actor{}
}

// identify finds out who is there and refuses nobody.
func (s *Site) identify(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		path := c.Request().URL.Path
		if strings.HasPrefix(path, static.Prefix) || path == views.WorkerURL() || path == views.OfflineURL() {
			return next(c)
		}
		since := s.store.Bus().Mark() // before anything is read
		session, err := s.cookies.Get(c.Request(), s.cookie.name)
		if err != nil {
			return err
		}
		actor, signedIn := session.Values[actorKey{}].(models.Actor)
		user, _ := session.Values[userKey{}].(*models.User)
		if signedIn && user != nil {
			c.Set(visitorKey, &visitor{actor: actor, user: user, since: since})
		}
		return next(c)
	}
}

// signedIn sends strangers to the sign-in page and back afterwards; programs
// that take JSON get a problem document.
func (s *Site) signedIn(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if v := visitorOf(c); v != nil {
			if of := r.Header.Get(headerUser); of != "" && of != string(v.user.ID) {
				// The page was made for somebody else, whose act this must not become.
				c.Response().Header().Set("Hx-Refresh", "true")
				return c.NoContent(http.StatusConflict)
			}
			return next(c)
		}
		target := views.SignInURL(wantedPage(r))
		switch {
		case handlers.WantsJSON(r) || strings.Contains(r.Header.Get("Accept"), "event-stream"):
			return models.Errorf(models.CodeUnauthenticated, "Your session expired. Sign in – your text is kept.")
		case handlers.WantsFragment(r):
			c.Response().Header().Set("Hx-Redirect", target)
			return c.NoContent(http.StatusUnauthorized)
		}
		if form := unsent(r); form != nil {
			return s.signInPage(c, http.StatusUnauthorized, account.SignIn{Next: wantedPage(r), Unsent: form})
		}
		return c.Redirect(http.StatusSeeOther, target)
	}
}

// adminsOnly refuses before anything is looked up.
func adminsOnly(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if !actorOf(c).MayAdminister() {
			return models.Errorf(models.CodeForbidden, "Only an admin may do this.")
		}
		return next(c)
	}
}
