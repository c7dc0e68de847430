package web

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
	"countersign/views"
	"countersign/views/pages/account"
	"countersign/views/pages/people"
)

// peopleMost is how many people a page shows.
const peopleMost = 50

// maxKey bounds what an address may bring as the key of a page.
const maxKey = 400

func (s *Site) people(c echo.Context) error {
	return s.peoplePage(c, http.StatusOK, people.Input{})
}

// peoplePage lists people and open invitations. in carries a link that was just
// made, a form that is to be corrected, or why something was not done.
func (s *Site) peoplePage(c echo.Context, status int, in people.Input) error {
	ctx, actor := c.Request().Context(), actorOf(c)
	in.After = c.QueryParam("after")
	if len(in.After) > maxKey {
		return models.Invalid("after", "must be the key of an earlier page")
	}
	found, err := s.store.People.List(ctx, actor, in.After, peopleMost)
	if err != nil {
		return err
	}
	if in.Invites, err = s.store.People.Invites(ctx, actor); err != nil {
		return err
	}
	if in.Away, err = s.store.Absences(ctx, actor); err != nil {
		return err
	}
	substitutes, err := s.store.Substitutes(ctx, actor, "")
	if err != nil {
		return err
	}
	for i := range substitutes {
		if !substitutes[i].Accepted() {
			in.Waiting++
		}
	}
	frame, err := s.frame(c, "People", -1)
	if err != nil {
		return err
	}
	in.People, in.Next, in.OneAdmin, in.Self, frame.Path = found.People, found.Next, found.OneAdmin, actor.UserID(), views.PeopleURL()
	return handlers.Render(c, status, people.Page(frame, people.New(in, frame.Now)), nil)
}

// invite makes a one-time link and shows it in its answer: it is not kept
// anywhere that a redirect could read it from.
func (s *Site) invite(c echo.Context) error {
	r := c.Request()
	form := people.InviteForm{Email: strings.TrimSpace(r.PostFormValue("email")), Role: models.Role(r.PostFormValue("role"))}
	secret, made, err := s.store.People.Invite(r.Context(), actorOf(c), form.Email, form.Role)
	if e := asError(err, models.CodeInvalid, models.CodeConflict); e != nil {
		form.Errors = e.Fields
		return s.peoplePage(c, handlers.Status(e.Code), people.Input{Form: form})
	}
	if err != nil {
		return err
	}
	link := strings.TrimSuffix(s.kit.PublicURL.String(), "/") + views.JoinURL(secret)
	return s.peoplePage(c, http.StatusOK, people.Input{Fresh: &people.FreshInvite{Email: made.Email, Link: link}})
}

func (s *Site) withdrawInvite(c echo.Context) error {
	id, err := models.ParseID[models.InviteID]("id", c.Param("id"))
	if err != nil {
		return models.Errorf(models.CodeNotFound, "There is no such invitation.")
	}
	if err := s.store.People.WithdrawInvite(c.Request().Context(), actorOf(c), id); err != nil {
		return err
	}
	s.setFlash(c, "invite-withdrawn")
	return c.Redirect(http.StatusSeeOther, views.PeopleURL())
}

// changePerson is a handler that changes the person of its path and then tells
// so; what may not be done is said on the page of people.
func (s *Site) changePerson(flash string, change func(context.Context, echo.Context, models.UserID) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		id, err := models.ParseID[models.UserID]("id", c.Param("id"))
		if err != nil {
			return models.Errorf(models.CodeNotFound, "There is no such person.")
		}
		err = change(c.Request().Context(), c, id)
		if e := asError(err, models.CodeConflict, models.CodeInvalid); e != nil {
			return s.peoplePage(c, handlers.Status(e.Code), people.Input{Problem: e.Error()})
		}
		if err != nil {
			return err
		}
		s.setFlash(c, flash)
		return c.Redirect(http.StatusSeeOther, s.afterChange(c, id))
	}
}

// afterChange leads back to the page of people, unless one has just changed
// oneself into somebody who may not see it.
func (s *Site) afterChange(c echo.Context, id models.UserID) string {
	if id == actorOf(c).UserID() && c.Request().PostFormValue("role") == string(models.RoleReviewer) {
		return views.InboxURL()
	}
	return views.PeopleURL()
}

func (s *Site) setRole(ctx context.Context, c echo.Context, id models.UserID) error {
	return s.store.People.SetRole(ctx, actorOf(c), id, models.Role(c.Request().PostFormValue("role")))
}

func (s *Site) disablePerson(ctx context.Context, c echo.Context, id models.UserID) error {
	_, err := s.store.People.DisableUser(ctx, actorOf(c), id)
	return err
}

func (s *Site) enablePerson(ctx context.Context, c echo.Context, id models.UserID) error {
	return s.store.People.EnableUser(ctx, actorOf(c), id)
}

func (s *Site) endSessionsOf(ctx context.Context, c echo.Context, id models.UserID) error {
	_, err := s.store.People.EndSessionsOf(ctx, actorOf(c), id)
	return err
}

func (s *Site) showJoin(c echo.Context) error {
	return s.joinPage(c, http.StatusOK, c.QueryParam("key"), nil)
}

func (s *Site) joinPage(c echo.Context, status int, key string, wrong *models.Error) error {
	r := c.Request()
	invite, err := s.store.People.CheckInvite(r.Context(), key)
	if err != nil {
		return err
	}
	frame, err := s.frame(c, "Join", 0)
	if err != nil {
		return err
	}
	frame.Viewer, frame.Narrow = nil, true
	handlers.Uncompressed(c) // the key of the link is in its form
	return handlers.Render(c, status, account.NewAccountPage(frame, account.InvitedAccount(key, *invite, r.PostFormValue("name"), wrong)), nil)
}

// join uses an invitation up and signs the new person in.
func (s *Site) join(c echo.Context) error {
	r := c.Request()
	key, password := r.FormValue("key"), r.PostFormValue("password")
	user, err := s.store.People.Join(r.Context(), key, r.PostFormValue("name"), password)
	if e := asError(err, models.CodeInvalid, models.CodeConflict); e != nil {
		return s.joinPage(c, handlers.Status(e.Code), key, e)
	}
	if err != nil {
		return err
	}
	return s.enter(c, user.Email, password, "joined")
}
