package web

import (
	"github.com/labstack/echo/v4"

	"countersign/views"
)

// adder registers a route behind the sign-in.
type adder func(path string, h echo.HandlerFunc, more ...echo.MiddlewareFunc)

// peopleRoutes are one's own sessions, and for admins all people.
func (s *Site) peopleRoutes(get, post adder) {
	get("/account/sessions", s.mySessions)
	post("/account/sessions/:id/end", s.endSession)
	post("/account/sessions/end-others", s.endOtherSessions)

	get("/people", s.people, adminsOnly)
	get("/people/invites", goTo(views.PeopleURL()), adminsOnly)
	post("/people/invites", s.invite, adminsOnly)
	post("/people/invites/:id/withdraw", s.withdrawInvite, adminsOnly)
	post("/people/:id/role", s.changePerson("role-changed", s.setRole), adminsOnly)
	post("/people/:id/disable", s.changePerson("person-disabled", s.disablePerson), adminsOnly)
	post("/people/:id/enable", s.changePerson("person-enabled", s.enablePerson), adminsOnly)
	post("/people/:id/end-sessions", s.changePerson("sessions-of-ended", s.endSessionsOf), adminsOnly)
}

// adminRoutes are the whole ledger, the system and its upstreams.
func (s *Site) adminRoutes(get, post adder) {
	get("/audit/all", s.ledger, adminsOnly)
	get("/audit/entries/:n", s.ledgerEntry, adminsOnly)
	get("/audit/chain", s.showChain, adminsOnly)
	post("/audit/chain", s.checkChain, adminsOnly)
	get("/system", s.system, adminsOnly)
	get("/upstreams", s.upstreams, adminsOnly)
	post("/upstreams", s.addUpstream, adminsOnly)
	post("/upstreams/:id/key", s.changeUpstream("upstream-key", s.setUpstreamKey), adminsOnly)
	post("/upstreams/:id/enable", s.changeUpstream("upstream-enabled", s.enableUpstream(true)), adminsOnly)
	post("/upstreams/:id/resume", s.changeUpstream("upstream-resumed", s.resumeUpstream), adminsOnly)
	post("/upstreams/:id/disable", s.changeUpstream("upstream-disabled", s.enableUpstream(false)), adminsOnly)
}
