package web

// conversationRoutes are one conversation and the beginning of a new one.
func (s *Site) conversationRoutes(get, post adder) {
	get("/conversations/new", s.newConversation)
	post("/conversations", s.beginConversation)
	get("/conversations/:id", s.conversation)
	get("/conversations/:id/draft", s.draft)
	post("/conversations/:id/say", s.say)
	post("/conversations/:id/decide/:response", s.decideHere)
	get("/conversations/:id/calls/:response", s.call)
	post("/conversations/:id/calls/:response/close", s.closeCall)
	get("/conversations/:id/calls/:response/close", s.backToCall)
	post("/conversations/:id/steer", s.steer)
	post("/conversations/:id/rename", s.rename)
	post("/conversations/:id/on-reject", s.chooseOnReject)

	// Where only a form leads, an address typed or restored leads back.
	for _, form := range []string{"say", "steer", "rename", "on-reject", "decide/:response"} {
		get("/conversations/:id/"+form, s.backToConversation)
	}
}
