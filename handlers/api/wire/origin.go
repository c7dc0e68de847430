package wire

import "time"

// Origin tells a person where a request comes from. All but the names of the
// upstream and of who decided are claims.
type Origin struct {
	Upstream      string       `json:"upstream,omitempty" doc:"The other system that asks"`
	CallID        *string      `json:"callId,omitempty" doc:"The request's id there"`
	ApprovalID    string       `json:"approvalId,omitempty" doc:"What that system calls the request itself, beside the id of its call"`
	MatchedBy     MatchedBy    `json:"matchedBy,omitempty" enum:"tool_use_id,input,order,only,unmatched" doc:"How it found the call that it is for; order: several fitted, and nothing but the order tells"`
	FoundIn       string       `json:"foundIn,omitempty" doc:"The run in which it found the call, where it asks for another run"`
	Beside        string       `json:"beside,omitempty" doc:"What that system sends beside the arguments of its call and is not understood: JSON as text, of a very long one the beginning"`
	Linked        *Linked      `json:"linked,omitempty" doc:"The other row of the same act: of an approval its reported call, of a call its approval. They are two where the inputs differ, or the call was reported after the decision"`
	Contradiction string       `json:"contradiction,omitempty" doc:"What was reported or asked that contradicts this"`
	ParentRunID   string       `json:"parentRunId,omitempty" doc:"The run that started this one"`
	StartedBy     string       `json:"startedBy,omitempty" doc:"The tool of the call that started the sub-agent that asks"`
	Telling       *Telling     `json:"telling,omitempty" doc:"The decision that has not been sent to the other system yet"`
	Withdrawn     []Withdrawal `json:"withdrawn,omitempty" doc:"Decisions that were undone by others, the oldest first: the other system refused them, or an admin undid them"`
}

// Withdrawal is a decision that did not become the outcome, and why.
type Withdrawal struct {
	Verdict Verdict        `json:"verdict" enum:"approve,reject,answer"`
	Decider string         `json:"decider" doc:"Who gave it"`
	At      time.Time      `json:"at"`
	Kind    WithdrawalKind `json:"kind" enum:"refused,withdrawn" doc:"Whether the other system refused it, or an admin undid it"`
	By      string         `json:"by" doc:"The other system, or the admin"`
	Status  int            `json:"status,omitempty" doc:"The HTTP status that the other system answered"`
	Said    string         `json:"said,omitempty" doc:"What the other system answered, in its own words, cut and without our key; or the admin's reason"`
	Lost    bool           `json:"lost" doc:"An earlier attempt to tell the other system may have arrived"`
}

// Linked leads from an approval of another system to its reported call, or back.
type Linked struct {
	ID             ResponseID     `json:"id,omitempty" doc:"Left out where the reader may not see it"`
	ConversationID ConversationID `json:"conversationId,omitempty"`
	Is             string         `json:"is" enum:"call,approval"`
	RunID          string         `json:"runId" doc:"Of the call"`
	MatchedBy      MatchedBy      `json:"matchedBy" enum:"tool_use_id,input,order,only"`
	SameInput      bool           `json:"sameInput"`
}

// Telling is a verdict on its way to another system.
type Telling struct {
	Verdict  Verdict   `json:"verdict" enum:"approve,reject,answer"`
	By       string    `json:"by"`
	Since    time.Time `json:"since"`
	Attempts int       `json:"attempts" doc:"How many have begun"`
	Problem  string    `json:"problem" doc:"What became of the last one that failed"`
	NextAt   time.Time `json:"nextAt"`
}
