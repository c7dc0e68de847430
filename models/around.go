package models

import "time"

// Around is what a reviewer should see beside a request: why it needs approval and whether it still would, how similar
// calls ended, its notes, and which acts it allows.
type Around struct {
	// PolicyChange: the request was judged by an older version of the policy. Now is
	// what the current version would say; the request stays as it was judged (I12).
	PolicyChange bool
	Now          PolicyResult
	// RejectReasons are the reasons that the rule offered for a rejection when the policy evaluated the request.
	RejectReasons []string

	// Earlier are the last calls of the same agent and tool that have an outcome,
	// newest first, inputs cut; Counts says how the last of them ended, and SameCounts those of them with the same input.
	// EarlierCap: there are older ones, which are not counted.
	Earlier    []Brief
	Counts     CallCounts
	SameCounts CallCounts
	EarlierCap bool
	// LastApproved is the newest call that was allowed to run, LastRejected the newest
	// rejected one. Both are from before the request and not cut; Released says what ran.
	LastApproved, LastRejected *Approval
	// Twin released the same and was approved before; nil: nothing did.
	Twin *Twin
	// Duplicates wait as well: the same agent asks for the very same, newest first.
	Duplicates []Duplicate
	// ReaskOf was rejected, and asked for the very same; nil: nothing did.
	ReaskOf *Approval

	// Proposals are approvals with an edit that others must approve too, oldest first.
	Proposals []Vote

	Notes  []Note   // in the order they were said
	Opened []string // parts that the reader has unfolded

	UndoFor    time.Duration // how long an approval would be held
	MaxTimeout time.Duration // the furthest that its deadline may be moved, from now
	MaxPause   time.Duration // how long asking back may stop its clock

	GrantsEnabled               bool
	GrantMaxHours, GrantMaxUses int
}

// Duplicate is a pending request that asks for the very same as another.
type Duplicate struct {
	ID        ResponseID
	CreatedAt time.Time
}

// PolicyResult is what a version of the policy says of a call.
type PolicyResult struct {
	Effect  string // allow, require, deny
	Rule    string
	Reason  string
	Risk    Risk
	Version int64
	// Differs: it is not what the request was judged to be.
	Differs bool
}

// Released is the input that ran, or would: as edited, if it was.
func (a *Approval) Released() string {
	if text, edit := a.Vote.ApprovedInput(); edit {
		return text
	}
	return a.ToolInputJSON
}

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
