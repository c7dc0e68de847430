package people

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/views"
	"countersign/views/pages/people"
)

// awayPlace is one of the two pages about absences and substitutes: a person's own, or the
// admins' of everybody.
type awayPlace struct {
	everybody bool
	url       string
}

var (
	ownAway    = awayPlace{url: views.AwayURL()}
	peopleAway = awayPlace{everybody: true, url: views.PeopleAwayURL()}
)

func (s *Screens) away(place awayPlace) echo.HandlerFunc {
	return func(c echo.Context) error { return s.awayPage(c, place, http.StatusOK, people.AwayInput{}) }
}

// awayPage shows absences and substitutes. in carries forms that are to be corrected, or why
// something was not done.
func (s *Screens) awayPage(c echo.Context, place awayPlace, status int, in people.AwayInput) error {
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	in.Reader, in.Everybody = actor.UserID(), place.everybody
	whose := actor.UserID()
	if place.everybody {
		whose = ""
	}
	var err error
	if in.Absences, err = s.Store.Absences(ctx, actor); err != nil {
		return err
	}
	if in.Substitutes, err = s.Store.Substitutes(ctx, actor, whose); err != nil {
		return err
	}
	if !in.Form.Sent {
		settings, err := s.Store.People.NotificationSettings(ctx, actor)
		if err != nil {
			return err
		}
		in.Form.Zone = settings.Zone
	}
	title := "Away"
	if place.everybody {
		title = "Absences and substitutes"
		if in.OtherAdmins, err = s.Store.OtherAdmins(ctx, actor.UserID()); err != nil {
			return err
		}
		people, err := s.Store.People.Users(ctx, actor)
		if err != nil {
			return err
		}
		for i := range people {
			if people[i].Enabled() {
				in.Emails = append(in.Emails, people[i].Email)
			}
		}
	}
	frame, err := s.Frame(c, title, -1)
	if err != nil {
		return err
	}
	if frame.Path = place.url; place.everybody {
		frame.Path = views.PeopleURL()
		return handlers.Render(c, status, people.AllAwayPage(frame, people.NewAllAway(in, frame.Now)), nil)
	}
	return handlers.Render(c, status, people.AwayPage(frame, people.NewAway(in, frame.Now)), nil)
}

// planAbsence notes when somebody is away.
func (s *Screens) planAbsence(place awayPlace) echo.HandlerFunc {
	return func(c echo.Context) error {
		form, in, err := s.readAbsence(c, place)
		if err == nil && len(form.Errors) == 0 {
			_, err = s.Store.PlanAbsence(c.Request().Context(), site.ActorOf(c), in)
		}
		if e := site.AsError(err, models.CodeInvalid, models.CodeConflict, models.CodeNotFound); e != nil {
			maps.Copy(form.Errors, e.Fields)
			if len(e.Fields) == 0 {
				form.Errors[""] = e.Error()
			}
		} else if err != nil {
			return err
		}
		if len(form.Errors) > 0 {
			return s.awayPage(c, place, http.StatusUnprocessableEntity, people.AwayInput{Form: form, Problem: form.Errors[""]})
		}
		s.SetFlash(c, "absence-planned")
		return c.Redirect(http.StatusSeeOther, place.url)
	}
}

// readAbsence reads the form of an absence, and notes what can't be.
func (s *Screens) readAbsence(c echo.Context, place awayPlace) (people.AwayForm, models.AbsenceInput, error) {
	sent := c.Request().PostForm
	field := func(name string) string { return strings.TrimSpace(sent.Get(name)) }
	form := people.AwayForm{
		Person: field(people.AwayPersonField), From: field(people.AwayFromField), Until: field(people.AwayUntilField),
		Zone: field(people.AwayZoneField), Substitute: field(people.AwaySubstituteField), Sent: true,
		Errors: map[string]string{},
	}
	zone := zoneOf(form.Zone)
	if zone == nil {
		form.Errors[people.AwayZoneField] = "must be a time zone such as Europe/Vienna"
		zone = time.UTC
	}
	in := models.AbsenceInput{UserID: site.ActorOf(c).UserID(), Substitute: models.UserID(form.Substitute)}
	const wanted = "must be a time such as 2026-12-24 17:00, or a day"
	var ok bool
	if in.From, ok = site.TimeIn(form.From, zone); !ok {
		form.Errors[people.AwayFromField] = wanted
	}
	if in.Until, ok = site.TimeIn(form.Until, zone); !ok || form.Until == "" {
		form.Errors[people.AwayUntilField] = wanted
	}
	if !place.everybody {
		return form, in, nil
	}
	var err error
	if in.UserID, err = s.personNamed(c, form.Errors, people.AwayPersonField, form.Person); err != nil {
		return form, in, err
	}
	if in.Substitute = ""; form.Substitute != "" {
		in.Substitute, err = s.personNamed(c, form.Errors, people.AwaySubstituteField, form.Substitute)
	}
	return form, in, err
}

// zoneOf is a time zone by its name; nil: there is none.
func zoneOf(name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" { // Local would be the server's
		return nil
	}
	return zone
}

// personNamed is the person with an e-mail; if there is none, the field gets an error.
func (s *Screens) personNamed(c echo.Context, errors map[string]string, field, email string) (models.UserID, error) {
	p, err := s.Store.People.PersonByEmail(c.Request().Context(), site.ActorOf(c), email)
	if models.ErrorCode(err) == models.CodeNotFound {
		errors[field] = "must be the e-mail of somebody who may sign in"
		return "", nil
	}
	return p.ID, err
}

func (s *Screens) endAbsence(place awayPlace) echo.HandlerFunc {
	return s.changeAway(place, "absence-ended", "absence", func(ctx context.Context, actor models.Actor, id string) error {
		return s.Store.EndAbsence(ctx, actor, models.AbsenceID(id))
	})
}

func (s *Screens) acceptSubstitute(c echo.Context) error {
	return s.changeAway(peopleAway, "substitute-accepted", "substitute", func(ctx context.Context, actor models.Actor, id string) error {
		return s.Store.AcceptSubstitute(ctx, actor, models.SubstituteID(id))
	})(c)
}

func (s *Screens) removeSubstitute(place awayPlace) echo.HandlerFunc {
	return s.changeAway(place, "substitute-removed", "substitute", func(ctx context.Context, actor models.Actor, id string) error {
		return s.Store.RemoveSubstitute(ctx, actor, models.SubstituteID(id))
	})
}

// changeAway is a handler that changes what its path names and then tells so; what may not be
// done is said on the page.
func (s *Screens) changeAway(
	place awayPlace, flash, what string, change func(context.Context, models.Actor, string) error,
) echo.HandlerFunc {
	return func(c echo.Context) error {
		id, err := models.ParseID[models.AbsenceID]("id", c.Param("id"))
		if err != nil {
			return models.NotFound(what)
		}
		err = change(c.Request().Context(), site.ActorOf(c), string(id))
		switch e := site.AsError(err, models.CodeForbidden, models.CodeConflict, models.CodeNotFound); {
		case e != nil && e.Code == models.CodeNotFound:
			return s.awayPage(c, place, http.StatusNotFound,
				people.AwayInput{Problem: "That has ended or was removed in the meantime. Nothing was changed."})
		case e != nil:
			return s.awayPage(c, place, handlers.Status(e.Code), people.AwayInput{Problem: e.Error()})
		case err != nil:
			return err
		}
		s.SetFlash(c, flash)
		return c.Redirect(http.StatusSeeOther, place.url)
	}
}

// nameSubstitute asks that somebody may act for a person.
func (s *Screens) nameSubstitute(place awayPlace) echo.HandlerFunc {
	return func(c echo.Context) error {
		form, user, sub, err := s.readSubstitute(c, c.Request().PostForm, place)
		if err == nil && len(form.Errors) == 0 {
			_, err = s.Store.AskSubstitute(c.Request().Context(), site.ActorOf(c), user, sub)
		}
		if e := site.AsError(err, models.CodeInvalid, models.CodeNotFound); e != nil {
			form.Errors[people.AwaySubstituteField] = e.Fields[people.AwaySubstituteField]
			if len(e.Fields) == 0 {
				form.Errors[""] = e.Error()
			}
		} else if err != nil {
			return err
		}
		if len(form.Errors) > 0 {
			return s.awayPage(c, place, http.StatusUnprocessableEntity, people.AwayInput{Name: form, Problem: form.Errors[""]})
		}
		flash, err := s.namedFlash(c.Request().Context(), sub)
		if err != nil {
			return err
		}
		s.SetFlash(c, flash)
		return c.Redirect(http.StatusSeeOther, place.url)
	}
}

// namedFlash says who has to accept a substitute that was named, if there is anybody.
func (s *Screens) namedFlash(ctx context.Context, sub models.UserID) (string, error) {
	all, err := s.Store.OtherAdmins(ctx, "")
	if err != nil {
		return "", err
	}
	others, err := s.Store.OtherAdmins(ctx, sub)
	switch {
	case err != nil:
		return "", err
	case all == 0:
		return "substitute-named-nobody", nil
	case others == 0:
		return "substitute-named-alone", nil
	case others < all:
		return "substitute-named-admin", nil
	}
	return "substitute-named", nil
}

func (s *Screens) readSubstitute(
	c echo.Context, sent url.Values, place awayPlace,
) (form people.SubstituteForm, user, sub models.UserID, err error) {
	form = people.SubstituteForm{
		Person:     strings.TrimSpace(sent.Get(people.AwayPersonField)),
		Substitute: strings.TrimSpace(sent.Get(people.AwaySubstituteField)), Errors: map[string]string{},
	}
	user = site.ActorOf(c).UserID()
	if place.everybody {
		if user, err = s.personNamed(c, form.Errors, people.AwayPersonField, form.Person); err != nil {
			return form, "", "", err
		}
	}
	sub, err = s.personNamed(c, form.Errors, people.AwaySubstituteField, form.Substitute)
	return form, user, sub, err
}
