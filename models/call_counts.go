package models

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
