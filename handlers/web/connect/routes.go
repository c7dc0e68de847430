package connect

import (
	"countersign/handlers/web/site"
)

// Screens are the pages of connecting an agent.
type Screens struct{ *site.Site }

// New makes them.
func New(s *site.Site) *Screens { return &Screens{s} }

// Routes are the addresses of the area, and who may go there.
func (s *Screens) Routes() []site.Route {
	return []site.Route{
		site.Get("/connect", site.Acting, s.connect),
		site.Post("/connect", site.Acting, s.makeConnection),
		site.Get("/connect/received", site.Acting, s.received),
	}
}
