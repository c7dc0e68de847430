package handlers

import (
	"context"
	"net/http"
	"time"
)

// How long a client may keep a connection: to send a request, and to take the
// answer. Waits and streams set their own.
const (
	HeaderTimeout = 10 * time.Second
	ReadTimeout   = 30 * time.Second
	WriteTimeout  = time.Minute
	IdleTimeout   = 2 * time.Minute

	// unreadTimeout is how long the rest of an unread body is accepted.
	unreadTimeout = time.Second
	// slowReader is how long one write to a stream may take before its reader is
	// given up.
	slowReader = 10 * time.Second
	// quietStream is how long a stream may be without a write.
	quietStream = time.Minute
)

// after is the deadline of a socket, in the machine's own time.
func after(d time.Duration) time.Time {
	return time.Now().Add(d) //nolint:forbidigo // no rule of the product hangs on it
}

// ExtendDeadlines lets an answer begin later than others, by as much as wait. ctx is the
// request's, which the log does not call slow then.
func ExtendDeadlines(ctx context.Context, w http.ResponseWriter, wait time.Duration) {
	noteWait(ctx)
	rc, until := http.NewResponseController(w), after(wait+WriteTimeout)
	_ = rc.SetReadDeadline(until) // who is gone is noticed by reading
	_ = rc.SetWriteDeadline(until)
}

// WriteWithin gives the reader of an answer so much time to take later writes.
func WriteWithin(w http.ResponseWriter, d time.Duration) {
	_ = http.NewResponseController(w).SetWriteDeadline(after(d))
}
