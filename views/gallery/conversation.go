package gallery

import (
	"strings"
	"time"

	"countersign/models"
	"countersign/views/pages/budgets"
	"countersign/views/pages/conversations"
	"countersign/views/pages/requests"
)

// withBudget puts the panel of the budget beside a conversation.
func withBudget(in conversations.Input) conversations.Input {
	in.Budget = budgets.Panel(budgets.NewPanel(budgets.PanelInput{Conversation: in.Conversation, InConversation: true},
		Now))
	return in
}

// waitingConversation is one in which a proposal, a tool call and an older
// question wait.
func waitingConversation() conversations.Input {
	waiting := withBudget(ConversationInput())
	waits := Proposal(12, "Remove every log **older than 30 days** from `/var/log/app`.\n\n1. list them\n2. delete them\n")
	waits.EnergyBudget = new(int64(100))
	tool := Shell()
	tool.Sequence = 13
	older := Question()
	older.Sequence = 2
	waiting.History.Entries = append(waiting.History.Entries, ResponseEntry(waits), ResponseEntry(tool))
	waiting.History.Before = 3
	waiting.Waiting = []models.Approval{tool, waits, older}
	waiting.Conversation.Status, waiting.Conversation.Pending = models.ConversationWaitingInput, 3
	return waiting
}

// wrongConversation is the same after everything was filled in wrongly.
func wrongConversation() conversations.Input {
	wrong := waitingConversation()
	wrong.Say = conversations.SayForm{
		Sent: true, Content: "Go on, but keep the audit logs.",
		Errors: map[string]string{"content": "is too long", "": "Nothing was saved."},
	}
	wrong.Rename = conversations.RenameForm{Title: "x", Error: "is 200 characters long; at most 120 are allowed"}
	wrong.Around.Decided = &conversations.FailedDecision{
		ID: wrong.Waiting[0].ID,
		Form: requests.DecideForm{
			Reason: "because", Input: new("{"), Errors: map[string]string{"input": "must be one JSON value"},
		},
	}
	return wrong
}

// hostileConversation has hostile text wherever an agent or a person can write.
func hostileConversation() conversations.Input {
	hostile := withBudget(ConversationInput())
	hostile.Conversation.Title = "<b>Old</b> \u202Esgol"
	hostile.Conversation.AgentName = "rele\u0430se\u200B-bot"
	evil := "</p><script>alert(1)</script> \u202E# gnp.exe\u2066 [x](javascript:alert(1)) \u200B"
	for i := range hostile.History.Entries {
		switch e := &hostile.History.Entries[i]; {
		case e.Message != nil:
			m := *e.Message
			m.Content, m.AuthorName, e.Message = evil, "Ada\u202E", &m
		case e.Budget != nil:
			b := *e.Budget
			b.Reason, e.Budget = evil, &b
		case e.Response != nil:
			a := *e.Response
			a.Content, a.Description, a.ModelUsed, a.AgentName, e.Response = evil, evil, "m\u200B", "x\u202E", &a
		}
	}
	waitsToo := Proposal(12, evil)
	hostile.History.Entries = append(hostile.History.Entries, ResponseEntry(waitsToo))
	hostile.Waiting = []models.Approval{waitsToo}
	hostile.Draft = &conversations.Draft{Text: evil, Model: "m\u202E"}
	return hostile
}

// conversationStates are the page of one conversation in its states, and the
// form that begins one.
func conversationStates() []State {
	page := func(name, note string, in conversations.Input) State {
		p := Frame("Old logs", "/conversations/"+string(ConversationID))
		p.Conversation = ConversationID
		return State{
			Page: "conversation", Name: name, Note: note, Component: conversations.Page(p, conversations.New(able(in), Now)),
		}
	}
	late := withBudget(ConversationInput())
	late.Say = conversations.SayForm{Sent: true, Content: "And the rest?"}
	late.Around.Decided = &conversations.FailedDecision{
		ID: late.History.Entries[2].Response.ID, Late: models.VerdictReject,
	}

	earlier := withBudget(ConversationInput())
	earlier.Before, earlier.History.Before = 12, 3
	paused := withBudget(ConversationInput())
	paused.Conversation.PausedAt, paused.Conversation.ArchivedAt = new(Now.Add(-time.Hour)), new(Now.Add(-time.Minute))
	paused.Draft = &conversations.Draft{Text: "I shall look at the\nlogs first", Model: "demo"}

	begin := Frame("New conversation", "/conversations/new")
	wrong := conversations.NewConversationForm{
		Content: "Clean up", Budget: "x",
		Errors: map[string]string{"content": "is too long", "budget": "must be a whole number of units"},
	}
	return []State{
		page(Usual, "One of everything that has settled", withBudget(ConversationInput())),
		page("empty", "Nothing was said yet", withBudget(conversations.Input{Conversation: Conversation("Old logs")})),
		page("waiting", "A proposal, a tool call and an older question wait", waitingConversation()),
		page("errors", "Errors at every field", wrongConversation()),
		page("late", "What was decided elsewhere meanwhile", late),
		page("earlier", "An earlier page", earlier),
		page("hostile", "Hostile text everywhere, and in a draft", hostileConversation()),
		page("long", "Values as long as they may be", longConversation()),
		page("paused", "Paused and archived, with a draft", paused),
		{
			Page: "conversation-new", Name: Usual, Note: "The form that begins one",
			Component: conversations.NewConversationPage(begin, conversations.NewConversationForm{}),
		},
		{
			Page: "conversation-new", Name: "errors", Note: "Errors at their fields",
			Component: conversations.NewConversationPage(begin, wrong),
		},
	}
}

// longConversation has values as long as they may be.
func longConversation() conversations.Input {
	in := withBudget(ConversationInput())
	unbroken := strings.Repeat("unbroken", 15)
	in.Conversation.Title, in.Conversation.AgentName, in.Conversation.OwnerName = unbroken, unbroken, unbroken
	waits := Proposal(12,
		"# "+unbroken+"\n\n"+strings.Repeat("unbroken",
			300)+"\n\n| "+unbroken+" | b |\n|-|-|\n| "+strings.Repeat("`"+unbroken+"` ", 5)+" | 1 |\n")
	in.History.Entries = append(in.History.Entries, ResponseEntry(waits))
	in.History.Entries[0].Message.Content = strings.Repeat("unbroken", 2000)
	in.Waiting = []models.Approval{waits}
	return in
}
