package people

import (
	"github.com/labstack/echo/v4"

	"countersign/handlers/web/channels"
	"countersign/handlers/web/site"
	"countersign/views"
)

// Screens are the pages of people: who there is, groups, and who is away.
type Screens struct {
	*site.Site
	channels *channels.Screens
}

// New makes them; the channels of a group are shown with it.
func New(s *site.Site, c *channels.Screens) *Screens { return &Screens{Site: s, channels: c} }

// Routes are the addresses of the area, and who may go there.
func (s *Screens) Routes() []site.Route {
	toPeople, toAway, toPeopleAway := site.GoTo(views.PeopleURL()), site.GoTo(views.AwayURL()), site.GoTo(views.PeopleAwayURL())
	toGroup := func(c echo.Context) error { return site.GoTo(views.GroupURL(c.Param("name")))(c) }
	return []site.Route{
		site.Get("/account/away", site.Acting, s.away(ownAway)),
		site.Post("/account/away", site.Acting, s.planAbsence(ownAway)),
		site.Get("/account/away/:id/end", site.Acting, toAway),
		site.Post("/account/away/:id/end", site.Acting, s.endAbsence(ownAway)),
		site.Get("/account/away/substitutes", site.Acting, toAway),
		site.Post("/account/away/substitutes", site.Acting, s.nameSubstitute(ownAway)),
		site.Get("/account/away/substitutes/:id/remove", site.Acting, toAway),
		site.Post("/account/away/substitutes/:id/remove", site.Acting, s.removeSubstitute(ownAway)),
		site.Get("/people", site.Overseer, s.people),
		site.Get("/people/invites", site.Overseer, toPeople),
		site.Post("/people/invites", site.Admin, s.invite),
		site.Post("/people/invites/:id/withdraw", site.Admin, s.withdrawInvite),
		site.Get("/people/away", site.Overseer, s.away(peopleAway)),
		site.Post("/people/away", site.Admin, s.planAbsence(peopleAway)),
		site.Get("/people/away/:id/end", site.Overseer, toPeopleAway),
		site.Post("/people/away/:id/end", site.Admin, s.endAbsence(peopleAway)),
		site.Get("/people/away/substitutes", site.Overseer, toPeopleAway),
		site.Post("/people/away/substitutes", site.Admin, s.nameSubstitute(peopleAway)),
		site.Get("/people/away/substitutes/:id/:what", site.Overseer, toPeopleAway),
		site.Post("/people/away/substitutes/:id/accept", site.Admin, s.acceptSubstitute),
		site.Post("/people/away/substitutes/:id/remove", site.Admin, s.removeSubstitute(peopleAway)),
		site.Get("/people/groups", site.Overseer, s.groups),
		site.Post("/people/groups", site.Admin, s.addGroup),
		site.Get("/people/groups/:name", site.Overseer, s.group),
		site.Post("/people/groups/:name", site.Admin, s.describeGroup),
		site.Get("/people/groups/:name/members", site.Overseer, toGroup),
		site.Post("/people/groups/:name/members", site.Admin, s.joinGroup),
		site.Post("/people/groups/:name/members/:id/remove", site.Admin, s.leaveGroup),
		site.Get("/people/groups/:name/channels", site.Overseer, toGroup),
		site.Post("/people/groups/:name/channels", site.Admin, channels.InPlace(s.groupChannels, s.channels.Add)),
		site.Post("/people/groups/:name/channels/:id/verify", site.Admin,
			channels.InPlace(s.groupChannels, s.channels.Verify)),
		site.Post("/people/groups/:name/channels/:id/code", site.Admin, channels.InPlace(s.groupChannels, s.channels.Resend)),
		site.Post("/people/groups/:name/channels/:id/test", site.Admin, channels.InPlace(s.groupChannels, s.channels.Try)),
		site.Post("/people/groups/:name/channels/:id/remove", site.Admin,
			channels.InPlace(s.groupChannels, s.channels.Remove)),
		site.Get("/people/groups/:name/channels/:id/:what", site.Overseer, toGroup),
		site.Get("/people/groups/:name/remove", site.Overseer, toGroup),
		site.Post("/people/groups/:name/remove", site.Admin, s.removeGroup),
		site.Post("/people/:id/role", site.Admin, s.changePerson("role-changed", s.setRole)),
		site.Post("/people/:id/disable", site.Admin, s.changePerson("person-disabled", s.disablePerson)),
		site.Post("/people/:id/enable", site.Admin, s.changePerson("person-enabled", s.enablePerson)),
		site.Post("/people/:id/end-sessions", site.Admin, s.changePerson("sessions-of-ended", s.endSessionsOf)),
	}
}
