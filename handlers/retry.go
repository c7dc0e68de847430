package handlers

import "net/http"

// HintRetry says when to send the same again, in the answer to a wait that ends without an outcome:
// after a second if ended is closed, for then the server stops, and would answer at once again.
func HintRetry(h http.Header, ended <-chan struct{}) {
	select {
	case <-ended:
		h.Set("Retry-After", "1")
	default:
	}
}
