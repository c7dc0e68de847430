package models

// Status is the state of an approval. The column is NULL where none is needed; StatusNone is that NULL in Go.
type Status string

// The states of an approval.
const (
	StatusNone      Status = ""
	StatusPending   Status = "pending"
	StatusApproved  Status = "approved"
	StatusRejected  Status = "rejected"
	StatusExpired   Status = "expired"
	StatusCancelled Status = "cancelled"
	StatusResolved  Status = "resolved"
	// StatusRan is that of a call which its client reports to have run without an answer: it
	// was not approved, and nothing is to be decided. The column is NULL and the cause says it.
	StatusRan Status = "ran"
)

// Statuses is the list of all states of an approval, StatusNone aside.
func Statuses() []Status { return append([]Status{StatusPending}, FinalStatuses()...) }

// FinalStatuses is the list of the states that nothing changes any more.
func FinalStatuses() []Status {
	return []Status{StatusApproved, StatusRejected, StatusExpired, StatusCancelled, StatusResolved, StatusRan}
}

// Final reports whether nothing can change the status any more.
func (s Status) Final() bool {
	switch s {
	case StatusApproved, StatusRejected, StatusExpired, StatusCancelled, StatusResolved, StatusRan:
		return true
	case StatusNone, StatusPending:
		return false
	}
	return false
}

// StatusIn is the status of a row whose column and cause are read.
func StatusIn(column Status, cause Cause) Status {
	if column == StatusNone && cause == CauseFallback {
		return StatusRan
	}
	return column
}
