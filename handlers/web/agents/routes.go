package agents

import (
	"countersign/handlers/web/site"
	"countersign/views"
)

// Screens are the pages of agents, their tokens and stops.
type Screens struct{ *site.Site }

// New makes them.
func New(s *site.Site) *Screens { return &Screens{s} }

// Routes are the addresses of the area, and who may go there.
func (s *Screens) Routes() []site.Route {
	toAgents := site.GoTo(views.AgentsURL())
	return []site.Route{
		site.Get("/agents", site.Person, s.agents),
		site.Get("/agents/all", site.Overseer, s.everyone),
		site.Get("/agents/:id", site.Person, s.agent),
		site.Get("/agents/tokens", site.Person, toAgents),
		site.Post("/agents/tokens", site.Own, s.addToken),
		site.Post("/agents/tokens/:id/revoke", site.Own, s.revokeToken),
		site.Get("/agents/stops", site.Person, toAgents),
		site.Post("/agents/stops", site.Acting, s.stopAgents),
		site.Post("/agents/stops/:id/lift", site.Acting, s.liftStop),
	}
}
