package site

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
)

// Right is what a route asks of the sender of a request.
type Right int

// The rights, from the least.
const (
	Anyone       Right = iota // without a session, too
	Person                    // anybody who is signed in; the handler judges what they may see
	Own                       // the same, of a form: what they change is theirs alone
	Acting                    // who is signed in and no auditor; the handler judges what they may do
	Overseer                  // an admin or an auditor: what belongs to everybody, and changes nothing of it
	PolicyReader              // these, or a policy editor
	Drafter                   // an admin or a policy editor
	Admin                     // an admin
)

// needs is what each right asks of who is signed in.
var needs = map[Right]func(models.Actor) error{
	Acting:       models.Actor.NeedToAct,
	Overseer:     models.Actor.NeedOversight,
	PolicyReader: models.Actor.NeedPolicy,
	Drafter:      models.Actor.NeedDrafting,
	Admin:        models.Actor.NeedAdmin,
}

// behind is a handler that an actor reaches only by the right, before anything is looked up.
func (r Route) behind(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if need := needs[r.Right]; need != nil {
			if err := need(ActorOf(c)); err != nil {
				return err
			}
		}
		return next(c)
	}
}

// Route is an address: what it leads to, and who may go there.
type Route struct {
	Method, Path string
	Right        Right
	Handler      echo.HandlerFunc
}

// Get is a route of a page or a part of one. It changes nothing (I15).
func Get(path string, right Right, handler echo.HandlerFunc) Route {
	return Route{http.MethodGet, path, right, handler}
}

// Post is a route of a form.
func Post(path string, right Right, handler echo.HandlerFunc) Route {
	return Route{http.MethodPost, path, right, handler}
}

// GoTo is a handler that leads to a page, for an address that only a form leads to, when it is
// typed or restored.
func GoTo(path string) echo.HandlerFunc {
	return func(c echo.Context) error { return c.Redirect(http.StatusSeeOther, path) }
}

// Leave sends a browser to another page, also where it asked for a part of this one.
func Leave(c echo.Context, path string) error {
	if handlers.WantsFragment(c.Request()) {
		c.Response().Header().Set("Hx-Redirect", path)
		return c.NoContent(http.StatusOK)
	}
	return c.Redirect(http.StatusSeeOther, path)
}
