package models

import "time"

// CallDetail is what a page of a run shows of a tool call beside its approval.
type CallDetail struct {
	ID              ResponseID
	Sequence        int64
	BatchID         string // empty: none is known
	Place, Of       int    // in its batch, from 1; 0: none
	ParentToolUseID string // the call that started the sub-agent whose it is
	ReportedAt      *time.Time
	Completed       bool
	CompletedAt     *time.Time
	OpenSince       *time.Time // of one without a result: reported, or decided since
	IsError         bool
	Denial          bool   // it was rejected: its result is how the agent reports that
	Result          string // its beginning
	ResultBytes     int64  // its true length
	Closed          ClosedBy
	Contradiction   string // a report that contradicts the stored row; empty: none
	MatchedBy       MatchedBy
	CascadedFrom    *CallPlace // the call with which it was rejected
}

// CallPlace is the place of a call.
type CallPlace struct {
	ID       ResponseID
	Sequence int64
	Place    int // in its batch, from 1
}

// CallResult is the whole stored result of a call.
type CallResult struct {
	Completed bool
	IsError   bool
	Result    string
	Bytes     int64 // its true length
}

// RunLink leads to a run that started another, or was started by it.
type RunLink struct {
	ID        ConversationID
	RunID     string
	Title     string
	Status    ConversationStatus
	AgentName string
	CreatedAt time.Time
}

// RanAnyway says what a result contradicts, at now; empty: nothing. An error is
// no contradiction: so an agent reports that a call was denied.
func (r *Response) RanAnyway(now time.Time) string {
	if !r.IsCompleted || r.Closed != "" || r.IsError {
		return ""
	}
	switch r.StateAt(now) {
	case StatusRejected, StatusExpired, StatusCancelled:
		return "The agent reported a result although the call was " + string(r.StateAt(now)) + "."
	case StatusNone, StatusPending, StatusApproved, StatusResolved, StatusRan:
	}
	return ""
}
