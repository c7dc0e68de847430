package models

import "time"

// OwnedAgent is an agent with its owner and its tokens, the newest first: in lists those that work now.
type OwnedAgent struct {
	Agent

	OwnerName, OwnerEmail string
	Tokens                []Token
}

// OwnedToken is a person's token with that person.
type OwnedToken struct {
	Token

	OwnerName, OwnerEmail string
}

// AgentDays is for how many days, today among them, the requests of an agent are counted.
const AgentDays = 7

// AgentsFigures are what a page of agents says beside their rows.
type AgentsFigures struct {
	Of         map[AgentID]AgentFigures
	AllCancels int // what a stop of all agents would cancel, up to StatsCap; for admins
}

// AgentFigures are what a list says of an agent beside its row. Each count stops at StatsCap.
type AgentFigures struct {
	LastAskAt *time.Time     // nil: it never asked
	Days      [AgentDays]int // requests of each of the last days in UTC, the oldest first
	Pending   int
	Cancels   int          // of those pending, what a stop would cancel
	Budget    *AgentBudget // nil: the policy sets no limit
}
