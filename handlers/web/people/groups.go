package people

import (
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/handlers/web/channels"
	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/views"
	"countersign/views/pages/account"
	"countersign/views/pages/people"
)

// groupChannels are those of the group of the path.
func (s *Screens) groupChannels(c echo.Context) (channels.Place, error) {
	ctx, actor := c.Request().Context(), site.ActorOf(c)
	group, _, err := s.Store.People.Group(ctx, actor, c.Param("name"))
	if err != nil {
		return channels.Place{}, err
	}
	return channels.Place{
		Group: group.ID, Back: views.GroupURL(group.Name),
		List: func() ([]models.Channel, error) { return s.Store.People.GroupChannels(ctx, actor, group.ID) },
		Show: func(status int, in account.ChannelsInput) error {
			return s.groupPage(c, status, people.GroupInput{Channels: in})
		},
	}, nil
}

func (s *Screens) groups(c echo.Context) error {
	return s.groupsPage(c, http.StatusOK, people.GroupForm{})
}

// groupsPage lists the groups; form is one that is to be corrected.
func (s *Screens) groupsPage(c echo.Context, status int, form people.GroupForm) error {
	all, err := s.Store.People.Groups(c.Request().Context(), site.ActorOf(c))
	if err != nil {
		return err
	}
	frame, err := s.Frame(c, "Groups", -1)
	if err != nil {
		return err
	}
	frame.Path = views.PeopleURL()
	return handlers.Render(c, status,
		people.GroupsPage(frame, people.NewGroups(people.GroupsInput{Groups: all, Form: form}, frame.Now)), nil)
}

func (s *Screens) addGroup(c echo.Context) error {
	form := c.Request().PostForm
	sent := people.GroupForm{Name: strings.TrimSpace(form.Get("name")), Note: form.Get("note")}
	err := s.Store.People.AddGroup(c.Request().Context(), site.ActorOf(c), sent.Name, sent.Note)
	if failed := site.AsError(err, models.CodeInvalid, models.CodeConflict); failed != nil {
		if sent.Errors = failed.Fields; failed.Code == models.CodeConflict {
			sent.Errors = map[string]string{"name": failed.Text}
		}
		return s.groupsPage(c, handlers.Status(failed.Code), sent)
	}
	if err != nil {
		return err
	}
	s.SetFlash(c, "group-added")
	return c.Redirect(http.StatusSeeOther, views.GroupURL(sent.Name))
}

func (s *Screens) group(c echo.Context) error {
	return s.groupPage(c, http.StatusOK, people.GroupInput{})
}

// groupPage shows the group of the path. in carries a form that is to be corrected, or why
// something was not done.
func (s *Screens) groupPage(c echo.Context, status int, in people.GroupInput) error {
	ctx, actor, name := c.Request().Context(), site.ActorOf(c), c.Param("name")
	found, members, err := s.Store.People.Group(ctx, actor, name)
	if err != nil {
		return err
	}
	everybody, err := s.Store.People.Users(ctx, actor)
	if err != nil {
		return err
	}
	standing, err := s.Store.CurrentPolicy(ctx)
	if err != nil {
		return err
	}
	in.Group, in.Members, in.Rules = *found, members, standing.Program.Document().NamingGroup(name)
	in.Others = slices.DeleteFunc(everybody, func(u models.User) bool {
		return !u.Enabled() || slices.ContainsFunc(members, func(m models.User) bool { return m.ID == u.ID })
	})
	if in.Channels.Channels, err = s.Store.People.GroupChannels(ctx, actor, found.ID); err != nil {
		return err
	}
	if err := s.channels.Fill(c, &in.Channels); err != nil {
		return err
	}
	frame, err := s.Frame(c, name, -1)
	if err != nil {
		return err
	}
	frame.Path = views.PeopleURL()
	return handlers.Render(c, status, people.GroupPage(frame, people.NewGroup(in, frame.Now)), nil)
}

// changeGroup answers a change to the group of the path. An invalid change comes back on the group's page, in its
// form.
func (s *Screens) changeGroup(c echo.Context, flash, done string, form people.GroupForm, err error) error {
	if failed := site.AsError(err, models.CodeInvalid, models.CodeConflict); failed != nil {
		in := people.GroupInput{Form: form}
		if in.Form.Errors = failed.Fields; failed.Code == models.CodeConflict {
			in.Problem = failed.Text
		}
		return s.groupPage(c, handlers.Status(failed.Code), in)
	}
	if err != nil {
		return err
	}
	s.SetFlash(c, flash)
	return c.Redirect(http.StatusSeeOther, done)
}

func (s *Screens) describeGroup(c echo.Context) error {
	name, sent := c.Param("name"), people.GroupForm{Note: c.Request().PostForm.Get("note")}
	err := s.Store.People.DescribeGroup(c.Request().Context(), site.ActorOf(c), name, sent.Note)
	return s.changeGroup(c, "group-described", views.GroupURL(name), sent, err)
}

func (s *Screens) joinGroup(c echo.Context) error {
	name, sent := c.Param("name"), people.GroupForm{Email: strings.TrimSpace(c.Request().PostForm.Get("email"))}
	err := s.Store.People.JoinGroup(c.Request().Context(), site.ActorOf(c), name, sent.Email)
	return s.changeGroup(c, "group-joined", views.GroupURL(name), sent, err)
}

func (s *Screens) leaveGroup(c echo.Context) error {
	name := c.Param("name")
	id, err := models.ParseID[models.UserID]("id", c.Param("id"))
	if err != nil {
		return models.NotFound("member")
	}
	err = s.Store.People.LeaveGroup(c.Request().Context(), site.ActorOf(c), name, id)
	return s.changeGroup(c, "group-left", views.GroupURL(name), people.GroupForm{}, err)
}

func (s *Screens) removeGroup(c echo.Context) error {
	err := s.Store.People.RemoveGroup(c.Request().Context(), site.ActorOf(c), c.Param("name"))
	return s.changeGroup(c, "group-removed", views.GroupsURL(), people.GroupForm{}, err)
}
