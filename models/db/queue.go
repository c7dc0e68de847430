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
	mu        sync.Mutex
	ops       []*op
	hasLeader bool
	isOver    bool
	idle      chan struct{} // made by close, closed when the last leader is done
}

// join enters o and reports whether it leads at once.
func (q *queue) join(o *op) (leads bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.isOver {
		return false, models.Errorf(models.CodeUnavailable, "The server is stopping.")
	}
	if q.hasLeader {
		o.turn = make(chan bool, 1)
		q.ops = append(q.ops, o)
		return false, nil
	}
	q.hasLeader = true
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
	n := min(len(q.ops), maxBatch-1)
	batch := make([]*op, 0, n+1)
	batch = append(append(batch, leader), q.ops[:n]...)
	q.ops = append(q.ops[:0:0], q.ops[n:]...)
	return batch
}

// passOn makes the first who waits the next leader.
func (q *queue) passOn() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.ops) > 0 {
		next := q.ops[0]
		q.ops = q.ops[1:]
		next.turn <- true
		return
	}
	q.hasLeader = false
	if q.idle != nil {
		close(q.idle)
		q.idle = nil
	}
}

// close refuses new callers and waits for those already in.
func (q *queue) close() {
	q.mu.Lock()
	q.isOver = true
	var idle chan struct{}
	if q.hasLeader {
		idle = make(chan struct{})
		q.idle = idle
	}
	q.mu.Unlock()
	if idle != nil {
		<-idle
	}
}
