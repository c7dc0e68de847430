package site

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

// Visitor is who sends a request, from the session's cookie and nothing else
// (I5).
type Visitor struct {
	since events.Mark // when the request came
	Actor models.Actor
	User  *models.User
}

// View is the visitor as pages show them.
func (v *Visitor) View() *views.Viewer {
	return &views.Viewer{ID: v.User.ID, Name: v.User.Name, Email: v.User.Email, Admin: v.Actor.Admin, Auditor: v.Actor.Auditor, PolicyEditor: v.Actor.PolicyEditor}
}

const visitorKey = "visitor"

// headerUser names the person whom a page was made for.
const headerUser = "Countersign-User"

// VisitorOf is who is signed in, or nil.
func VisitorOf(c echo.Context) *Visitor {
	v, _ := c.Get(visitorKey).(*Visitor)
	return v
}

// ActorOf is who is signed in on routes behind signedIn.
func ActorOf(c echo.Context) models.Actor {
	if v := VisitorOf(c); v != nil {
		return v.Actor
	}
	return models.Actor{}
}

// identify finds out who sends a request. It refuses none.
func (s *Site) identify(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		path := c.Request().URL.Path
		if strings.HasPrefix(path, static.Prefix) || path == views.WorkerURL() || path == views.OfflineURL() {
			return next(c)
		}
		since := s.Store.Bus().Mark() // before anything is read
		session, err := s.Cookies.Get(c.Request(), s.Cookie.Name)
		if err != nil {
			return err
		}
		actor, signedIn := session.Values[actorKey{}].(models.Actor)
		user, _ := session.Values[userKey{}].(*models.User)
		if signedIn && user != nil {
			c.Set(visitorKey, &Visitor{Actor: actor, User: user, since: since})
			if actor.Auditor {
				c.SetRequest(c.Request().WithContext(views.Watching(c.Request().Context())))
			}
		}
		return next(c)
	}
}

// signedIn sends strangers to the sign-in page and back afterwards; programs
// that take JSON get a problem document.
func (s *Site) signedIn(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if v := VisitorOf(c); v != nil {
			if of := r.Header.Get(headerUser); of != "" && of != string(v.User.ID) {
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
			return s.SignInPage(c, http.StatusUnauthorized, account.SignIn{Next: wantedPage(r), Unsent: form})
		}
		return c.Redirect(http.StatusSeeOther, target)
	}
}
