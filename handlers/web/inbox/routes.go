package inbox

import (
	"sync/atomic"

	"countersign/handlers/web/request"
	"countersign/handlers/web/site"
	"countersign/views"
)

// Screens are the pages of the inbox.
type Screens struct {
	*site.Site
	request *request.Screens
	reads   atomic.Int64 // of the inbox: see asOf
}

// New makes them. The inbox answers an act on a request beside the list.
func New(s *site.Site, r *request.Screens) *Screens {
	inbox := &Screens{Site: s, request: r}
	r.Desk = inbox.BackToDesk
	return inbox
}

// Routes are the addresses of the area, and who may go there.
func (s *Screens) Routes() []site.Route {
	toInbox := site.GoTo(views.InboxURL())
	return []site.Route{
		site.Get("/", site.Person, s.inbox),
		site.Get("/inbox/token", site.Person, toInbox),
		site.Post("/inbox/token", site.Acting, s.teachToken),
		site.Get("/approvals/bulk", site.Person, toInbox),
		site.Post("/approvals/bulk", site.Acting, s.bulk),
		site.Get("/approvals/bulk/undo", site.Person, toInbox),
		site.Post("/approvals/bulk/undo", site.Acting, s.undoBulk),
	}
}
