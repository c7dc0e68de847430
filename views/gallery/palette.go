package gallery

import (
	"strings"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/inbox"
	"countersign/views/pages/nav"
)

// paletteStates are the palette, open over an inbox, and its page.
func paletteStates() []State {
	admin := *Frame("", "").Viewer
	reviewer := admin
	reviewer.Admin = false
	open := func(name, note string, in nav.GoInput) State {
		p := Frame("Inbox", "/")
		if in.Viewer.ID == "" {
			in.Viewer = admin
		}
		*p.Viewer, p.Palette = in.Viewer, nav.GoOptions(nav.NewGo(in))
		return State{Page: "palette", Name: name, Note: note, Component: inbox.Page(p, inbox.New(inbox.Input{Newcomer: true}, Now))}
	}
	page := func(name, note string, in nav.GoInput) State {
		in.Viewer = reviewer
		p := Frame("Search or go to", views.GoURL(""))
		p.Viewer.Admin = false
		return State{Page: "go", Name: name, Note: note, Component: nav.GoPage(p, nav.NewGo(in))}
	}
	found := nav.GoInput{
		Text: "re",
		Agents: []nav.FoundAgent{
			{ID: AgentID, Name: "release-bot", Owner: "Ada Berg", Pending: true},
			{ID: AgentID, Name: hostile + strings.Repeat("unbroken", 20), Owner: hostile, Disabled: true},
		},
		Conversations: []models.ConversationView{Talk(), Talk(func(c *models.ConversationView) {
			c.Title, c.Status = hostile+strings.Repeat("and on ", 40), models.ConversationFailed
		})},
		Requests: append(Rows(), Settled()[:3]...), Cut: true,
	}
	return []State{
		open(Usual, "What a text finds, hostile names among it", found),
		open("pages", "Nothing typed yet: all pages, to a reviewer", nav.GoInput{Viewer: reviewer}),
		open("nothing", "Nothing found", nav.GoInput{Text: hostile + strings.Repeat("unbroken", 20)}),
		page(Usual, "The same as a page, for who has no script", found),
		page("empty", "Nothing typed yet", nav.GoInput{}),
		page("error", "A text that is too long", nav.GoInput{Error: "The text is 300 bytes long; at most 200 are allowed."}),
	}
}
