package models

import "time"

// Origin is what readers of a request want to know beside its approval: which other
// system it came through, whose sub-agent asks, and how sending the decision goes.
// All names in it but UpstreamName and VoterName are claims.
type Origin struct {
	UpstreamName string    // that asks; empty: none
	ApprovalID   string    // what that system calls the request; empty if it does not
	MatchedBy    MatchedBy // how its approval found the call
	// Contradiction is a report or request that contradicts the stored row, such as a result of a call that was not
	// allowed.
	Contradiction string
	// FoundIn is the run in which the call was found, where the other system asks
	// for another run; empty: it is that run.
	FoundIn string
	// Beside is what that system sends beside the arguments, as JSON; empty: nothing.
	Beside string
	// Linked is the other row of the same act; nil: there is none.
	Linked *LinkedResponse
	// CascadedFrom is the call with which this one was rejected; empty: none.
	CascadedFrom ResponseID
	// ContentBytes is the true length of a content that is kept cut; nil: it is whole.
	ContentBytes *int64

	// ParentID is the run that started the request's own, where the reader may see
	// it; ParentRun is its name.
	ParentID    ConversationID
	ParentRun   string
	ParentTitle string
	// StartedBy and StartedInput are the call, within the same run, that started the
	// sub-agent that asks.
	StartedBy    string
	StartedInput string

	// Withdrawals are decisions that were taken back by others than those who gave
	// them, in order.
	Withdrawals []Withdrawal

	// Delivery is the decision on its way to the upstream; nil: none.
	Delivery *SendingState
}

// LinkedResponse is the other row of a call that has two: the reported call that an
// outside approval is for, or the approval of a reported call. Its names and input are
// claims.
type LinkedResponse struct {
	ID             ResponseID     // empty: the reader may not see it
	ConversationID ConversationID // as above
	IsCall         bool           // it is the call, not the approval
	RunID          string         // of the call
	AgentName      string         // whose it is
	By             MatchedBy      // how the approval found the call
	SameInput      bool
	Input          string // the other input, its beginning; empty where it is the same
	InputBytes     int64  // its true length
	Status         Status // of the approval, as it holds now
	Cause          Cause
}

// SendingState is how sending a decision to an upstream goes.
type SendingState struct {
	Verdict   Verdict
	VoterName string
	Since     time.Time
	Attempts  int
	Problem   string // of the last attempt that failed, in words
	NextAt    time.Time
	GiveUpAt  time.Time
	InFlight  bool // an attempt runs now
}

// WithdrawalKind is how a decision was taken back.
type WithdrawalKind string

// The kinds of withdrawal.
const (
	WithdrawalRefused WithdrawalKind = "refused"   // the upstream will not take it
	WithdrawalByAdmin WithdrawalKind = "withdrawn" // an admin took it back
)

// Withdrawal is a decision that was taken back, and why.
type Withdrawal struct {
	VoteID     VoteID `gorm:"primaryKey"`
	ResponseID ResponseID
	At         time.Time `gorm:"autoCreateTime:false"`
	Kind       WithdrawalKind
	ByName     string // the upstream or the admin
	Status     int    // that the upstream answered; 0: it was not asked
	Said       string // its own words, or the admin's reason: a claim
	Lost       bool   // an earlier attempt to tell it may have arrived

	// Of the decision, read beside the row.
	Verdict   Verdict `gorm:"->"`
	VoterName string  `gorm:"->"`
}
