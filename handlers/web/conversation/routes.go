package conversation

import (
	"countersign/handlers/web/request"
	"countersign/handlers/web/site"
	"countersign/models"
)

// Screens are the pages of conversations.
type Screens struct {
	*site.Site
	request *request.Screens
	draftOf func(models.ConversationID) (text, model string, ok bool)
}

// New makes them. writing is what the built-in agent is writing; nil: nothing is shown while it
// writes.
func New(s *site.Site, r *request.Screens, draftOf func(models.ConversationID) (text, model string, ok bool)) *Screens {
	return &Screens{Site: s, request: r, draftOf: draftOf}
}

// Routes are the addresses of the area, and who may go there.
func (s *Screens) Routes() []site.Route {
	return []site.Route{
		site.Get("/conversations", site.Person, s.conversations),
		site.Get("/conversations/new", site.Acting, s.newConversation),
		site.Post("/conversations", site.Acting, s.beginConversation),
		site.Get("/conversations/:id", site.Person, s.conversation),
		site.Get("/conversations/:id/draft", site.Person, s.draft),
		site.Get("/conversations/:id/say", site.Person, s.backToConversation),
		site.Post("/conversations/:id/say", site.Acting, s.say),
		site.Get("/conversations/:id/decide/:response", site.Person, s.backToConversation),
		site.Post("/conversations/:id/decide/:response", site.Acting, s.decideHere),
		site.Get("/conversations/:id/calls/:response", site.Person, s.call),
		site.Get("/conversations/:id/calls/:response/close", site.Person, s.backToCall),
		site.Post("/conversations/:id/calls/:response/close", site.Acting, s.closeCall),
		site.Get("/conversations/:id/steer", site.Person, s.backToConversation),
		site.Post("/conversations/:id/steer", site.Acting, s.steer),
		site.Get("/conversations/:id/rename", site.Person, s.backToConversation),
		site.Post("/conversations/:id/rename", site.Acting, s.rename),
		site.Get("/conversations/:id/on-reject", site.Person, s.backToConversation),
		site.Post("/conversations/:id/on-reject", site.Acting, s.chooseOnReject),
		site.Get("/conversations/:id/budget", site.Person, s.budget),
		site.Post("/conversations/:id/budget", site.Acting, s.changeBudget),
	}
}
