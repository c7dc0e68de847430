package models

// RequestPage is what a person is shown of one request. All of it is of one moment, but
// for Presence, which is kept in no database.
type RequestPage struct {
	Approval     Approval
	Turns        []Brief // the last of its conversation before it, oldest first
	Origin       Origin
	Around       Around
	Presence     Presence
	Substitution ActingPage

	// SeesConversation: the reader may look at all of its conversation.
	SeesConversation bool
	// Calls are those near it in the run, where it was sent in a batch and the reader
	// sees its conversation.
	Calls map[ResponseID]CallDetail
	// Result is what came of a call that ended and is not pending any more; nil: nothing.
	Result *CallResult
	// Next is another request that waits for the reader, where that was asked for and
	// this one is not pending any more.
	Next *Brief

	// Budget is that of the conversation, for those who may change it, where the request
	// is about one; Points and Shares say how a budget request's was spent. AgentBudget is
	// that of the agent, with a request for more of it.
	Budget      *Budget
	AgentBudget *AgentBudget
	Points      []EnergyPoint
	Shares      []EnergyShare
}

// How much of a budget's spending is shown.
const (
	BurnPoints = 200 // of its chart
	SharesRead = 50  // kinds of things
)
