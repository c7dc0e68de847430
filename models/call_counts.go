package models

import (
	"cmp"
	"slices"
)

// CallCounts says how often an agent's calls of a tool ended in each way. What a
// person decided is never counted together with what no person decided (I10).
type CallCounts struct {
	Approved, Rejected int // by a person

	ByRule       int // allowed by the policy
	PreApproved  int // allowed by a grant
	Unapproved   int // ran while approval was off, or no server answered
	AutoRejected int // rejected by a rule, a stop or another rejection
}

// Add counts one call, if it ran or was rejected, and reports whether it was let run: what ran
// without an answer was not.
func (c *CallCounts) Add(status Status, cause Cause) (ok bool) {
	ok = status == StatusApproved || status == StatusNone && cause != CauseNone
	switch {
	case status == StatusRan:
		c.Unapproved++
	case status == StatusRejected && cause == CauseReviewer:
		c.Rejected++
	case status == StatusRejected:
		c.AutoRejected++
	case !ok:
	case cause == CauseReviewer:
		c.Approved++
	case cause == CausePolicy:
		c.ByRule++
	case cause == CauseGrant:
		c.PreApproved++
	default:
		c.Unapproved++
	}
	return ok
}

// CallEffect is what the policy did with a call.
type CallEffect string

// The effects, in the order in which they are listed.
const (
	CallWaited      CallEffect = "waited"       // for a person
	CallRan         CallEffect = "ran"          // the policy allowed it
	CallPreApproved CallEffect = "pre_approved" // a grant did
	CallUngated     CallEffect = "ungated"      // approval was off
	CallFallback    CallEffect = "fallback"     // no server answered
	CallDenied      CallEffect = "denied"
	CallStopped     CallEffect = "stopped" // its agent was
	CallStranded    CallEffect = "stranded"
)

// CallGroup counts the calls of one tool that one rule treated alike.
type CallGroup struct {
	Kind   Kind
	Tool   string
	Rule   string
	Effect CallEffect
	Count  int
}

// EffectOf is what the policy did with a call of a status, as stored, and a cause.
func EffectOf(status Status, cause Cause) CallEffect {
	switch {
	case status == StatusNone && cause == CauseGrant:
		return CallPreApproved
	case status == StatusNone && cause == CauseGateOff:
		return CallUngated
	case status == StatusNone && cause == CauseFallback:
		return CallFallback
	case status == StatusNone:
		return CallRan
	case status == StatusRejected && cause == CausePolicy:
		return CallDenied
	case status == StatusRejected && cause == CauseStopped:
		return CallStopped
	case cause == CauseNoReviewer:
		return CallStranded
	}
	return CallWaited
}

// CallGroups is what became of an agent's last calls.
type CallGroups struct {
	Groups []CallGroup // the tool with most calls first, then its largest group
	Calls  int         // that were looked at
	More   bool        // there are earlier ones
}

// Add counts one more call.
func (c *CallGroups) Add(g CallGroup) {
	g.Count = 1
	c.Calls++
	i := slices.IndexFunc(c.Groups, func(h CallGroup) bool {
		h.Count = g.Count
		return h == g
	})
	if i < 0 {
		c.Groups = append(c.Groups, g)
		return
	}
	c.Groups[i].Count++
}

// Sort orders the groups.
func (c *CallGroups) Sort() {
	type tool struct {
		kind Kind
		name string
	}
	calls := map[tool]int{}
	for _, g := range c.Groups {
		calls[tool{g.Kind, g.Tool}] += g.Count
	}
	slices.SortStableFunc(c.Groups, func(a, b CallGroup) int {
		return cmp.Or(
			cmp.Compare(calls[tool{b.Kind, b.Tool}], calls[tool{a.Kind, a.Tool}]), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Tool, b.Tool), cmp.Compare(b.Count, a.Count))
	})
}
