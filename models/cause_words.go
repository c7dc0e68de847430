package models

import "cmp"

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
