// Package webhooks sends the ledger's events to endpoints, signed by Standard Webhooks, at least once and in order
// within each conversation. The ledger is the queue. The store keeps how far each endpoint is, in batches behind the
// sending: events accepted since the last batch are sent again after a crash, with the same ids. At most one process of
// an installation sends.
package webhooks

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/store"
	"countersign/workers"
	"countersign/workers/outward"
)

// Options are what a Worker works with. Store and Out are required.
type Options struct {
	Store  *store.Store
	Out    *outward.Client
	Holder string       // names this process among those on the database; empty: made up
	Log    *slog.Logger // slog.Default if nil

	// RequestURL is the absolute address of a request's page. nil: events have none.
	RequestURL func(models.ResponseID) string
	// Observe hears of each attempt but tests. It must be quick, and may be nil.
	Observe func(models.SendClass)

	LeaseTTL    time.Duration // after which another process takes over; 0: 20 s
	PerEndpoint int           // streams of an endpoint that are sent side by side; 0: 4
	Concurrency int           // attempts at once in all, but that each endpoint may have one; 0: 16
	KeepEvery   time.Duration // how far the store may be behind the sent events; 0: 1 s
}

const (
	post      = "webhooks"
	look      = 15 * time.Second // the longest sleep, in case a signal was missed
	retry     = time.Second      // after the store failed
	keepAfter = 100              // accepted events, however soon
)

var topics = []events.Topic{events.Webhooks, events.Outside}

// Worker sends events.
type Worker struct{ o Options }

// New makes a worker; Run has it work.
func New(o Options) *Worker {
	if o.PerEndpoint <= 0 {
		o.PerEndpoint = 4
	}
	if o.Concurrency <= 0 {
		o.Concurrency = 16
	}
	if o.KeepEvery <= 0 {
		o.KeepEvery = time.Second
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return &Worker{o}
}

// Run sends the endpoints' events while this process holds the lease, until ctx ends. Without an endpoint, no process
// takes the lease.
func (w *Worker) Run(ctx context.Context) {
	workers.Lead(ctx, w.o.Log, workers.Post{
		Name: post, Holder: w.o.Holder, TTL: w.o.LeaseTTL, Leases: w.o.Store.Nodes, Bus: w.o.Store.Bus(), Topics: topics,
		HasWork: w.o.Store.Webhooks.Any, Work: w.work,
	})
}

// work sends until ctx ends. All of a round's state belongs to this goroutine; only attempts
// run beside it.
func (w *Worker) work(ctx context.Context, l *models.Lease) {
	sub := w.o.Store.Bus().Subscribe(1, topics...)
	defer sub.Close()
	r := newRound(w, l)
	defer r.stop(ctx)
	timer, keep := time.NewTimer(0), time.NewTicker(w.o.KeepEvery)
	defer timer.Stop()
	defer keep.Stop()
	reload := true
	for {
		err := r.step(ctx, reload)
		if ctx.Err() != nil {
			return
		}
		sleep := look
		if reload = err != nil; reload {
			workers.Failed(ctx, w.o.Log, err)
			sleep = retry
		} else if next := r.nextDue(); !next.IsZero() {
			sleep = min(sleep, max(next.Sub(w.o.Store.Now()), 10*time.Millisecond))
		}
		if r.failed() {
			sleep = min(sleep, retry)
		}
		timer.Reset(sleep)
		select {
		case <-ctx.Done():
			return
		case <-sub.C:
			reload = true
			r.grew()
		case <-sub.Lag:
			reload = true
			r.grew()
		case <-w.o.Store.Ledger.Grown():
			r.grew()
		case done := <-r.done:
			r.ended(ctx, done)
		case <-keep.C:
			r.keepNow = true
		case <-timer.C:
			reload = true
			r.recovered()
			r.grew()
		}
	}
}

// Test sends an endpoint an event that nothing has caused, at once and whatever waits, and says
// how that ended. For admins and the operator, else CodeForbidden. Codes: not_found, conflict
// (its target can't be opened).
func (w *Worker) Test(ctx context.Context, actor models.Actor, id models.WebhookID) (models.WebhookAnswer, error) {
	e, err := w.o.Store.Webhooks.ForTest(ctx, actor, id)
	if err != nil {
		return models.WebhookAnswer{}, err
	}
	if e.Fault != nil {
		return models.WebhookAnswer{}, models.Errorf(models.CodeConflict, "The address can't be opened: enter it again.")
	}
	now := w.o.Store.Now()
	name := "evt_" + models.NewID[string]()
	raw, err := testBody(name, &e.Webhook, now)
	if err != nil {
		return models.WebhookAnswer{}, fmt.Errorf("write test: %w", err)
	}
	got := w.post(ctx, message{id: name, url: e.Target.URL, keys: e.SigningKeys(now), body: raw})
	out := models.WebhookAnswer{
		At: now, Type: models.WebhookTest, Attempt: 1, Took: got.took, Class: got.class, Status: got.status, Body: got.body,
	}
	return out, w.o.Store.Webhooks.KeepTest(context.WithoutCancel(ctx), id, out)
}
