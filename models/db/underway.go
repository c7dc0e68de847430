package db

import "sync"

// underway is the transaction that is being made now. A verdict in it may have
// come in time although the deadline has passed since.
type underway struct {
	mu   sync.Mutex
	done chan struct{} // closed when it is over; nil: there is none
}

// begin is called before anything of a transaction is judged, and what it returns
// after the commit.
func (u *underway) begin() (end func()) {
	done := make(chan struct{})
	u.mu.Lock()
	u.done = done
	u.mu.Unlock()
	return func() {
		u.mu.Lock()
		u.done = nil
		u.mu.Unlock()
		close(done)
	}
}

// wait returns when the transaction that is under way is over.
func (u *underway) wait() {
	u.mu.Lock()
	done := u.done
	u.mu.Unlock()
	if done != nil {
		<-done
	}
}

// AwaitUnderway returns when the transaction that is under way now is over, if there is
// one: what it stores can be read then.
func (d *DB) AwaitUnderway() { d.under.wait() }
