package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"countersign/models"
	"countersign/models/db"
	"countersign/models/events"
	"countersign/models/requests"
)

// rereadEvery is how long a wait trusts that it would have been told.
var rereadEvery = 15 * time.Second

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

	untold map[models.ResponseID]struct{} // presences that other servers do not know; nil: there are none to know
	toTell chan struct{}
}

func (w *waiters) init(shared bool) {
	w.toTell = make(chan struct{}, 1)
	if shared {
		w.untold = make(map[models.ResponseID]struct{})
	}
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

// tell hands a committed outcome to its waiters, so that they need not read it again. They share it and must not
// change it.
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

// lookAgain has the waiters of a request read it again: another process has changed it.
func (w *waiters) lookAgain(id models.ResponseID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, ch := range w.byID[id] {
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

// Await returns the approval as soon as it is settled, or its current state after wait. It registers first, then
// reads, then sleeps, so that it never misses a decision made before the wait; it reads again at the deadline and
// every 15 s at the latest. A credential that is revoked meanwhile ends it with CodeUnauthenticated, a stopping server
// with the current row, and a caller that goes away with its context's error.
func (s *Store) Await(
	ctx context.Context, actor models.Actor, id models.ResponseID, wait time.Duration, opts ...WatchOption,
) (*models.Approval, error) {
	if wait <= 0 {
		return s.Requests.Approval(ctx, actor, id)
	}
	w := s.Watch(ctx, actor, id, wait, opts...)
	defer w.Close()
	for {
		a, done, err := w.Look(ctx)
		if done || err != nil {
			return a, err
		}
		told, err := w.Sleep(ctx)
		if told != nil || err != nil {
			return told, err
		}
	}
}

// EndWaits makes open and future waits return the current row: the first step of a shutdown.
func (s *Store) EndWaits() { s.endOnce.Do(func() { close(s.end) }) }

// WaitsEnded is closed once EndWaits was called: a row that a wait returns pending from then
// on was not waited for to the end.
func (s *Store) WaitsEnded() <-chan struct{} { return s.end }

// Waiters counts the callers that are blocked in Await now.
func (s *Store) Waiters() int { return s.waiters.len() }

// Watch is a wait in its two halves, for surfaces on which thousands sleep: Look
// reads, deep in the database driver; Sleep does not, and holds nothing. A
// goroutine that only sleeps keeps a small stack. Await is both in a loop.
type Watch struct {
	s       *Store
	caller  context.Context //nolint:containedctx // for lines of the log only
	actor   models.Actor
	id      models.ResponseID
	outcome chan *models.Approval // nil: look again
	again   <-chan struct{}
	end     *time.Timer
	reread  *time.Timer

	over   atomic.Bool // the wait is over: answer with the current row
	check  bool        // the credential is to be looked at: something about access changed
	stops  bool        // the server stops
	closed bool        // the request is settled
	enters bool        // it is noted that the agent waits

	start time.Time
	way   string        // by which the agent waits
	notes bool          // a question about the request ends it too
	seen  models.NoteID // but not this one, which the caller has
}

// WatchOption changes what ends a wait.
type WatchOption func(*Watch)

// SeenNote has a question about the request end the wait too, other than the one
// that the caller has seen; empty: none.
func SeenNote(id models.NoteID) WatchOption {
	return func(w *Watch) { w.notes, w.seen = true, id }
}

// ByWay names the way by which an agent waits, for GiveUp: another name is another way.
// Waits without a name are one way together.
func ByWay(name string) WatchOption { return func(w *Watch) { w.way = name } }

// Watch registers a caller that waits up to wait for an outcome. Registering
// comes before the first Look, so that no decision is missed. ctx names the caller in
// the log and ends nothing. Close it.
func (s *Store) Watch(
	ctx context.Context, actor models.Actor, id models.ResponseID, wait time.Duration, opts ...WatchOption,
) *Watch {
	w := &Watch{s: s, caller: ctx, actor: actor, id: id, outcome: make(chan *models.Approval, 1)}
	for _, opt := range opts {
		opt(w)
	}
	// Timers that call need neither a channel nor a place in Sleep's select: with
	// thousands of sleepers that is felt.
	w.end = time.AfterFunc(wait, func() { w.over.Store(true); w.rouse() })
	w.reread = time.AfterFunc(rereadEvery, w.rouse)
	s.waiters.add(actor, id, w.outcome, w.notes)
	w.start = s.db.Now()
	w.logWait("wait begun", slog.Duration("longest", wait))
	return w
}

// rouse ends the sleep. If an outcome was told at the same time, that one wins.
func (w *Watch) rouse() {
	select {
	case w.outcome <- nil:
	default:
	}
}

// Close ends the registration.
func (w *Watch) Close() {
	if w.enters {
		w.s.waiters.exit(w.id, w.closed, w.way, w.s.db.Now())
	}
	w.s.waiters.remove(w.actor, w.id, w.outcome, w.notes)
	if w.enters && !w.closed && w.s.db.Bus().Subscribers(events.Presence(string(w.id))) > 0 {
		time.AfterFunc(presenceGrace, func() { w.s.tellPresence(w.id) }) // it may wait again at once
	}
	w.end.Stop()
	w.reread.Stop()
	w.logWait("wait ended", slog.Duration("waited", w.s.db.Now().Sub(w.start)))
}

// Look reads the request. done says that it is the answer: it is settled, has a new question, or
// the wait is over. Otherwise a is nil. CodeUnauthenticated if the credential was revoked
// meanwhile.
func (w *Watch) Look(ctx context.Context) (a *models.Approval, done bool, err error) {
	over := w.over.Load()        // before the read, which is then the answer
	w.again = w.s.waiters.turn() // before check and read, or a change after them would be slept through
	if w.check {
		w.check = false
		if err := w.s.People.CheckCredential(ctx, w.actor); err != nil {
			return nil, false, err
		}
	}
	r, err := w.s.state(ctx, w.actor, w.id)
	if err != nil {
		return nil, false, err
	}
	if over || w.stops || r.StateAt(w.s.db.Now()) != models.StatusPending || w.asked(r) {
		if a, err = w.s.Requests.Approval(ctx, w.actor, w.id); err != nil {
			return nil, false, err
		}
		w.closed = a.Status() != models.StatusPending
		if done = over || w.stops || w.closed || w.asked(&a.Response); done {
			return a, true, nil
		}
		r = &a.Response // a decision in time was being committed, and was not: see Approval
	}
	next := rereadEvery
	// A deadline that has passed while a verdict holds the row ends nothing:
	// whatever ends the hold tells.
	if left := r.ApprovalTimeoutAt.Sub(w.s.db.Now()); left > 0 || r.HeldUntil == nil {
		next = min(next, max(left, time.Millisecond))
	}
	w.reread.Reset(next)
	if !w.enters && w.actor.IsAgent() {
		w.enters = true // only now is it known that there is such a request, and whose
		w.s.waiters.enter(r.OwnerID, w.id, w.way, w.s.db.Now())
		w.s.tellPresence(w.id)
	}
	return nil, false, nil
}

// stateRow is what a wait reads of a request that is pending: whether to go on, and who may see it.
var stateRow = requests.ResponseRow.Only("id", "owner_id", "agent_id", "kind", "approval_status", "cause",
	"reported_at", "approval_timeout_at", "held_until", "open_note")

var stateByID = `SELECT ` + stateRow.Columns("r", nil) + ` FROM responses r WHERE r.id = ?`

// state reads the columns of stateRow, for an actor who may see the request.
func (s *Store) state(ctx context.Context, actor models.Actor, id models.ResponseID) (*models.Response, error) {
	ctx = context.WithoutCancel(ctx)
	r, err := db.ReaderOf[models.Response](stateRow).Read(s.db.Row(ctx, s.reads.state, stateByID, id))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, requests.NoSuchApproval(id)
	}
	if err != nil {
		return nil, fmt.Errorf("read request: %w", err)
	}
	if sees, err := s.Requests.MaySee(ctx, actor, &r); err != nil {
		return nil, err
	} else if !sees || r.Unasked() {
		return nil, requests.NoSuchApproval(id)
	}
	return &r, nil
}

// observe reports how fast a decision has come here.
func (w *Watch) observe(a *models.Approval) {
	if a != nil && w.s.opts.ObserveTold != nil && a.Cause == models.CauseReviewer && a.ApprovalTimestamp != nil {
		w.s.opts.ObserveTold(w.s.db.Now().Sub(*a.ApprovalTimestamp))
	}
}

// asked reports whether the row carries a question that the caller has not seen.
func (w *Watch) asked(r *models.Response) bool {
	return w.notes && r.OpenNote != nil && *r.OpenNote != w.seen
}

// Sleep returns the outcome when it arrives, nil when it is time to Look again, and the context's error when the
// caller went away.
func (w *Watch) Sleep(ctx context.Context) (*models.Approval, error) {
	select {
	case a := <-w.outcome:
		select {
		case <-w.again: // an outcome is not told before it is known that the credential is good
			w.check = true
			return nil, nil //nolint:nilnil // Look tells
		default:
		}
		w.closed = w.closed || a != nil
		w.observe(a)
		return a, nil
	case <-w.again:
		w.check = true
	case <-w.s.end:
		w.stops = true
	case <-ctx.Done():
		return nil, ctx.Err() //nolint:wrapcheck // the caller's own
	}
	return nil, nil //nolint:nilnil // Look tells
}

// AwaitHistory returns the entries after a sequence number as soon as there are any, or none after wait. A credential
// that is revoked meanwhile ends it with CodeUnauthenticated, a stopping server with the current entries. After 0 is
// everything.
func (s *Store) AwaitHistory(
	ctx context.Context, actor models.Actor, id models.ConversationID, after int64, limit int, wait time.Duration,
) (*models.History, error) {
	if after <= 0 {
		after = requests.FromStart
	}
	sub := s.db.Bus().Subscribe(1, events.Conversation(string(id)), events.Access, events.Outside)
	defer sub.Close()
	end := time.NewTimer(wait)
	defer end.Stop()
	reread := time.NewTicker(rereadEvery)
	defer reread.Stop()
	for {
		h, err := s.Requests.History(ctx, actor, id, requests.HistoryQuery{After: after, Limit: limit})
		if err != nil || len(h.Entries) > 0 || wait <= 0 {
			return h, err
		}
		select {
		case <-sub.C:
		case <-sub.Lag:
		case <-reread.C:
		case <-end.C:
			return h, nil
		case <-s.end:
			return h, nil
		case <-ctx.Done():
			return nil, ctx.Err() //nolint:wrapcheck // the caller's own
		}
		if err := s.People.CheckCredential(ctx, actor); err != nil {
			return nil, err
		}
	}
}
