package models

import (
	"cmp"
	"strings"
)

// Cause says why an approval ended as it did, or why none was needed (I10).
type Cause string

// The causes.
const (
	CauseNone        Cause = ""
	CauseReviewer    Cause = "reviewer"
	CausePolicy      Cause = "policy"
	CauseGrant       Cause = "grant"
	CauseGateOff     Cause = "gate_off"
	CauseFallback    Cause = "fallback"
	CauseTimeout     Cause = "timeout"
	CauseCancelled   Cause = "cancelled"
	CauseCascade     Cause = "cascade"
	CauseNoReviewer  Cause = "no_reviewer"
	CauseUndelivered Cause = "undelivered"
	CauseElsewhere   Cause = "elsewhere"
	CauseGone        Cause = "gone"
	CauseRunEnded    Cause = "run_ended"
	CauseStopped     Cause = "stopped"
)

// causes is the list of all causes, those that people look for first. A call ran
// without a person for a cause that is through; a request ended for one that settles.
var causes = []struct {
	cause            Cause
	through, settles bool
}{
	{cause: CauseReviewer, settles: true},
	{cause: CausePolicy, through: true, settles: true}, // an allow rule, or a deny rule
	{cause: CauseGrant, through: true},
	{cause: CauseTimeout, settles: true},
	{cause: CauseCancelled, settles: true},
	{cause: CauseCascade, settles: true},
	{cause: CauseRunEnded, settles: true},
	{cause: CauseStopped, settles: true},
	{cause: CauseNoReviewer, settles: true},
	{cause: CauseElsewhere, settles: true},
	{cause: CauseGone, settles: true},
	{cause: CauseUndelivered, settles: true},
	{cause: CauseGateOff, through: true},
	{cause: CauseFallback, through: true, settles: true}, // it ran, or it ran although denied
}

// Causes is the list of all causes, CauseNone aside, in the order of the selects.
func Causes() []Cause {
	out := make([]Cause, len(causes))
	for i, row := range causes {
		out[i] = row.cause
	}
	return out
}

// LetsThrough reports whether calls run without a person for this cause.
func (c Cause) LetsThrough() bool {
	i := c.index()
	return i >= 0 && causes[i].through
}

// Settles reports whether requests get their final status for this cause.
func (c Cause) Settles() bool {
	i := c.index()
	return i >= 0 && causes[i].settles
}

func (c Cause) index() int {
	for i := range causes {
		if causes[i].cause == c {
			return i
		}
	}
	return -1
}

// withdrawnBy begins the stored reason of a cancelled request. It is kept with each,
// in ledgers and exports too, and so never changes; pages say it in their own words.
const withdrawnBy = "withdrawn by "

// CancelledText is the reason that a request cancelled by actor keeps.
func CancelledText(actor Actor) string {
	if actor.IsPerson() {
		return withdrawnBy + actor.Name
	}
	return withdrawnBy + "the agent"
}

// CancelledBy reports whether the request was cancelled, and the name of the person
// who did; empty: its agent did. The name is not escaped.
func (r *Response) CancelledBy() (person string, ok bool) {
	name, ok := strings.CutPrefix(r.Feedback(), withdrawnBy)
	if !ok || r.Cause != CauseCancelled {
		return "", false
	}
	if name == "the agent" {
		name = ""
	}
	return name, true
}

// causeWords say in people's words why a request has its status: a sentence, and a few words
// for a column. Each cause has its own (I10). Pages, the command line, hooks and the
// surfaces of other protocols all say it with these.
var causeWords = map[Cause]struct{ text, short, denial string }{
	CauseReviewer: {text: "A person decided.", short: "by a person", denial: "A person rejected this."},
	CausePolicy: {
		text: "The policy decided; nobody was asked.", short: "by the policy", denial: "The policy denies this.",
	},
	CauseGrant:   {text: "A pre-approval allowed it; nobody was asked.", short: "by a pre-approval"},
	CauseGateOff: {text: "The gate was off; nobody was asked.", short: "the gate was off"},
	CauseFallback: {
		text:  "No server answered, and fallback was on: the client continued and reported it afterwards.",
		short: "fallback, no server", denial: "The agent reported that this ran without an answer; nobody approved it.",
	},
	CauseTimeout:     {text: "Nobody decided in time.", short: "no decision in time"},
	CauseCancelled:   {text: "The agent cancelled it.", short: "by the agent", denial: "This request was cancelled."},
	CauseCascade:     {text: "Another request was rejected, and this one with it.", short: "with another request"},
	CauseNoReviewer:  {text: "Nobody was able to decide it.", short: "nobody could decide"},
	CauseUndelivered: {text: "The decision could not be delivered.", short: "not delivered"},
	CauseElsewhere:   {text: "It was decided elsewhere.", short: "decided elsewhere"},
	CauseGone:        {text: "It no longer exists in the system it came from.", short: "gone from its source"},
	CauseRunEnded:    {text: "The agent's run ended first.", short: "its run ended"},
	CauseStopped:     {text: "The run, or the agent, was stopped.", short: "its run or agent was stopped"},
}

// Text says in one sentence why a request has its status; empty for a cause that is not
// known here.
func (c Cause) Text() string { return causeWords[c].text }

// Short is Text in a few words, for a column.
func (c Cause) Short() string { return causeWords[c].short }

// Denial tells the asker in one sentence why a call must not run. It is never empty.
func (c Cause) Denial() string {
	w := causeWords[c]
	return cmp.Or(w.denial, w.text, "This was not approved.")
}

// expiryReason is the reason that an expiry carries, with the time that the request was pending.
func (r *Response) expiryReason() string {
	start := r.CreatedAt
	if r.ApprovalRequestedAt != nil {
		start = *r.ApprovalRequestedAt
	}
	return "Approval request timed out (" + SpokenDuration(r.ApprovalTimeoutAt.Sub(start)) + ")"
}
