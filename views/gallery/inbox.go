package gallery

import (
	"github.com/a-h/templ"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages"
)

const serverURL = "http://127.0.0.1:8080"

// Rows are requests of every kind of tool, one of them hostile.
func Rows() []models.Approval {
	return []models.Approval{Payment(), Shell(), Edit(), Hidden(), Question()}
}

func inboxStates() []State {
	inbox := func(in pages.InboxInput) templ.Component {
		p := Frame("Inbox", "/")
		p.Inbox = in.Count
		return pages.InboxPage(p, pages.NewInbox(in, Now))
	}
	rows := Rows()
	red := Frame("Inbox", "/")
	red.GateOff, red.FallbackOn, red.Flash = true, true, &views.Flash{Tone: views.ToneGood, Text: "Signed in."}
	return []State{
		{Page: "inbox", Name: Usual, Note: "One of each kind, one of them hostile", Component: inbox(pages.InboxInput{Rows: rows, Count: 5, BaseURL: serverURL})},
		{Page: "inbox", Name: "many", Note: "More than fits, of one conversation; the count is capped", Component: inbox(pages.InboxInput{Rows: rows[:2], Count: models.StatsCap, Next: "k2", After: "k1", Conversation: ConversationID, ConversationTitle: "Ship 1.4"})},
		{Page: "inbox", Name: "empty", Note: "What will come here, and how", Component: inbox(pages.InboxInput{BaseURL: serverURL})},
		{Page: "inbox", Name: "token", Note: "Empty, with a fresh token to try", Component: inbox(pages.InboxInput{BaseURL: serverURL, FreshToken: "csa_0123456789abcdef", FreshAgent: "first-agent"})},
		{Page: "inbox", Name: "fragment", Note: "The list as it refetches itself", Part: true, Component: pages.InboxFragment(pages.NewInbox(pages.InboxInput{Rows: rows[:1], Count: 1}, Now))},
		{Page: "inbox", Name: "red", Note: "The gate is off and fallback on; a flash", Component: pages.InboxPage(red, pages.NewInbox(pages.InboxInput{Rows: rows[:1], Count: 1}, Now))},
		{Page: "inbox", Name: "kinds", Note: "A proposal, a budget request and a question", Component: pages.InboxPage(Frame("Inbox", "/"), pages.NewInbox(pages.InboxInput{Rows: []models.Approval{Plan(), Wish(1500), Question()}, Count: 3}, Now))},
		{Page: "inbox", Name: "outside", Note: "Asked by another system, one held until it hears", Component: pages.InboxPage(Frame("Inbox", "/"), pages.NewInbox(outsideInbox(), Now))},
	}
}
