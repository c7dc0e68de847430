package db

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"

	"countersign/models"
	"countersign/models/events"
)

// op is one caller's function on its way through a commit.
type op struct {
	ctx    context.Context
	fn     func(*Tx) error
	turn   chan bool // true: lead the next batch; false: done
	anyway bool      // also when the disk is full

	result
}

// result is what a run of an op left; another run starts without.
type result struct {
	tx      *Tx
	err     error
	refusal error // returned to the caller although the transaction commits
}

// Write is the only way to change anything. The functions that have queued up
// run in one transaction, so that they share an fsync, and each caller hears
// only after the commit. A function that refuses before it wrote anything fails
// alone; if one fails after writing, or panics, the batch is rolled back and
// each runs again alone. So fn may run twice and must have no outside effects.
//
// The first caller commits for those who queue behind it: a goroutine of its own
// would cost a lone caller half its speed. Once queued, a call is not cancelled.
func (d *DB) Write(ctx context.Context, fn func(*Tx) error) error {
	if d.disk.full.Load() {
		return DiskFull()
	}
	return d.queued(ctx, &op{ctx: ctx, fn: fn})
}

// WriteAnyway is Write for what must go on when the disk is full, with the space
// of the reserve: signing in and out, what takes rights away, and what ends a
// request without approving it.
func (d *DB) WriteAnyway(ctx context.Context, fn func(*Tx) error) error {
	return d.queued(ctx, &op{ctx: ctx, fn: fn, anyway: true})
}

func (d *DB) queued(ctx context.Context, o *op) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("before writing: %w", err)
	}
	leads, err := d.queue.join(o)
	if err != nil {
		return err
	}
	if !leads && !<-o.turn {
		return d.answer(ctx, o.callerErr())
	}
	d.queue.gather()
	batch := d.queue.take(o)
	d.commitBatch(batch)
	d.queue.passOn()
	d.announce(batch)
	for _, other := range batch[1:] {
		other.turn <- false
	}
	return d.answer(ctx, o.callerErr())
}

// callerErr is the error that the caller gets.
func (o *op) callerErr() error {
	if o.err != nil {
		return o.err
	}
	return o.refusal
}

// commitBatch runs a batch in one transaction, or each alone if one spoilt it.
func (d *DB) commitBatch(batch []*op) {
	began := d.clock.Now()
	err := d.commit(batch)
	full := d.engine.full(err)
	if full {
		d.noSpace(err)
	}
	switch {
	case err == nil:
	case d.loss.gone: // it was tried long enough, and one of them may be in the database
		for _, o := range batch {
			o.err = err
		}
	case len(batch) > 1 || full && batch[0].anyway:
		for _, o := range batch {
			d.commitAlone(o)
		}
	case full:
		batch[0].err = DiskFull()
	default:
		batch[0].err = err
	}
	if d.opts.Observe != nil && slices.ContainsFunc(batch, func(o *op) bool { return o.tx != nil && o.tx.wrote }) {
		d.opts.Observe(len(batch), d.clock.Now().Sub(began))
	}
}

// commitAlone runs one of a batch that was rolled back.
func (d *DB) commitAlone(o *op) {
	if d.disk.full.Load() && !o.anyway {
		o.reset()
		o.err = DiskFull()
		return
	}
	err := d.commit([]*op{o})
	if d.engine.full(err) {
		d.noSpace(err)
		err = DiskFull()
	}
	if err != nil {
		o.err = err
	}
}

// attempt runs all of batch in one transaction. Its error concerns the whole
// transaction; what refused without having written is in the op's own err.
func (d *DB) attempt(batch []*op) (err error) {
	if err := d.engine.present(nil); err != nil {
		return err
	}
	w, err := d.begin()
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.rollback(w))
		}
	}()
	if err := errors.Join(d.engine.present(w), d.seesOutside(w)); err != nil {
		return err
	}
	for _, o := range batch {
		o.reset()
		t := &Tx{d: d, conn: conn{w: w}, Now: d.Now(), Caller: o.ctx}
		o.tx = t
		o.refusal, o.err = Refused(d.run(o.fn, t))
		if o.err != nil && t.wrote {
			return o.err
		}
	}
	for _, room := range d.rooms {
		if room.BeforeCommit == nil {
			continue
		}
		if err := room.BeforeCommit(); err != nil {
			return err
		}
	}
	if d.opts.BeforeCommit != nil {
		d.opts.BeforeCommit()
	}
	wrote := slices.ContainsFunc(batch, func(o *op) bool { return o.tx.wrote })
	if wrote {
		if d.loss.batch, err = d.engine.mark(w, topicsOf(batch)); err != nil {
			return err
		}
	}
	if err := w.commit.Run(); err != nil {
		d.loss.unknown = wrote && d.engine.lost(err)
		return fmt.Errorf("commit: %w", err)
	}
	if wrote {
		d.faults.committed(d.log)
		d.heard.add(d.loss.batch)
	}
	for _, room := range d.rooms {
		if room.OnCommit != nil {
			room.OnCommit()
		}
	}
	return nil
}

// topicsOf are what a batch changes.
func topicsOf(batch []*op) (topics []events.Topic) {
	for _, o := range batch {
		if o.err == nil {
			topics = append(topics, o.tx.topics...)
		}
	}
	return topics
}

// begin starts a transaction on the writing connection, opening it if need be.
// No caller can cancel it: with a context that ends, the driver would also start
// a goroutine a statement.
func (d *DB) begin() (*writer, error) {
	ctx := context.Background()
	if d.writer == nil {
		w, err := d.openWriter(ctx)
		if err != nil {
			return nil, err
		}
		d.writer = w
	}
	if err := d.writer.begin.Run(); err != nil {
		return nil, errors.Join(fmt.Errorf("begin: %w", err), d.dropWriter())
	}
	return d.writer, nil
}

// rollback undoes a batch. A connection that cannot do even that is given up.
func (d *DB) rollback(w *writer) error {
	d.forget()
	if err := w.rollback.Run(); err != nil {
		return errors.Join(fmt.Errorf("roll back: %w", err), d.dropWriter())
	}
	return nil
}

// dropWriter closes the writing connection; the next batch opens another.
func (d *DB) dropWriter() error {
	w := d.writer
	d.writer = nil
	if w == nil {
		return nil
	}
	return w.discard()
}

func (o *op) reset() {
	o.result = result{} // the rest is read by its caller, who waits meanwhile
}

// announce runs what the callers registered for after the commit, then publishes
// their topics on the bus. It never blocks.
func (d *DB) announce(batch []*op) {
	for _, o := range batch {
		if o.err != nil {
			continue
		}
		for _, fn := range o.tx.afterCommit {
			fn()
		}
		d.bus.Publish(o.tx.topics...)
	}
}

// run calls the function and turns a panic into an error, so that neighbours are not
// lost with it.
func (d *DB) run(fn func(*Tx) error, t *Tx) (err error) {
	defer func() {
		if p := recover(); p != nil {
			t.wrote = true
			d.log.ErrorContext(t.Caller, "a write panicked", slog.Any("panic", p), slog.String("stack", string(debug.Stack())))
			err = models.Errorf(models.CodeInternal, "internal error")
		}
	}()
	return fn(t)
}
