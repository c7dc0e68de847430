package gallery

import (
	"strings"

	"countersign/models"
	"countersign/views"
	"countersign/views/pages/conversations"
)

func conversationsStates() []State {
	page := func(name, note string, in conversations.ListInput) State {
		in.Agents, in.BaseURL = []models.Agent{{ID: AgentID, Name: "release-bot"}}, serverURL
		return State{
			Page: "conversations", Name: name, Note: note,
			Component: conversations.ListPage(Frame("Conversations", "/conversations"), conversations.NewList(in, Now)),
		}
	}
	return []State{
		page(Usual, "Waiting, paused, failed with a hostile long title, completed", conversations.ListInput{Admin: true, Next: "k2", Rows: []models.ConversationView{
			Talk(func(c *models.ConversationView) { c.Status, c.Pending = models.ConversationWaitingInput, 2 }),
			Talk(low, func(c *models.ConversationView) { c.ID, c.PausedAt = "01890a5d-ac96-774b-bcce-b302099a8002", &Now }),
			Talk(spent, func(c *models.ConversationView) {
				c.ID, c.Status = "01890a5d-ac96-774b-bcce-b302099a8003", models.ConversationFailed
				c.Title = "<b>Ship</b> \u202e4.1 " + strings.Repeat("and on ", 30)
			}),
			Talk(unlimited, func(c *models.ConversationView) {
				c.ID, c.Status, c.Standing = "01890a5d-ac96-774b-bcce-b302099a8004", models.ConversationCompleted, true
			}),
		}}),
		page("one", "Only one, to a reviewer", conversations.ListInput{Rows: []models.ConversationView{Talk()}}),
		page("empty", "What will come here, and how", conversations.ListInput{}),
		page("filtered", "Filters that cannot be understood", conversations.ListInput{
			Admin: true, After: "k1",
			Filter: views.ConversationFilter{
				Status: "asleep", Agent: "01890a5d-ac96-774b-bcce-b302099a8109", Owner: "x@example.org", Archived: true,
			},
			Errors: map[string]string{
				"status": "must be running, waiting_input, completed or failed",
				"owner":  "must be the e-mail or id of a person on this server",
			},
		}),
	}
}
