package people

import (
	"context"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/views"
	"countersign/views/pages/people"
)

// peopleMost is how many people a page shows.
const peopleMost = 50

// maxKey bounds what an address may bring as the key of a page.
const maxKey = 400

func (s *Screens) people(c echo.Context) error {
	return s.peoplePage(c, http.StatusOK, people.Input{})
}

// peoplePage lists people and open invitations. in carries a link that was just
// made, a form that is to be corrected, or why something was not done.
func (s *Screens) peoplePage(c echo.Context, status int, in people.Input) error {
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	in.After = c.QueryParam("after")
	if len(in.After) > maxKey {
		return models.Invalid("after", "must be the key of an earlier page")
	}
	found, err := s.Store.People.List(ctx, actor, in.After, peopleMost)
	if err != nil {
		return err
	}
	if in.Invites, err = s.Store.People.Invites(ctx, actor); err != nil {
		return err
	}
	if in.Away, err = s.Store.Absences(ctx, actor); err != nil {
		return err
	}
	substitutes, err := s.Store.Substitutes(ctx, actor, "")
	if err != nil {
		return err
	}
	for i := range substitutes {
		if !substitutes[i].Accepted() {
			in.Waiting++
		}
	}
	frame, err := s.Frame(c, "People", -1)
	if err != nil {
		return err
	}
	in.MailFrom = s.channels.MailFrom()
	in.People, in.Next, in.OneAdmin, in.Self, frame.Path = found.People, found.Next, found.OneAdmin, actor.UserID(), views.PeopleURL()
	return handlers.Render(c, status, people.Page(frame, people.New(in, frame.Now)), nil)
}

// invite makes a one-time link, mails it if that was ticked, and shows it in its answer: it is not kept anywhere that a
// redirect could read it from, nor in a queue of messages.
func (s *Screens) invite(c echo.Context) error {
	r := c.Request()
	form := people.InviteForm{
		Email: strings.TrimSpace(r.PostFormValue("email")), Role: models.Role(r.PostFormValue("role")),
		ByHand: r.PostFormValue("mail") != "true",
	}
	secret, made, err := s.Store.People.Invite(r.Context(), site.ActorOf(c), form.Email, form.Role)
	if e := site.AsError(err, models.CodeInvalid, models.CodeConflict); e != nil {
		form.Errors = e.Fields
		return s.peoplePage(c, handlers.Status(e.Code), people.Input{Form: form})
	}
	if err != nil {
		return err
	}
	fresh := &people.FreshInvite{
		Email: made.Email, Link: strings.TrimSuffix(s.Kit.PublicURL.String(), "/") + views.JoinURL(secret),
	}
	if !form.ByHand && s.channels.MailFrom() != "" {
		sent := s.channels.Mail(r.Context(), made.Email, models.Notice{
			ID: string(made.ID), Kind: models.NoticeInvite, By: made.InviterName, URL: fresh.Link,
			Left: made.ExpiresAt.Sub(made.CreatedAt),
		})
		fresh.Mail = &sent
	}
	return s.peoplePage(c, http.StatusOK, people.Input{Fresh: fresh})
}

func (s *Screens) withdrawInvite(c echo.Context) error {
	id, err := models.ParseID[models.InviteID]("id", c.Param("id"))
	if err != nil {
		return models.Errorf(models.CodeNotFound, "There is no such invitation.")
	}
	if err := s.Store.People.WithdrawInvite(c.Request().Context(), site.ActorOf(c), id); err != nil {
		return err
	}
	s.SetFlash(c, "invite-withdrawn")
	return c.Redirect(http.StatusSeeOther, views.PeopleURL())
}

// changePerson is a handler that changes the person of its path and then tells
// so; what may not be done is said on the page of people.
func (s *Screens) changePerson(
	flash string, change func(context.Context, echo.Context, models.UserID) error,
) echo.HandlerFunc {
	return func(c echo.Context) error {
		id, err := models.ParseID[models.UserID]("id", c.Param("id"))
		if err != nil {
			return models.Errorf(models.CodeNotFound, "There is no such person.")
		}
		err = change(c.Request().Context(), c, id)
		if e := site.AsError(err, models.CodeConflict, models.CodeInvalid); e != nil {
			return s.peoplePage(c, handlers.Status(e.Code), people.Input{Problem: e.Error()})
		}
		if err != nil {
			return err
		}
		s.SetFlash(c, flash)
		return c.Redirect(http.StatusSeeOther, s.afterChange(c, id))
	}
}

// afterChange leads back to the page of people, unless one has just changed
// oneself into somebody who may not see it.
func (s *Screens) afterChange(c echo.Context, id models.UserID) string {
	if role := c.Request().PostFormValue("role"); id == site.ActorOf(c).UserID() && role != "" && role != string(models.RoleAdmin) {
		return views.InboxURL()
	}
	return views.PeopleURL()
}

func (s *Screens) setRole(ctx context.Context, c echo.Context, id models.UserID) error {
	return s.Store.People.SetRole(ctx, site.ActorOf(c), id, models.Role(c.Request().PostFormValue("role")))
}

func (s *Screens) disablePerson(ctx context.Context, c echo.Context, id models.UserID) error {
	_, err := s.Store.People.DisableUser(ctx, site.ActorOf(c), id)
	return err
}

func (s *Screens) enablePerson(ctx context.Context, c echo.Context, id models.UserID) error {
	return s.Store.People.EnableUser(ctx, site.ActorOf(c), id)
}

func (s *Screens) endSessionsOf(ctx context.Context, c echo.Context, id models.UserID) error {
	_, err := s.Store.People.EndSessionsOf(ctx, site.ActorOf(c), id)
	return err
}
