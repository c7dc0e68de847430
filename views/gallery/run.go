package gallery

import (
	"countersign/models"
	"countersign/views/pages/conversations"
	"countersign/views/pages/requests"
)

// runStates are a conversation whose agent reports what it does.
func runStates() []State {
	page := func(name, note string, in conversations.Input) State {
		p := Frame("A run", "/conversations/"+string(ConversationID))
		p.Conversation = ConversationID
		return State{Page: "run", Name: name, Note: note, Component: conversations.Page(p, conversations.New(able(in), Now))}
	}
	held := Odd()
	for id, o := range held.Around.Run.Origins {
		o.Delivery = told()
		held.Around.Run.Origins[id] = o
	}
	refused := WorkedCase(nil)
	refused.Around.Decided = &conversations.FailedDecision{
		ID:   refused.History.Entries[6].Response.ID,
		Form: requests.DecideForm{Errors: map[string]string{"reason": "is required"}},
	}
	alone := WorkedCase(nil)
	alone.History.Entries = alone.History.Entries[1:2]
	one := alone.Around.Run.Calls[alone.History.Entries[0].Response.ID]
	one.Place, one.Of = 1, 1
	alone.Around.Run.Calls[one.ID] = one
	return []State{
		page(Usual, "A batch of ten, of which the sixth waits", WorkedCase(nil)),
		page("rejected", "The sixth was rejected, and the rest with it", Cascaded()),
		page("odd", "Every other state of a call, with hostile names", held),
		page("refused", "A decision that lacked its reason", refused),
		page("alone", "A single call", alone),
	}
}

func callStates() []State {
	page := func(name, note string, in conversations.CallInput) State {
		return State{
			Page: "call", Name: name, Note: note,
			Component: conversations.CallPage(Frame("Bash", "/x"), conversations.NewCall(in, Now)),
		}
	}
	first := Cascaded()
	a := first.History.Entries[9].Response
	asked, _ := outsideCalls()
	return []State{
		page(Usual, "With a result, cut, that contradicts its rejection",
			conversations.CallInput{
				Conversation: first.Conversation.Conversation, Call: *a, Detail: first.Around.Run.Calls[a.ID],
				Result:  models.CallResult{Completed: true, Result: "done anyway\u202E<b>", Bytes: 300_000},
				Problem: "This call has a result.",
			}),
		page("open", "Asked by another system, without a result yet",
			conversations.CallInput{Conversation: first.Conversation.Conversation, Call: asked, Origin: heldOrigin()}),
	}
}
