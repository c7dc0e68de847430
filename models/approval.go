package models

import "time"

// Approval is a response with what its readers need around it: one shape for
// every surface, made by the store in one query.
type Approval struct {
	Response
	RunID             *string
	AgentName         string // as registered
	OwnerName         string
	ConversationTitle string
	Stopped           bool  // its agent is stopped now, and has not said that it is done
	Vote              *Vote // the vote that became the outcome, if a person decided
	Note              *Note // the question that waits for an answer
	// Signatures are those on a settled request that several people signed, oldest first, the last one too; for people
	// only (requests.Requests.HeldVerdicts).
	Signatures []Vote
}

// AskedRun is the run for which it was asked; nil: none was named.
func (a *Approval) AskedRun() *string {
	if a.OutsideRun != nil {
		return a.OutsideRun
	}
	return a.RunID
}

// AskedTime is when it was asked: by the clock of the other system where one asks and says
// so, else when the request arrived.
func (a *Approval) AskedTime() time.Time {
	switch {
	case a.UpstreamID != nil && a.ClaimedAt != nil:
		return *a.ClaimedAt
	case a.ApprovalRequestedAt != nil:
		return *a.ApprovalRequestedAt
	}
	return a.CreatedAt
}

// SayOutside takes over what another system says of its request: the run for which it
// asks, where that is not the conversation's, and when it was asked.
func (a *Approval) SayOutside(run string, start time.Time) {
	if run != "" && (a.RunID == nil || *a.RunID != run) {
		a.OutsideRun = &run
	}
	if !start.IsZero() {
		a.ClaimedAt = &start
	}
}

// DecisionInput is what a person sends to decide, from whichever surface.
type DecisionInput struct {
	Approved *bool  // may be left out when a question is answered
	Reason   string // ≤ MaxReason bytes
	Digest   string // what the decider saw; required to approve high and critical
	Input    []byte // an edited input, JSON; nil when not edited
	// Suggestion is an input that would be approved, JSON, beside a rejection; nil: none.
	Suggestion []byte
	Answer     *string // for questions
	Option     *string // the name of one of the options: of a question, or to reject a call with
	// Bulk says that the verdict is one of several given at once: requests of high and
	// critical risk are not approved so, and questions not answered.
	Bulk bool
	// BreakGlass decides alone what several people sign. It takes a reason of at least MinGlassReason letters.
	BreakGlass bool
	// Checked are the items of the request's checklist that the decider ticked, by their
	// numbers from 0. Approving and answering need all of them.
	Checked []int
	// Behalf is the person for whom the page said that the verdict counts; empty: no one else. A verdict that would
	// count for somebody else is refused; nil: it was not shown.
	Behalf *UserID
	// Page is what the decider has looked at; NoPage where they decide on no page.
	Page *PageView
	// Budget changes the conversation's budget together with the verdict, whichever
	// it is. For its owner and admins only.
	Budget BudgetChange
}

// AskInput is an agent's request, from whichever surface.
type AskInput struct {
	ApprovalID     string // a UUID of the agent's choice, or empty
	ConversationID string // a UUID, or empty
	RunID          string
	// Session names the conversation instead of the two above, in one string: the
	// id of one of the asker's own, else a run id; unknown, it becomes the run id of
	// a new one and never its id.
	Session   string
	ToolUseID string
	// Taker is which call of a client's session an allowing answer is for, where the id of
	// the call may come again in another session: one takes it (Store.TakeAnswers).
	Taker    string
	JobID    string
	Kind     Kind // tool_call or question; empty is tool_call
	ToolName string
	Input    []byte // JSON as sent; empty is {}
	Options  []Option
	Explanation
	TimeoutSeconds *int64
	Energy         *int64
	// Template names one of the policy's, which can only make the call stricter.
	Template string
	// Join says that the call may have come in by another way, and has no key that tells.
	// It is then the only request of its agent that waits with the same digest, in the
	// conversation that it names or in none.
	Join bool
	// Explicit asks need approval unless a rule allows or denies them.
	Explicit bool
	// FallbackAt reports that a client of ours went on at this time because no
	// server answered and fallback_auto_approve was confirmed; RFC 3339 or empty.
	FallbackAt string
	// ClaimedAt is when the agent says that it asked; RFC 3339 or empty.
	ClaimedAt string
	// AcceptsEdits says that the client runs the approved input, which may differ from the one that it sends. Any other
	// client would run the input that it sent.
	AcceptsEdits bool
	// Protocol is that of the client, where it matters. Under ProtocolFunctionCalls the
	// ToolUseID names the request among all of the agent.
	Protocol Protocol
	Client   ClientData
}

// Presence is whether a request's agent waits for the outcome, as far as the server
// has seen since it started.
type Presence struct {
	Waiting bool
	Left    time.Time // when the last wait ended; zero: none was seen
	Until   time.Time // when Waiting ends if no wait begins before; zero: not by time
}

// Stats are the counts that the queue tells about itself, capped at StatsCap.
type Stats struct {
	Pending   int // rows waiting
	Waiters   int // waits of agents, for what the asker may see
	Responses int // decided in the last minute
}

// StatsCap is where counting stops: "1,000+".
const StatsCap = 1000

// MaxBrief is where a Brief cuts a text, in characters: an input may have 256 KiB, and a
// list has fifty.
const MaxBrief = 4096

// Brief is an approval as lists show it: its Context, Preview, Content and ToolInputJSON are their first MaxBrief
// characters, all else is whole. A separate type keeps cut text from being taken for the request.
type Brief struct{ Approval }
