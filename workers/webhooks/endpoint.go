package webhooks

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"countersign/models"
	"countersign/models/ledger"
	"countersign/models/webhooks"
	"countersign/workers/outward"
)

const (
	window   = 256             // entries that are read ahead of the cursor
	slowness = 2 * time.Second // after which an answer is slow
)

// item is an entry that is to be sent, in the window.
type item struct {
	entry  models.Entry
	stream string
	done   bool // it was accepted, or its stream is blocked
}

// endpoint is one as the worker sends to it.
type endpoint struct {
	*webhooks.Endpoint

	read   int64 // entries up to here were looked at
	atHead bool  // there were no more
	window []*item
	blocks map[string]*models.WebhookBlockRow
	// ahead are entries of blocked streams that follow the one that blocks, in order: a stream
	// that gets on is not looked up for each.
	followers map[string][]models.Entry
	// passed are streams that were blocked and are not any more, with how far they are done
	// beyond the cursor: nothing of it is sent again when the ledger is read from there.
	positions map[string]int64

	busy     map[string]bool // streams of which an event is being sent
	refusals map[string]bool // streams of which one was, since the last that was accepted
	// down: no more than one attempt at a time, of something that was refused. Where answers come
	// at all, something new is tried by turns: a few events that it can't read don't stop the
	// rest.
	down    bool
	alive   bool      // the last refusal was an answer
	probes  int       // refusals since it counts as down
	probeAt time.Time // when anything may be tried
	slow    bool

	fault  bool // an attempt could not be made, by a fault of ours
	stale  bool // somebody has moved it: it is read again once nothing is on its way
	closes bool // it was paused or removed: nothing more is sent

	// Not stored yet.
	dirty   bool
	accepts int
	last    time.Time
	changes map[string]bool // blocks
	answers []models.WebhookAnswer
	pause   models.WebhookPause
	refusal models.WebhookAnswer
}

func newEndpoint(e *webhooks.Endpoint) *endpoint {
	out := &endpoint{
		Endpoint: e, read: e.Cursor, blocks: map[string]*models.WebhookBlockRow{}, positions: map[string]int64{},
		followers: map[string][]models.Entry{},
		busy:      map[string]bool{}, refusals: map[string]bool{}, changes: map[string]bool{},
	}
	for i := range e.Blocks {
		b := e.Blocks[i]
		switch waits := b.Type != ""; {
		case b.NextSeq > e.Head+1 || waits && b.NextSeq > e.Head: // there is no such entry
			out.changes[b.Stream], out.dirty = true, true
		case waits:
			out.blocks[b.Stream] = &b
		default:
			out.positions[b.Stream] = b.NextSeq - 1 // all before it is done
		}
	}
	return out
}

// idle reports whether nothing is sent to it for now, whatever there is.
func (e *endpoint) idle() bool {
	return e.fault || e.stale || e.closes || e.pause != "" || e.Fault != nil
}

// setBack has nothing wait for a time that the clock will not show soon: it was set back.
func (e *endpoint) setBack(now time.Time) {
	latest := now.Add(outward.MaxRetryAfter)
	for stream, b := range e.blocks {
		if b.Since.After(now) || b.DueAt.After(latest) {
			b.Since = earlier(b.Since, now)
			b.DueAt = earlier(b.DueAt, now)
			e.changes[stream], e.dirty = true, true
		}
	}
	if e.probeAt.After(latest) {
		e.probeAt = now
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// lame endpoints don't take the room of others.
func (e *endpoint) lame() bool { return e.down || e.slow }

// take adds an entry that comes next in the ledger to the window, if it is to be sent.
func (e *endpoint) take(entry models.Entry) {
	e.read = entry.Seq
	stream := ledger.StreamOf(&entry).Name()
	if !e.Wants(entry.Action) || e.blocks[stream] != nil || entry.Seq <= e.positions[stream] {
		return
	}
	e.window = append(e.window, &item{entry: entry, stream: stream})
}

// cursor is the number up to which all is done or blocked.
func (e *endpoint) cursor() int64 {
	e.window = slices.Delete(e.window, 0, firstOpen(e.window))
	if len(e.window) == 0 {
		return e.read
	}
	return e.window[0].entry.Seq - 1
}

func firstOpen(window []*item) int {
	if i := slices.IndexFunc(window, func(it *item) bool { return !it.done }); i >= 0 {
		return i
	}
	return len(window)
}

// oldest is the block that began first.
func (e *endpoint) oldest() (out *models.WebhookBlockRow) {
	for _, b := range e.blocks {
		if out == nil || b.Since.Before(out.Since) || b.Since.Equal(out.Since) && b.NextSeq < out.NextSeq {
			out = b
		}
	}
	return out
}

// dueBlock is the block whose event is to be tried now; nil without one. While the endpoint is down it is the one that
// waits longest, so that no single event decides for all.
func (e *endpoint) dueBlock(now time.Time) (out *models.WebhookBlockRow) {
	if e.down && now.Before(e.probeAt) {
		return nil
	}
	for _, b := range e.blocks {
		if b.DueAt.After(now) || e.busy[b.Stream] {
			continue
		}
		if out == nil || e.down && b.DueAt.Before(out.DueAt) ||
			(!e.down || b.DueAt.Equal(out.DueAt)) && b.NextSeq < out.NextSeq {
			out = b
		}
	}
	return out
}

// nextDue is when a block is to be tried; zero: at no time.
func (e *endpoint) nextDue() (next time.Time) {
	for _, b := range e.blocks {
		if !e.busy[b.Stream] && (next.IsZero() || b.DueAt.Before(next)) {
			next = b.DueAt
		}
	}
	switch {
	case !e.down:
	case e.alive && firstOpen(e.window) < len(e.window):
		next = e.probeAt
	case !next.IsZero() && next.Before(e.probeAt):
		next = e.probeAt
	}
	return next
}

// full reports whether nothing new is sent, because so many streams wait.
func (e *endpoint) full() bool { return len(e.blocks)+len(e.busy) >= models.MaxWebhookBlocks }

// nextItem is the first of a stream in the window that is not being sent; nil: there is none
// that may be.
func (e *endpoint) nextItem(now time.Time) *item {
	if e.full() || e.down && (!e.alive || now.Before(e.probeAt)) {
		return nil
	}
	for _, it := range e.window {
		if !it.done && !e.busy[it.stream] {
			return it
		}
	}
	return nil
}

// accept notes that an endpoint works.
func (e *endpoint) accept(now time.Time) {
	clear(e.refusals)
	e.last, e.accepts, e.dirty = now, e.accepts+1, true
	if !e.down {
		return
	}
	e.down, e.probes = false, 0
	for stream, b := range e.blocks { // it is back: nothing waits longer
		if b.DueAt.After(now) {
			b.DueAt = now
			e.changes[stream] = true
		}
	}
}

// refuse blocks the stream of an event, or has its block wait longer.
func (e *endpoint) refuse(
	entry *models.Entry, stream string, start time.Time, a models.WebhookAnswer, retryAfter time.Duration,
) {
	b := e.blocks[stream]
	if b == nil {
		b = &models.WebhookBlockRow{
			WebhookID: e.ID, Stream: stream, ConversationID: entry.ConversationID, ResponseID: entry.ResponseID,
			NextSeq: entry.Seq, Type: entry.Action, Since: start,
		}
		e.blocks[stream] = b
		delete(e.positions, stream)
		for _, it := range e.window {
			if it.stream == stream {
				it.done = true // the block replaces the rest of it
			}
		}
	}
	if b.Attempts == 0 {
		b.Since = start
	}
	b.Attempts++
	b.Class, b.Status = a.Class, a.Status
	b.DueAt = a.At.Add(max(pauseAfter(b.Attempts), retryAfter))
	e.changes[stream], e.dirty = true, true
	e.alive = a.Status > 0
	if e.refusals[stream] = true; concernsAll(a) && len(e.refusals) >= models.WebhookDownAfter {
		e.down = true
	}
	if e.down {
		e.probes++
		e.probeAt = a.At.Add(max(pauseAfter(e.probes), retryAfter))
	}
	switch {
	case a.Class == models.SendGone:
		e.pause, e.refusal = models.PausedGone, a
	case a.At.Sub(e.oldest().Since) >= models.WebhookGiveUp:
		e.pause, e.refusal = models.PausedFailing, a
	}
}

// concernsAll reports whether a refusal may be one of any event: the others are of that event
// alone, and the next may well be accepted.
func concernsAll(a models.WebhookAnswer) bool {
	switch a.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed,
		http.StatusProxyAuthRequired:
		return true
	}
	return a.Class != models.SendRejected
}

// pauseAfter is how long an event waits after an attempt, of which it was the nth: up to a
// fifth less, so that streams that were refused together come back apart.
func pauseAfter(n int) time.Duration {
	pause := models.WebhookFirstPause
	for range n - 1 {
		if pause *= 2; pause >= models.WebhookLongPause {
			pause = models.WebhookLongPause
			break
		}
	}
	return pause - time.Duration(rand.Int64N(int64(pause/5))) //nolint:gosec // it spreads retries, and is no secret
}

// follow has a blocked stream go on with the entry that comes next in it, at once; nil: all that
// was read of it is done, and it is not blocked any more.
func (e *endpoint) follow(b *models.WebhookBlockRow, next *models.Entry, now time.Time) {
	e.changes[b.Stream], e.dirty = true, true
	if next == nil {
		delete(e.blocks, b.Stream)
		delete(e.followers, b.Stream)
		if b.NextSeq > e.cursor() {
			e.positions[b.Stream] = b.NextSeq
		}
		return
	}
	b.NextSeq, b.Type, b.ResponseID = next.Seq, next.Action, next.ResponseID
	b.Since, b.DueAt, b.Attempts, b.Class, b.Status = now, now, 0, "", 0
}

// progress is the state that is not stored yet.
func (e *endpoint) progress() webhooks.Progress {
	for stream, through := range e.positions {
		if through <= e.cursor() {
			delete(e.positions, stream)
			e.changes[stream] = true
		}
	}
	p := webhooks.Progress{
		ID: e.ID, Position: e.Position, Cursor: e.cursor(), LastAcceptedAt: e.last, Answers: e.answers, Pause: e.pause,
		Refuse: e.refusal,
	}
	for stream := range e.changes {
		if b := e.blocks[stream]; b != nil {
			p.Blocks = append(p.Blocks, *b)
		} else if through, ok := e.positions[stream]; ok {
			p.Done = append(p.Done, webhooks.Passed{Stream: stream, Through: through})
		} else {
			p.Free = append(p.Free, stream)
		}
	}
	return p
}

// kept marks the progress as stored.
func (e *endpoint) kept() {
	e.dirty, e.accepts, e.answers = false, 0, nil
	clear(e.changes)
}
