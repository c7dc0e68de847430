package models

import "time"

// HeldBy is what holds a pending request.
type HeldBy string

// What holds a request.
const (
	HeldByQuorum   HeldBy = "quorum"   // others must approve the same edit
	HeldByUndo     HeldBy = "undo"     // the decision may still be undone
	HeldByUpstream HeldBy = "upstream" // the system that asked must hear first
)

// HeldBys is the list of all that may hold a request.
func HeldBys() []HeldBy { return []HeldBy{HeldByQuorum, HeldByUndo, HeldByUpstream} }

// Held is what holds a request, until when (nil: unknown); empty for nothing, and for holds that an agent is not to
// know: only approvals can be undone. To people the store gives the decision with the row.
func (a *Approval) Held() (by HeldBy, until *time.Time) {
	if a.Status() == StatusPending && a.HeldUntil == nil && a.Vote != nil && a.Vote.WaitsFor != "" {
		if a.HasDeadline() {
			until = &a.ApprovalTimeoutAt
		}
		return HeldByQuorum, until
	}
	if a.Status() != StatusPending || a.HeldUntil == nil || a.UpstreamID == nil && a.Vote == nil {
		return "", nil
	}
	by, ends := HeldByUndo, *a.HeldUntil
	switch {
	case a.UpstreamID == nil:
	case a.MayBeUndone():
		ends = *a.Vote.UndoUntil
	default:
		by = HeldByUpstream
	}
	if ends.Before(NoDeadline) {
		until = &ends
	}
	return by, until
}

// MayBeUndone reports whether a decision was taken that may still be undone.
func (a *Approval) MayBeUndone() bool {
	return a.Status() == StatusPending && a.Vote != nil && a.Vote.UndoUntil != nil
}
