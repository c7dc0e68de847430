package nav

import (
	"countersign/handlers/web/site"
	"countersign/static"
	"countersign/views"
)

// Screens are the ways around: search, the list of all places, files, and what a browser keeps.
type Screens struct {
	*site.Site
	drawn Gallery
}

// New makes them; without a gallery there are no addresses of one.
func New(s *site.Site, drawn Gallery) *Screens { return &Screens{Site: s, drawn: drawn} }

// Routes are the addresses of the area, and who may go there.
func (s *Screens) Routes() []site.Route {
	routes := []site.Route{
		site.Get(static.Prefix+"*", site.Anyone, serveStatic),
		site.Get(views.WorkerURL(), site.Anyone, serveWorker),
		site.Get(views.OfflineURL(), site.Anyone, showOffline),
		site.Get("/go", site.Person, s.lookUp),
		site.Get("/more", site.Person, s.more),
	}
	if s.drawn != nil {
		routes = append(routes,
			site.Get(views.GalleryURL(), site.Person, s.gallery),
			site.Get(views.GalleryURL()+"/:page/:state", site.Person, s.galleryState),
		)
	}
	return routes
}
