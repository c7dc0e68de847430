package store

import (
	"context"
	"sync"
	"time"

	"countersign/models"
)

// rereadEvery is how long a wait trusts that it would have been told.
const rereadEvery = 15 * time.Second

// waiters are the callers that sleep until an approval settles.
type waiters struct {
	mu    sync.Mutex
	byID  map[models.ResponseID][]chan *models.Approval
	notes map[models.ResponseID][]chan *models.Approval // those of them that a question wakes
	count int
	of    map[string]int // by the asking agent's or person's id

	present map[models.ResponseID]*presence // of agents
	agents  int                             // how many agents wait
	ofOwner map[string]int                  // and whose

	again chan struct{} // closed and replaced: everyone reads again
}

func (w *waiters) init() {
	w.byID = make(map[models.ResponseID][]chan *models.Approval)
	w.notes = make(map[models.ResponseID][]chan *models.Approval)
	w.of = make(map[string]int)
	w.present = make(map[models.ResponseID]*presence)
	w.ofOwner = make(map[string]int)
	w.again = make(chan struct{})
}

func (w *waiters) add(actor models.Actor, id models.ResponseID, ch chan *models.Approval, notes bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.byID[id] = append(w.byID[id], ch)
	if notes {
		w.notes[id] = append(w.notes[id], ch)
	}
	w.count++
	w.of[actor.ID]++
}

func (w *waiters) remove(actor models.Actor, id models.ResponseID, ch chan *models.Approval, notes bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	leave(w.byID, id, ch)
	if notes {
		leave(w.notes, id, ch)
	}
	w.count--
	if w.of[actor.ID]--; w.of[actor.ID] == 0 {
		delete(w.of, actor.ID)
	}
}

func leave(byID map[models.ResponseID][]chan *models.Approval, id models.ResponseID, ch chan *models.Approval) {
	list := byID[id]
	for i := range list {
		if list[i] == ch {
			list[i] = list[len(list)-1]
			list = list[:len(list)-1]
			break
		}
	}
	if len(list) == 0 {
		delete(byID, id)
	} else {
		byID[id] = list
	}
}

// tell hands an outcome, which is committed, to those who wait for it: they need
// not read it again. It is shared, so nobody may change it.
func (w *waiters) tell(a *models.Approval) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.forget(a.ID)
	for _, ch := range w.byID[a.ID] {
		select {
		case ch <- a:
		default: // it was told already and has not looked yet
		}
	}
}

// note has those read again who want to hear of questions about a request.
func (w *waiters) note(id models.ResponseID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, ch := range w.notes[id] {
		select {
		case ch <- nil:
		default: // it reads again in any case
		}
	}
}

// wakeAll has every waiter read again, after something changed that names no row.
func (w *waiters) wakeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	close(w.again)
	w.again = make(chan struct{})
}

func (w *waiters) turn() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.again
}

func (w *waiters) len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.count
}

// Await returns the approval as soon as it is settled, or as it stands after
// wait. It registers first, then reads, then sleeps, so that a decision made
// before the wait is never missed; it reads again at the deadline and every 15 s
// at the latest. A credential that is revoked meanwhile ends it with
// CodeUnauthenticated, a stopping server with the row as it stands, and a caller
// that goes away with its context's error.
func (s *Store) Await(ctx context.Context, actor models.Actor, id models.ResponseID, wait time.Duration, opts ...WatchOption) (*models.Approval, error) {
	if wait <= 0 {
		return s.Approval(ctx, actor, id)
	}
	w := s.Watch(actor, id, wait, opts...)
	defer w.Close()
	for {
		a, done, err := w.Look(ctx)
		if done || err != nil {
			return a, err
		}
		told, err := w.Sleep(ctx)
		switch {
		case told != nil || err != nil:
			return told, err
		case w.ending:
			return a, nil
		}
	}
}

// EndWaits makes open and future waits return the row as it stands: the first
// step of a shutdown.
func (s *Store) EndWaits() { s.endOnce.Do(func() { close(s.ending) }) }

// Waiters counts the callers that are blocked in Await now.
func (s *Store) Waiters() int { return s.waiters.len() }
