package request

import (
	"github.com/labstack/echo/v4"

	"countersign/handlers/web/site"
	"countersign/models"
	"countersign/views"
)

// Screens are the pages of one request, and what people do with it.
type Screens struct {
	*site.Site
	// Desk answers an act on a request beside the list, with the next request.
	Desk func(c echo.Context, a *models.Approval, desk string) error
}

// New makes them. Desk is set by the inbox.
func New(s *site.Site) *Screens { return &Screens{Site: s} }

// Routes are the addresses of the area, and who may go there.
func (s *Screens) Routes() []site.Route {
	toInbox := site.GoTo(views.InboxURL())
	return []site.Route{
		site.Get("/approvals/:id", site.Person, s.approval),
		site.Get("/approvals/:id/input", site.Person, s.input),
		site.Get("/approvals/:id/presence", site.Person, s.presence),
		site.Get("/at-desk", site.Person, toInbox),
		site.Post("/at-desk", site.Acting, s.atDesk),
		site.Get("/approvals/:id/look", site.Person, backToPageOfRequest),
		site.Post("/approvals/:id/look", site.Acting, s.look),
		site.Get("/approvals/:id/decide", site.Person, backToPageOfRequest),
		site.Post("/approvals/:id/decide", site.Acting, s.decide),
		site.Get("/approvals/:id/undo", site.Person, backToPageOfRequest),
		site.Post("/approvals/:id/undo", site.Acting, s.undo),
		site.Get("/approvals/:id/open", site.Person, backToPageOfRequest),
		site.Post("/approvals/:id/open", site.Acting, s.openPart),
		site.Get("/approvals/:id/ask", site.Person, backToPageOfRequest),
		site.Post("/approvals/:id/ask", site.Acting, s.askBack),
		site.Get("/approvals/:id/notes", site.Person, backToPageOfRequest),
		site.Post("/approvals/:id/notes", site.Acting, s.answerNote),
		site.Get("/approvals/:id/extend", site.Person, backToPageOfRequest),
		site.Post("/approvals/:id/extend", site.Acting, s.extend),
		site.Get("/approvals/:id/hand-over", site.Person, backToPageOfRequest),
		site.Post("/approvals/:id/hand-over", site.Acting, s.handOver),
		site.Get("/approvals/:id/hand-over/:handover/take-back", site.Person, backToPageOfRequest),
		site.Post("/approvals/:id/hand-over/:handover/take-back", site.Acting, s.takeBackHandOver),
		site.Get("/approvals/:id/cancel", site.Person, backToPageOfRequest),
		site.Post("/approvals/:id/cancel", site.Acting, s.cancelRequest),
		site.Get("/approvals/:id/withdraw-decision", site.Person, backToPageOfRequest),
		site.Post("/approvals/:id/withdraw-decision", site.Admin, s.withdrawDecision),
	}
}
