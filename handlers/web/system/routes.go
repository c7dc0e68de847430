package system

import (
	"context"

	"countersign/handlers/web/site"
)

// Screens are the pages of the server and of its upstreams.
type Screens struct {
	*site.Site
	version string
	check   func(ctx context.Context, baseURL, dialect, key string) error
}

// New makes them. check refuses a wrong upstream; nil: no upstream can be added and no key changed.
func New(s *site.Site, version string, check func(ctx context.Context, baseURL, dialect, key string) error) *Screens {
	return &Screens{Site: s, version: version, check: check}
}

// Routes are the addresses of the area, and who may go there.
func (s *Screens) Routes() []site.Route {
	return []site.Route{
		site.Get("/system", site.Overseer, s.system),
		site.Get("/upstreams", site.Overseer, s.upstreams),
		site.Post("/upstreams", site.Admin, s.addUpstream),
		site.Post("/upstreams/:id/key", site.Admin, s.changeUpstream("upstream-key", s.setUpstreamKey)),
		site.Post("/upstreams/:id/enable", site.Admin, s.changeUpstream("upstream-enabled", s.enableUpstream(true))),
		site.Post("/upstreams/:id/resume", site.Admin, s.changeUpstream("upstream-resumed", s.resumeUpstream)),
		site.Post("/upstreams/:id/disable", site.Admin, s.changeUpstream("upstream-disabled", s.enableUpstream(false))),
	}
}
