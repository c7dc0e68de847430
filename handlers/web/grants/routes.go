package grants

import (
	"countersign/handlers/web/request"
	"countersign/handlers/web/site"
)

// Screens are the pages of pre-approvals.
type Screens struct {
	*site.Site
	request *request.Screens
}

// New makes them; a pre-approval is made of a request.
func New(s *site.Site, r *request.Screens) *Screens { return &Screens{Site: s, request: r} }

// Routes are the addresses of the area, and who may go there.
func (s *Screens) Routes() []site.Route {
	return []site.Route{
		site.Get("/approvals/:id/grant", site.Person, s.showGrantForm),
		site.Post("/approvals/:id/grant", site.Acting, s.makeGrant),
		site.Get("/grants", site.Person, s.grants),
		site.Get("/grants/:id", site.Person, s.grant),
		site.Get("/grants/:id/revoke", site.Person, s.backToGrant),
		site.Post("/grants/:id/revoke", site.Acting, s.revokeGrant),
	}
}
