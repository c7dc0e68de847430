package store

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"gorm.io/gorm"

	"countersign/models"
	"countersign/models/events"
)

// maxBatch is how many callers may share one commit.
const maxBatch = 256

// op is one caller's function on its way through a commit.
type op struct {
	fn     func(*tx) error
	turn   chan bool // true: lead the next batch; false: done
	anyway bool      // also when the disk is full

	result
}

// result is what a run of an op left; another run starts without.
type result struct {
	err      error
	refused  error // told to the caller although the transaction stands
	topics   []events.Topic
	settled  []*models.Approval
	activity []activity          // for the log
	noted    []models.ResponseID // a question about it was asked
	atOnce   *models.Approval    // settled at the ask: nobody waits for it
	access   bool
	sooner   bool
	wrote    bool
}

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

// write is the only way to change anything. The functions that have queued up
// run in one transaction, so that they share an fsync, and each caller hears
// only after the commit. A function that refuses before it wrote anything fails
// alone; if one fails after writing, or panics, the batch is rolled back and
// each runs again alone. So fn may run twice and must have no outside effects.
//
// The first caller commits for those who queue behind it: a goroutine of its own
// would cost a lone caller half its speed. Once queued, a call is not cancelled.
func (s *Store) write(ctx context.Context, fn func(*tx) error) error {
	if s.disk.full.Load() {
		return diskFull()
	}
	return s.queued(ctx, &op{fn: fn})
}

// writeAnyway is write for what must go on when the disk is full, with the space
// of the reserve: signing in and out, what takes rights away, and what ends a
// request without approving it.
func (s *Store) writeAnyway(ctx context.Context, fn func(*tx) error) error {
	return s.queued(ctx, &op{fn: fn, anyway: true})
}

func (s *Store) queued(ctx context.Context, o *op) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("before writing: %w", err)
	}
	leads, err := s.queue.join(o)
	if err != nil {
		return err
	}
	if !leads && !<-o.turn {
		s.logActivity(o)
		return o.told()
	}
	batch := s.queue.take(o)
	s.commitBatch(batch)
	s.queue.passOn()
	s.announce(batch)
	for _, other := range batch[1:] {
		other.turn <- false
	}
	s.logActivity(o)
	return o.told()
}

// told is what the caller hears.
func (o *op) told() error {
	if o.err != nil {
		return o.err
	}
	return o.refused
}

// commitBatch runs a batch in one transaction, or each alone if one spoilt it.
func (s *Store) commitBatch(batch []*op) {
	start := s.opts.Now()
	err := s.commit(batch)
	full := isDiskFull(err)
	if full {
		s.noSpace(err)
	}
	switch {
	case err == nil:
	case len(batch) > 1 || full && batch[0].anyway:
		for _, o := range batch {
			s.commitAlone(o)
		}
	case full:
		batch[0].err = diskFull()
	default:
		batch[0].err = err
	}
	if s.opts.Observe != nil && slices.ContainsFunc(batch, func(o *op) bool { return o.wrote }) {
		s.opts.Observe(len(batch), s.opts.Now().Sub(start))
	}
}

// commitAlone runs one of a batch that was rolled back.
func (s *Store) commitAlone(o *op) {
	if s.disk.full.Load() && !o.anyway {
		o.reset()
		o.err = diskFull()
		return
	}
	err := s.commit([]*op{o})
	if isDiskFull(err) {
		s.noSpace(err)
		err = diskFull()
	}
	if err != nil {
		o.err = err
	}
}

// commit runs all of batch in one transaction. Its error concerns the whole
// transaction; what refused without having written is in the op's own err.
func (s *Store) commit(batch []*op) (err error) {
	defer s.under.begin()()
	w, err := s.begin()
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.rollback(w))
		}
	}()
	if err := s.seesOutside(w); err != nil {
		return err
	}
	moved := false
	for _, o := range batch {
		o.reset()
		t := &tx{s: s, op: o, conn: conn{w: w}, hot: &w.hot, now: s.now()}
		o.refused, o.err = refused(t.run())
		o.wrote = t.conn.wrote
		if o.err != nil && t.conn.wrote {
			return o.err
		}
		moved = moved || t.moved
	}
	ctx := context.Background()
	if moved {
		if _, err := w.hot.setHead.ExecContext(ctx, w.known.head.Seq, w.known.head.Hash); err != nil {
			return fmt.Errorf("store ledger head: %w", err)
		}
	}
	if s.opts.BeforeCommit != nil {
		s.opts.BeforeCommit()
	}
	if _, err := w.commit.ExecContext(ctx); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// begin starts a transaction on the writing connection, opening it if need be.
// No caller can cancel it: with a context that ends, the driver would also start
// a goroutine a statement.
func (s *Store) begin() (*writer, error) {
	ctx := context.Background()
	if s.writer == nil {
		w, err := openWriter(ctx, s.w)
		if err != nil {
			return nil, err
		}
		s.writer = w
	}
	if _, err := s.writer.begin.ExecContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("begin: %w", err), s.dropWriter())
	}
	return s.writer, nil
}

// rollback undoes a batch. A connection that cannot do even that is given up.
func (s *Store) rollback(w *writer) error {
	w.known.drop()
	if _, err := w.rollback.ExecContext(context.Background()); err != nil {
		return errors.Join(fmt.Errorf("roll back: %w", err), s.dropWriter())
	}
	return nil
}

// dropWriter closes the writing connection; the next batch opens another.
func (s *Store) dropWriter() error {
	w := s.writer
	s.writer = nil
	if w == nil {
		return nil
	}
	return w.discard()
}

func (o *op) reset() {
	o.result = result{} // the rest is read by its caller, who waits meanwhile
}

// announce tells what was committed: first those who wait for an outcome, then
// the bus. It never blocks.
func (s *Store) announce(batch []*op) {
	access, sooner := false, false
	for _, o := range batch {
		if o.err != nil {
			continue
		}
		for _, a := range o.settled {
			s.waiters.tell(a)
		}
		for _, id := range o.noted {
			s.waiters.note(id)
		}
		s.observe(o)
		s.bus.Publish(o.topics...)
		access = access || o.access
		sooner = sooner || o.sooner
	}
	if access {
		s.access.drop()
		s.waiters.wakeAll()
		s.bus.Publish(events.Access)
	}
	if sooner {
		select {
		case s.deadline <- struct{}{}:
		default:
		}
	}
}

// tx is one caller's share of a transaction.
type tx struct {
	s     *Store
	op    *op
	conn  conn
	hot   *hotWriting
	now   time.Time
	moved bool // the ledger has grown
	// routed are the people, beside the owner, out of whose inboxes the last row
	// was taken that left pending.
	routed []models.UserID
	// running is whether the conversation in which a sequence was taken last, or that
	// the last row has left which left pending, is shown as running.
	running bool
	// passing: the next request ends as it begins, and nobody is waited for.
	passing bool
	// prepaid is energy that was spent already, on what the next response costs.
	prepaid int64
	g       *gorm.DB
}

// run calls the function and turns a panic into an error, so that neighbours
// are not lost with it.
func (t *tx) run() (err error) {
	defer func() {
		if p := recover(); p != nil {
			t.conn.wrote = true
			t.s.log.Error("a write panicked", "panic", p, "stack", string(debug.Stack()))
			err = models.Errorf(models.CodeInternal, "internal error")
		}
	}()
	return t.op.fn(t)
}

// gorm is the transaction through GORM, for everything that is not hot.
func (t *tx) gorm() *gorm.DB {
	if t.g == nil {
		t.g = t.s.gw.Session(&gorm.Session{NewDB: true, Context: context.Background()})
		t.g.Statement.ConnPool = &t.conn
	}
	return t.g
}

// publish names topics to announce after the commit.
func (t *tx) publish(topics ...events.Topic) { t.op.topics = append(t.op.topics, topics...) }

// tell hands the outcome to those who wait for it after the commit.
func (t *tx) tell(a *models.Approval) { t.op.settled = append(t.op.settled, a) }

// accessChanged drops cached credentials after the commit and has open waits
// and streams check theirs.
func (t *tx) accessChanged() {
	t.op.access = true
	clear(t.conn.w.known.enabled)
}

// deadlineStored wakes the expirer after the commit if at is not "none".
func (t *tx) deadlineStored(at time.Time) {
	if at.Before(models.NoDeadline) {
		t.op.sooner = true
	}
}

// exactlyOne checks a compare-and-set: an UPDATE that names the state it leaves
// must have changed one row.
func exactlyOne(n int64) bool { return n == 1 }
