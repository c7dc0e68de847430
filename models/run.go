package models

import "time"

// Run is one process's claim on a conversation that the built-in agent runs: its holder works on the next turn. Every
// write of a run checks that its lease is still valid.
type Run struct {
	ConversationID ConversationID
	OwnerID        UserID
	AgentID        AgentID
	Lease          int64 // counts the claims on this conversation
	Holder         string
	Turns          int // since a person last did something
	Attempts       int // of the model that failed, in a row
}

// Actor is who speaks in a run: the system's own agent of the conversation's
// owner. It has no credential.
func (r *Run) Actor() Actor {
	return Actor{Kind: ActorAgent, ID: string(r.AgentID), Name: BuiltIn, OwnerID: r.OwnerID}
}

// Turn is what the built-in agent's model said at once.
type Turn struct {
	ConversationID   ConversationID
	Sequence         int64
	At               time.Time
	Model            string
	PromptTokens     int64
	CompletionTokens int64
	Energy           int64 // that no response carries
	TurnOutput
}

// TurnOutput is the part of a turn that later turns get as context.
type TurnOutput struct {
	Content string     `json:"content,omitempty"`
	Calls   []TurnCall `json:"calls,omitempty"`
	// Read is the last sequence of the conversation that the model was shown: what
	// came while it spoke is later, and it has not heard of it.
	Read int64 `json:"read"`
	// Open are the requests of whose outcome the model had not heard.
	Open []ResponseID `json:"open,omitempty"`
}

// TurnCall is a tool call as the model sent it, with what became of it: a result
// that was final at once, or the response that it stored, whose state is the
// result.
type TurnCall struct {
	ID         string     `json:"id"`
	Name       string     `json:"name"`
	Arguments  string     `json:"arguments"` // may be no JSON
	Result     string     `json:"result,omitempty"`
	ResponseID ResponseID `json:"response,omitempty"`
}

// TurnInput is a model's answer, to be stored.
type TurnInput struct {
	Model            string
	PromptTokens     int64
	CompletionTokens int64
	Energy           int64 // what it cost; more than was reserved is not counted
	Content          string
	Calls            []TurnCall
	Context          *RunContext // what the model was shown
}

// MaxTurnCalls is how many calls of one turn are carried out; the others are
// refused, each with its own result.
const MaxTurnCalls = 16

// RunContext is what the next turn of a run is made from, as it stood at one
// moment. Lists are oldest first, but Decided.
type RunContext struct {
	Conversation Conversation
	Read         int64 // the last sequence that is in it
	Earlier      bool  // messages or turns before these were left out
	Messages     []Message
	Turns        []Turn
	Steps        []BudgetStep              // changes of the budget since the last turn, of others than the agent
	Granted      map[ResponseID]BudgetStep // the changes that came with a decision
	Responses    map[ResponseID]*Approval  // what calls of these turns stored
	Pending      []*Approval               // proposals and budget requests that wait
	Decided      []*Approval               // the latest that were settled, newest first
}

// Unread reports whether there is something that the model has not heard of and
// should answer: words of a person, a refused call, a changed budget that it
// asked for, an outcome. Outcomes and results are read together, when nothing is
// pending any more; words of a person at once.
func (c *RunContext) Unread() bool {
	if c.Words() {
		return true
	}
	if len(c.Turns) == 0 || len(c.Pending) > 0 {
		return false
	}
	last := c.Turns[len(c.Turns)-1]
	return len(last.Open) > 0 || last.HasUnreadResult()
}

// Words reports whether a person has said something that the model has not heard.
func (c *RunContext) Words() bool {
	read := int64(0)
	if len(c.Turns) > 0 {
		read = c.Turns[len(c.Turns)-1].Read
	}
	for i := range c.Messages {
		if c.Messages[i].AuthorKind == ActorUser && c.Messages[i].Sequence > read {
			return true
		}
	}
	return false
}

// Empty reports whether the model said nothing at all.
func (s *TurnOutput) Empty() bool { return s.Content == "" && len(s.Calls) == 0 }

// HasUnreadResult reports whether one of the turn's calls got its final result at
// once, which the model should read.
func (s *TurnOutput) HasUnreadResult() bool {
	for i := range s.Calls {
		if s.Calls[i].Result != "" && s.Calls[i].Result != Delivered {
			return true
		}
	}
	return false
}

// What becomes of the calls after one that is rejected.
const (
	OnRejectContinue = "continue" // each is asked for separately
	OnRejectCascade  = "cascade"  // those after it in the same batch are rejected too
)

// Who chose what becomes of them. What a person chose, the agent does not change.
const (
	OnRejectByAgent  = "agent"
	OnRejectByPerson = "person"
)

// RunInput opens an agent's run as a conversation, or finds it again.
type RunInput struct {
	ID           string // a UUID of the agent's choice, or empty
	RunID        string
	ParentRunID  string // of the run that started this one
	Title        string
	EnergyBudget *int64 // of one that is opened
	OnReject     string // cascade or continue; empty leaves it as it is
	// OnRejectDefault applies as long as no one has chosen; empty is continue.
	OnRejectDefault string
}
