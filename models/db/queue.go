package db

import (
	"runtime"
	"sync"

	"countersign/models"
)

// maxBatch is how many callers may share one commit.
const maxBatch = 256

// queue gathers callers while the one before them commits.
type queue struct {
	mu      sync.Mutex
	waiting []*op
	leading bool
	closed  bool
	idle    chan struct{} // made by close, closed when the last leader is done
}

// join enters o and reports whether it leads at once.
func (q *queue) join(o *op) (leads bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false, models.Errorf(models.CodeUnavailable, "The server is stopping.")
	}
	if q.leading {
		o.turn = make(chan bool, 1)
		q.waiting = append(q.waiting, o)
		return false, nil
	}
	q.leading = true
	return true, nil
}

// gather is the leader's, before it takes its batch. It lets what can run now go first:
// callers on their way join, and share its fsync. The second time is for those whom the
// first have woken.
func (*queue) gather() {
	for range 2 {
		runtime.Gosched()
	}
}

// take returns the leader and those who queued up behind it.
func (q *queue) take(leader *op) []*op {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := min(len(q.waiting), maxBatch-1)
	batch := make([]*op, 0, n+1)
	batch = append(append(batch, leader), q.waiting[:n]...)
	q.waiting = append(q.waiting[:0:0], q.waiting[n:]...)
	return batch
}

// passOn makes the first who waits the next leader.
func (q *queue) passOn() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) > 0 {
		next := q.waiting[0]
		q.waiting = q.waiting[1:]
		next.turn <- true
		return
	}
	q.leading = false
	if q.idle != nil {
		close(q.idle)
		q.idle = nil
	}
}

// close refuses new callers and waits for those already in.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	var idle chan struct{}
	if q.leading {
		idle = make(chan struct{})
		q.idle = idle
	}
	q.mu.Unlock()
	if idle != nil {
		<-idle
	}
}
