package models

import "strings"

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
