package api

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/labstack/echo/v4"

	"countersign/handlers"
	"countersign/models"
	"countersign/models/events"
	"countersign/models/requests"
)

const (
	// keepAliveEvery is how often a quiet stream shows that it is alive.
	keepAliveEvery = 15 * time.Second
	// restFor is how long the stream gathers events before it sends them, so that a burst is one read and one write.
	restFor = 50 * time.Millisecond
	// sendAt is how many bytes of events are gathered before they are written.
	sendAt = 64 << 10
)

// stream sends the ledger entries that its reader may see, in the words of one vocabulary. The bus only wakes it: it
// reads the ledger from the reader's place, so it sends each entry exactly once, however often the stream is cut and
// resumed.
func (a *API) stream(words *vocabulary) echo.HandlerFunc {
	return func(c echo.Context) error {
		ctx, header := c.Request().Context(), c.Request().Header
		r := &reader{a: a, words: words, authorization: header.Get(echo.HeaderAuthorization)}
		var err error
		if r.actor, err = handlers.Principal(ctx, a.store.People, r.authorization); err != nil {
			return err
		}
		from, err := a.places.of(header.Get(headerLastEventID))
		if err != nil {
			return err
		}
		leave, err := a.kit.Streams.Enter(r.actor)
		if err != nil {
			return err
		}
		defer leave()
		defer a.kit.Metrics.Stream(handlers.StreamsOfAPI)()
		// Subscribe before reading: entries that are recorded in between would otherwise be missed.
		sub := a.store.Bus().Subscribe(1, requests.FeedTopics(r.actor)...)
		defer sub.Close()
		start, err := r.find(ctx, from)
		if err != nil {
			return err
		}
		if r.out, err = handlers.NewEventStream(c.Response()); err != nil {
			return nil // the reader is gone
		}
		if start() == nil && r.tell(ctx) {
			r.follow(ctx, sub)
		}
		return nil
	}
}

// errEnd ends a stream that is telling: its reader is gone or may hear no more,
// or the server stops.
var errEnd = errors.New("the stream has ended")

// reader is one open stream.
type reader struct {
	a             *API
	words         *vocabulary
	out           *handlers.EventStream
	authorization string
	actor         models.Actor
	at            place
}

// find sets where the reader continues: at its place, or at the head if it has none or is too far behind. started
// sends the reader the new place, if it changed.
func (r *reader) find(ctx context.Context, from *place) (start func() error, err error) {
	if from == nil {
		head, err := r.a.store.Ledger.Head(ctx)
		r.at = place{after: head.Seq}
		return func() error { return r.out.From(r.a.places.id(r.at)) }, err
	}
	last := from.after
	if from.part > 0 {
		last++
	}
	at, reset, err := r.a.store.Requests.FeedFrom(ctx, r.actor, last)
	if reset {
		r.at = place{after: at}
		return func() error { return r.out.Send(r.words.reset(r.a.places.id(r.at), r.a.kit.Now())) }, err
	}
	r.at = *from
	return func() error { return nil }, err
}

// follow sends new events until the reader is gone or may no longer read.
func (r *reader) follow(ctx context.Context, sub *events.Subscription) {
	alive := time.NewTicker(r.a.keepAlive)
	defer alive.Stop()
	rest := time.NewTimer(restFor)
	defer rest.Stop()
	idle, woken := true, false
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.a.kit.Streams.Stopped():
			return
		case topic := <-sub.C:
			if topic != events.Access {
				woken = true
			} else if !r.holds(ctx) {
				return
			}
		case <-sub.Lag:
			woken = true
		case <-rest.C:
			idle = false
		case <-alive.C:
			if !r.holds(ctx) || r.out.Comment("still here") != nil {
				return
			}
		}
		if woken && !idle {
			if !r.tell(ctx) {
				return
			}
			woken, idle = false, true
			rest.Reset(restFor)
		}
	}
}

// holds reports whether the token is still good.
func (r *reader) holds(ctx context.Context) bool {
	_, err := handlers.Principal(ctx, r.a.store.People, r.authorization)
	return err == nil
}

// tell writes all that was recorded since; false ends the stream.
func (r *reader) tell(ctx context.Context) bool {
	if !r.holds(ctx) { // what woke it may have been that, even with nothing to tell
		return false
	}
	begin, b := r.at, &batch{r: r}
	next, err := r.a.store.Requests.Feed(ctx, r.actor, begin.after, func(h *requests.FeedEvent) error {
		told, err := r.words.events(h, r.a.places)
		if err != nil {
			return err
		}
		if h.Seq == begin.after+1 {
			told = told[min(begin.part, len(told)):]
		}
		return b.add(ctx, told)
	})
	if err == nil {
		err = b.send(ctx)
	}
	if next > begin.after {
		r.at = place{after: next}
	}
	if err != nil && !errors.Is(err, errEnd) && ctx.Err() == nil {
		r.a.kit.Log.ErrorContext(ctx, "a stream ended", slog.String("route", r.words.path), slog.String("error", err.Error()))
	}
	return err == nil
}

// batch gathers events that are written together.
type batch struct {
	r      *reader
	events []handlers.Event
	size   int
}

// add takes events, and sends when there are enough.
func (b *batch) add(ctx context.Context, events []handlers.Event) error {
	for _, e := range events {
		b.events = append(b.events, e)
		if b.size += len(e.Data); b.size >= sendAt {
			if err := b.send(ctx); err != nil {
				return err
			}
		}
	}
	select {
	case <-b.r.a.kit.Streams.Stopped(): // a reader far behind must not hold up a stop
		return errEnd
	default:
		return nil
	}
}

// send writes the gathered events, if the reader may still read them.
func (b *batch) send(ctx context.Context) error {
	if len(b.events) == 0 {
		return nil
	}
	if !b.r.holds(ctx) || b.r.out.Send(b.events...) != nil {
		return errEnd
	}
	b.events, b.size = b.events[:0], 0
	return nil
}
