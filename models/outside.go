package models

import "time"

// UpstreamID names an upstream.
type UpstreamID string

// Upstream is another system that asks for approvals. They are fetched from it and
// decided here; then it is sent the decisions.
type Upstream struct {
	ID      UpstreamID `gorm:"primaryKey"`
	Name    string
	BaseURL string
	Dialect string // plain or cloud
	// KeySealed is its key, readable with the key file of the data folder only.
	KeySealed []byte `json:"-"`
	OwnerID   UserID
	AgentID   AgentID   // that requests belong to which are no agent's call
	CreatedAt time.Time `gorm:"autoCreateTime:false"`
	// CheckedAddress: no local or metadata address is connected to. Older upstreams,
	// from before these were refused, keep theirs.
	CheckedAddress bool

	DisabledAt  *time.Time
	PausedAt    *time.Time // it refuses the key, and is left alone until somebody changes that
	NextPollAt  time.Time
	PolledAt    *time.Time
	SucceededAt *time.Time
	Failures    int    // in a row
	Problem     string // of the last poll, in words; without Failures, what it leaves open
}

// OutsideKind is what an upstream asks for.
type OutsideKind string

// The kinds of outside approvals.
const (
	OutsideCallKind OutsideKind = "function_call" // approve or reject
	OutsideContact  OutsideKind = "human_contact" // answer
)

// OutsideItem is one thing that an upstream asks for, as fetched.
type OutsideItem struct {
	Kind   OutsideKind
	CallID string // unique at the upstream
	// ApprovalID is what the upstream calls the request itself; empty if it does not.
	ApprovalID string
	RunID      string // empty if none
	ToolUseID  string // empty if none
	Name       string // of the tool; of a contact: its subject
	Arguments  []byte // JSON as sent: the whole item where they were not found in it
	Telling    []byte // of these: what in them may be what would run, as JSON; nil: it is not known
	Message    string // of a contact; empty: it was not found
	Options    []Option
	Rest       []byte         // what it sends beside these, as JSON; nil: nothing
	AskedAt    time.Time      // when it was asked, by the upstream's clock; zero: not said
	Timeout    *time.Duration // left when it was fetched; nil: none, or not known
	TimeoutAt  time.Time      // its deadline by the upstream's clock; zero: none
	Raw        []byte
}

// OutsideApproval is an approval that was fetched from another system, as stored.
type OutsideApproval struct {
	Number     int64 `gorm:"primaryKey"`
	UpstreamID UpstreamID
	CallID     string
	Kind       OutsideKind
	Again      int // which request of this id and kind it is, from 0
	RunID      string
	Name       string
	Arguments  string
	Raw        string
	Beside     string // of a call
	FirstAt    time.Time
	TimeoutAt  *time.Time
	Polls      int
	ResponseID ResponseID

	ApprovalID    string `gorm:"-"` // of the item, as listed now
	Contradiction string `gorm:"-"` // the call, as the agent reported it, against the item
	// Of one that found no call: whether it still waits for one, and by what it
	// would know it; then the call that it is linked to.
	Waits     bool
	ToolUseID string
	Digest    string
	LinkedID  ResponseID
	LinkedBy  MatchedBy
	Removed   *string
}

// Call is what tells an approval's call from others.
func (o *OutsideApproval) Call() OutsideCall {
	return OutsideCall{ToolName: o.Name, ToolUseID: o.ToolUseID, Digest: o.Digest}
}

// sameClock is how far apart two clocks may be and still be the same: a server tells
// its time in whole seconds, and an answer takes a while.
const sameClock = 5 * time.Second

// Deadline is when the item runs out, by the clock of now: the upstream's own moment
// where both clocks agree or the upstream told no time, else what it says is left.
func (o *OutsideItem) Deadline(now time.Time) *time.Time {
	until := o.TimeoutAt
	switch {
	case o.Timeout == nil && until.IsZero():
		return nil
	case o.Timeout != nil && (until.IsZero() || now.Add(*o.Timeout).Sub(until).Abs() > sameClock):
		until = now.Add(*o.Timeout)
	}
	return &until
}

// Lease is a process's right to do what one process does at a time.
type Lease struct {
	Name   string `gorm:"primaryKey"`
	Number int64
	Holder string
	Until  time.Time
}

// Delivery is a verdict on its way to an upstream.
type Delivery struct {
	ResponseID ResponseID `gorm:"primaryKey"`
	UpstreamID UpstreamID
	VoteID     VoteID
	CreatedAt  time.Time `gorm:"autoCreateTime:false"`
	GiveUpAt   time.Time
	NextAt     time.Time
	Attempts   int // this one included
	InFlightAt *time.Time
	Lost       bool   // an earlier attempt may have arrived
	Problem    string // of the last attempt, in words
	DoneAt     *time.Time
	Outcome    string

	// Sent when an attempt begins.
	CallID   string      `gorm:"-"`
	Kind     OutsideKind `gorm:"-"`
	Approved bool        `gorm:"-"`
	Reason   string      `gorm:"-"`
	Answer   string      `gorm:"-"`
	Option   string      `gorm:"-"`
}

// AttemptEnds is after what time an attempt of another process is over: it may
// take two requests of the longest time that is allowed for one.
const AttemptEnds = 2*MaxUpstreamTimeout + 30*time.Second

// InFlight reports whether the other system may be hearing of a decision right now.
func (d *Delivery) InFlight(now time.Time) bool {
	return d.InFlightAt != nil && now.Before(d.InFlightAt.Add(AttemptEnds))
}

// DeliveryEnd is how an attempt to deliver ended.
type DeliveryEnd struct {
	Result DeliveryResult
	Lost   bool // it may have arrived although nothing came back
	// Text says in words what the upstream answered, without its own words.
	Text string
	// Of DeliveryRefused: what the upstream answered, and its own words, which are
	// untrusted.
	Status   int
	Words    string
	WrongKey bool          // of DeliveryLater: the upstream takes nothing with this key
	Key      []byte        // sealed, as the attempt began with it; of WrongKey
	Pause    time.Duration // before the next attempt, of DeliveryLater
}

// MaxUpstreamTimeout is the longest that one request to an upstream may take.
const MaxUpstreamTimeout = time.Minute

// PollNote is how a poll went.
type PollNote struct {
	Failed   bool
	WrongKey bool          // it refuses the key
	Key      []byte        // sealed, as the poll began with it; of WrongKey
	Problem  string        // in words; without a failure, why nothing was taken for settled
	Next     time.Duration // until the next one
}

// UpstreamState is how an upstream does: what admins look at.
type UpstreamState struct {
	Upstream  // without its key
	OwnerName string
	Waiting   int // requests of its that wait for a verdict; counting stops at StatsCap

	// Decisions that it was not sent yet: how many (counting stops at StatsCap), since
	// when the oldest waits, and why its last attempt failed, if one did.
	Unsent        int
	UnsentSince   *time.Time
	UnsentProblem string
}

// DeliveryResult is what an attempt to send a decision means for that decision.
type DeliveryResult string

// What an attempt may mean.
const (
	DeliveryTaken DeliveryResult = "delivered" // the verdict is the outcome
	// as delivered: the upstream has it already, from an attempt whose answer was lost
	DeliveryConfirmed DeliveryResult = "confirmed"
	DeliveryElsewhere DeliveryResult = "elsewhere" // it was settled there by somebody else
	DeliveryGone      DeliveryResult = "gone"      // the upstream no longer knows the call
	DeliveryRefused   DeliveryResult = "refused"   // the upstream will not take it: the request waits again
	DeliveryLater     DeliveryResult = "later"     // again, with backoff
)
