package db

import (
	"runtime"
	"sync"
	"time"

	"countersign/models"
)

const (
	// maxBatch is how many callers may share one commit.
	maxBatch = 256
	// comeWithin is how long after a commit its callers are waited for, if they are at all:
	// an agent in a loop is back after a tenth of it.
	comeWithin = 2 * time.Millisecond
	// maxMissed bounds how seldom it is tried again: once in 2^maxMissed batches.
	maxMissed = 10
)

// queue gathers callers while the one before them commits.
type queue struct {
	mu      sync.Mutex
	waiting []*op
	leading bool
	closed  bool
	idle    chan struct{} // made by close, closed when the last leader is done

	// Whom the next leader expects (see gather).
	expected int           // callers whom the last commit told, or who waited when it ended
	ended    time.Time     // when that was
	took     time.Duration // how long it took
	arrived  chan struct{} // closed by the last of those expected; nil: no leader waits for them
	missed   int           // how often they did not come in time, less how often they did
	pause    int           // how many batches are not waited for after that
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
		if q.arrived != nil && len(q.waiting)+1 >= q.expected {
			close(q.arrived)
			q.arrived = nil
		}
		return false, nil
	}
	q.leading = true
	return true, nil
}

// gather is the leader's, before it takes its batch. It lets what can run now go first:
// callers on their way join, and share its fsync. The second time is for those whom the
// first have woken.
//
// Then it waits, for comeWithin after the last commit at most, until as many have come as
// that one told. Callers in a loop come back together, each as soon as it was told: who went
// at once would commit for the first of them, and make the others wait for the next commit.
// A lone caller is never kept waiting, nor is one who comes later than that. Where those
// expected do not come, or take longer than a commit would, ever fewer batches are waited
// for: somebody comes soon enough by chance where many call at times of their own.
func (q *queue) gather(now func() time.Time) {
	for range 2 {
		runtime.Gosched()
	}
	start := now()
	arrived, left := q.await(start)
	if arrived == nil {
		return
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-arrived:
	case <-timer.C:
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.arrived == nil && now().Sub(start) <= q.took {
		q.missed = max(0, q.missed-1)
		return
	}
	q.arrived = nil
	q.missed = min(q.missed+1, maxMissed)
	q.pause = 1 << q.missed
}

// await returns what is closed when those expected are here, and how long to wait for it;
// nil: not at all.
func (q *queue) await(now time.Time) (arrived <-chan struct{}, left time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	left = min(comeWithin, q.ended.Add(comeWithin).Sub(now)) // a clock may be set back
	if len(q.waiting)+1 >= q.expected || left <= 0 {
		return nil, 0
	}
	if q.pause > 0 {
		q.pause--
		return nil, 0
	}
	q.arrived = make(chan struct{})
	return q.arrived, left
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

// passOn makes the first who waits the next leader, after a commit for told callers.
func (q *queue) passOn(told int, began, ended time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.expected, q.ended, q.took = min(told+len(q.waiting), maxBatch), ended, ended.Sub(began)
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
