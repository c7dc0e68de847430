package db

import (
	"context"
	"sync"
)

// currentTx is the transaction that runs now. A decision in it may have come in time
// although the deadline has passed since.
type currentTx struct {
	mu   sync.Mutex
	done chan struct{} // closed when it is over; nil: there is none
}

// begin is called before anything in a transaction is judged. Call end after the
// commit.
func (u *currentTx) begin() (end func()) {
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

// wait returns when the transaction that runs now is over.
func (u *currentTx) wait() {
	u.mu.Lock()
	done := u.done
	u.mu.Unlock()
	if done != nil {
		<-done
	}
}

// AwaitCurrentTx waits for the end of the transaction that runs now, here or on another node, if there is one:
// then what it stores can be read.
func (d *DB) AwaitCurrentTx(ctx context.Context) error {
	d.under.wait()
	return d.engine.awaitOthers(ctx, d)
}
