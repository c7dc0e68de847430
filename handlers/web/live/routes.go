package live

import (
	"cmp"
	"time"

	"countersign/handlers/web/site"
)

// Screens is the stream of every page.
type Screens struct {
	*site.Site
	pulse time.Duration
}

// usualPulse is how often proxies want to hear of a stream.
const usualPulse = 15 * time.Second

// New makes it. pulse is how often a quiet stream shows that it is alive, and looks whether its
// reader is still signed in; 0: the usual.
func New(s *site.Site, pulse time.Duration) *Screens {
	return &Screens{Site: s, pulse: cmp.Or(pulse, usualPulse)}
}

// Routes are the addresses of the area, and who may go there.
func (s *Screens) Routes() []site.Route {
	return []site.Route{
		site.Get("/events", site.Person, s.events),
	}
}
