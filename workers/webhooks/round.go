package webhooks

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"countersign/models"
	"countersign/models/ledger"
	"countersign/models/webhooks"
	"countersign/workers"
)

// round is all that is being sent. Only one goroutine uses it.
type round struct {
	w     *Worker
	lease *models.Lease

	all      []*endpoint
	turn     int // who is first to get room
	attempts int // attempts
	done     chan attempt
	keepNow  bool
	again    bool // endpoints are to be read again

	tail []models.Entry // the entries that were read last, for endpoints close behind
}

func newRound(w *Worker, l *models.Lease) *round {
	return &round{w: w, lease: l, done: make(chan attempt)}
}

// grew has all look for entries again.
func (r *round) grew() {
	for _, e := range r.all {
		e.atHead = false
	}
}

// recovered has what could not be done tried again.
func (r *round) recovered() {
	for _, e := range r.all {
		e.fault = false
	}
}

// failed reports whether something could not be done.
func (r *round) failed() bool {
	return slices.ContainsFunc(r.all, func(e *endpoint) bool { return e.fault })
}

// step does what can be done now, without waiting for an endpoint.
func (r *round) step(ctx context.Context, reload bool) error {
	if reload || r.again {
		r.again = false
		if err := r.reload(ctx); err != nil {
			return err
		}
	}
	if err := r.begin(ctx); err != nil {
		return err
	}
	enough := slices.ContainsFunc(r.all, func(e *endpoint) bool { return e.accepts >= keepAfter || e.pause != "" })
	if !r.keepNow && !enough {
		return nil
	}
	r.keepNow = false
	return r.keep(ctx)
}

// reload reads which endpoints there are. What somebody has moved is begun from where it is
// now, once nothing is on its way to it.
func (r *round) reload(ctx context.Context) error {
	stored, err := r.w.o.Store.Webhooks.Endpoints(ctx)
	if err != nil {
		return err
	}
	var all []*endpoint
	for _, e := range r.all {
		i := slices.IndexFunc(stored, func(s *webhooks.Endpoint) bool { return s.ID == e.ID })
		switch {
		case i < 0:
			if e.closes = true; len(e.busy) > 0 || e.dirty {
				all = append(all, e)
			}
			continue
		case stored[i].Position != e.Position || e.stale || e.closes:
			if e.stale = true; len(e.busy) == 0 {
				e = newEndpoint(stored[i])
			}
		default:
			e.Endpoint = stored[i]
		}
		all = append(all, e)
		stored = slices.Delete(stored, i, i+1)
	}
	for _, s := range stored {
		if s.Fault != nil {
			r.w.o.Log.ErrorContext(ctx, "a webhook's target can't be opened", slog.String("webhook", string(s.ID)),
				slog.String("error", s.Fault.Error()))
		}
		all = append(all, newEndpoint(s))
	}
	r.all = all
	now := r.w.o.Store.Now()
	for _, e := range r.all {
		e.setBack(now)
	}
	return nil
}

// begin begins as many attempts as there is room for, one endpoint after another.
func (r *round) begin(ctx context.Context) error {
	for idle := 0; idle < len(r.all); {
		r.turn = (r.turn + 1) % len(r.all)
		began, err := r.beginOne(ctx, r.all[r.turn])
		if err != nil {
			return err
		}
		if idle++; began {
			idle = 0
		}
	}
	return nil
}

// beginOne begins the next attempt of one endpoint, if it may have one.
func (r *round) beginOne(ctx context.Context, e *endpoint) (bool, error) {
	if e.idle() || !r.hasRoom(e) {
		return false, nil
	}
	if len(e.window) == 0 && (!e.down || e.alive) { // reading goes on, however many of the read entries are blocked
		if _, err := r.fill(ctx, e); err != nil {
			return false, err
		}
	}
	now := r.w.o.Store.Now()
	first, second := r.beginBlock, r.beginItem
	if e.down && e.probes%2 == 1 { // by turns, so that neither waiting nor new events hide that it works
		first, second = second, first
	}
	if began, err := first(ctx, e, now); began || err != nil {
		return began, err
	}
	return second(ctx, e, now)
}

// beginBlock retries a refused event, if one is due.
func (r *round) beginBlock(ctx context.Context, e *endpoint, now time.Time) (bool, error) {
	for b := e.dueBlock(now); b != nil; b = e.dueBlock(now) {
		entry, err := r.blocked(ctx, b)
		if err != nil {
			return false, err
		}
		if entry != nil && e.Wants(entry.Action) {
			r.start(ctx, attempt{e: e, entry: *entry, stream: b.Stream, number: b.Attempts + 1, start: now})
			return true, nil
		}
		if err := r.follow(ctx, e, b, now); err != nil { // it is not wanted any more
			return false, err
		}
	}
	return false, nil
}

// beginItem sends the next that was not sent yet.
func (r *round) beginItem(ctx context.Context, e *endpoint, now time.Time) (bool, error) {
	for {
		if it := e.nextItem(now); it != nil {
			r.start(ctx, attempt{e: e, it: it, entry: it.entry, stream: it.stream, number: 1, start: now})
			return true, nil
		}
		if e.down && !e.alive {
			return false, nil
		}
		if more, err := r.fill(ctx, e); err != nil || !more {
			return false, err
		}
	}
}

// hasRoom reports whether another attempt may begin. Each endpoint may always have one, so that
// no number of endpoints that keep us waiting holds up another. More than that only those have
// that are quick to answer.
func (r *round) hasRoom(e *endpoint) bool {
	return len(e.busy) == 0 || !e.lame() && len(e.busy) < r.w.o.PerEndpoint && r.attempts < r.w.o.Concurrency
}

// fill reads on in the ledger; false: there is no room or nothing more.
func (r *round) fill(ctx context.Context, e *endpoint) (bool, error) {
	before := e.cursor()
	if e.atHead || e.full() || len(e.window) >= window {
		return false, nil
	}
	page, err := r.after(ctx, e.read)
	if err != nil {
		return false, err
	}
	for _, entry := range page {
		e.take(entry)
	}
	e.atHead = len(page) == 0
	if e.cursor() != before {
		e.dirty = true
	}
	return len(page) > 0, nil
}

// after are some entries after a number. Endpoints that have got about as far share them.
func (r *round) after(ctx context.Context, seq int64) ([]models.Entry, error) {
	if n := len(r.tail); n > 0 && seq >= r.tail[0].Seq-1 && seq < r.tail[n-1].Seq {
		return r.tail[seq-(r.tail[0].Seq-1):], nil // they are numbered without gaps
	}
	page, err := r.w.o.Store.Ledger.EntriesAfter(ctx, seq, window)
	if err == nil && len(page) > 0 {
		r.tail = page
	}
	return page, err
}

// blocked is the entry that blocks a stream; nil: there is none.
func (r *round) blocked(ctx context.Context, b *models.WebhookBlockRow) (*models.Entry, error) {
	found, err := r.w.o.Store.Ledger.EntriesAfter(ctx, b.NextSeq-1, 1)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// follow has a stream go on behind the entry that blocked it.
func (r *round) follow(ctx context.Context, e *endpoint, b *models.WebhookBlockRow, now time.Time) error {
	s := ledger.Stream{Conversation: b.ConversationID}
	if b.ConversationID == "" {
		s.Response = models.ResponseID(b.Stream)
	}
	for {
		for len(e.followers[b.Stream]) > 0 {
			next := e.followers[b.Stream][0]
			e.followers[b.Stream] = e.followers[b.Stream][1:]
			if next.Seq > b.NextSeq && e.Wants(next.Action) {
				e.follow(b, &next, now)
				return nil
			}
		}
		more, err := r.w.o.Store.Webhooks.Following(ctx, &e.Webhook, s, b.NextSeq, max(e.read, b.NextSeq))
		if err != nil {
			return err
		}
		if len(more) == 0 {
			e.follow(b, nil, now)
			return nil
		}
		e.followers[b.Stream] = more
	}
}

// nextDue is when a block is to be tried; zero: at no time.
func (r *round) nextDue() (next time.Time) {
	for _, e := range r.all {
		if e.idle() || !r.hasRoom(e) {
			continue
		}
		if at := e.nextDue(); !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}

// keep stores how far all have got.
func (r *round) keep(ctx context.Context) error {
	var all []webhooks.Progress
	var of []*endpoint
	for _, e := range r.all {
		if e.dirty && !e.stale {
			all, of = append(all, e.progress()), append(of, e)
		}
	}
	if len(all) == 0 {
		return nil
	}
	stale, err := r.w.o.Store.Webhooks.Keep(ctx, r.lease, all)
	if err != nil {
		return err
	}
	for _, e := range of {
		e.kept()
		if slices.Contains(stale, e.ID) {
			e.stale = true
		}
		if e.pause != "" {
			e.closes = true
		}
	}
	if len(stale) > 0 {
		return r.reload(ctx)
	}
	return nil
}

// stop waits until nothing is on its way, and stores how far all have got.
func (r *round) stop(ctx context.Context) {
	for r.attempts > 0 {
		r.ended(ctx, <-r.done)
	}
	if err := r.keep(context.WithoutCancel(ctx)); err != nil && !errors.Is(err, context.Canceled) {
		workers.Failed(ctx, r.w.o.Log, err)
	}
}
