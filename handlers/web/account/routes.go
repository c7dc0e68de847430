package account

import (
	"countersign/handlers/web/site"
	"countersign/views"
)

// Screens are the pages of signing in, of invitations, and of what a person sets for themselves.
type Screens struct{ *site.Site }

// New makes them.
func New(s *site.Site) *Screens { return &Screens{s} }

// Routes are the addresses of the area, and who may go there.
func (s *Screens) Routes() []site.Route {
	toInbox := site.GoTo(views.InboxURL())
	return []site.Route{
		site.Get("/setup", site.Anyone, s.showSetup),
		site.Post("/setup", site.Anyone, s.setup),
		site.Get("/signin", site.Anyone, s.showSignIn),
		site.Post("/signin", site.Anyone, s.signIn),
		site.Get("/join", site.Anyone, s.showJoin),
		site.Post("/join", site.Anyone, s.join),
		site.Get("/signout", site.Person, toInbox),
		site.Post("/signout", site.Own, s.signOut),
		site.Get("/session", site.Person, s.session),
		site.Get("/account/password", site.Person, s.showPassword),
		site.Post("/account/password", site.Own, s.changePassword),
		site.Get("/account/sessions", site.Person, s.mySessions),
		site.Post("/account/sessions/:id/end", site.Own, s.endSession),
		site.Post("/account/sessions/end-others", site.Own, s.endOtherSessions),
	}
}
