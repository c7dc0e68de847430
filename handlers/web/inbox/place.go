package inbox

import (
	"countersign/models/requests"
	"countersign/views"
)

// inboxQuery asks the store for what a place shows.
func inboxQuery(p views.InboxPlace) requests.InboxQuery {
	aside := p.FoldsAside()
	if p.Whose == views.WhoseForMe || p.Whose == views.WhoseWaits { // the rules say of each request who may approve it
		p.Whose = ""
	}
	return requests.InboxQuery{
		Conversation: p.Conversation, Agent: p.Agent, Tool: p.Tool, Risk: p.Risk, Text: p.Text,
		Whose: requests.Whose(p.Whose), Order: requests.InboxOrder(p.Order), Aside: aside, After: p.After,
	}
}
