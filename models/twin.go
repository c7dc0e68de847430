package models

import "time"

// TwinWindow is how soon after an approval an identical request is taken for a
// duplicate, whatever its risk.
const TwinWindow = 10 * time.Minute

// Twin is the latest request of the same agent that a person approved and that
// released the same: its digest is that of the input that ran, as edited.
type Twin struct {
	ID ResponseID
	By string // who approved it
	At time.Time
}

// TwinWarns reports whether a request that waits is to be checked for being a
// duplicate before it is approved: always where it can do much harm, else if it was
// asked soon after its twin was approved, or before. It does not hang on when
// somebody looks, so that the warning stays while the request waits.
func (r *Response) TwinWarns(t Twin) bool {
	start := r.CreatedAt
	if r.ApprovalRequestedAt != nil {
		start = *r.ApprovalRequestedAt
	}
	return r.Risk.NeedsDigest() || start.Sub(t.At) <= TwinWindow
}
