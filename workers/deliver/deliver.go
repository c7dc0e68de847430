// Package deliver tells other systems what was decided here on what they asked
// for. A verdict is the outcome only once it was told; it is told at least once,
// and never another. At most one process of an installation does so at a time.
package deliver

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/store"
	"countersign/workers"
	"countersign/workers/upstream"
)

// Options are what a Deliverer works with.
type Options struct {
	Store  *store.Store
	Holder string // names this process among those on the database; empty: made up
	HTTP   *http.Client
	Log    *slog.Logger // slog.Default if nil

	Timeout     time.Duration // of one request; 0: 30 s
	LeaseTTL    time.Duration // after which another process takes over; 0: 20 s
	Concurrency int           // attempts at once; 0: 8
}

const (
	lease = "deliver"
	look  = 15 * time.Second // the longest sleep, in case a signal was missed
)

// Deliverer tells verdicts.
type Deliverer struct{ Options }

// New makes a deliverer; Run has it work.
func New(o Options) *Deliverer {
	if o.LeaseTTL <= 0 {
		o.LeaseTTL = 20 * time.Second
	}
	if o.Concurrency <= 0 {
		o.Concurrency = 8
	}
	if o.Holder == "" {
		o.Holder = models.NewID[string]()
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return &Deliverer{o}
}

// Run tells verdicts whenever this process holds the lease, until ctx ends.
func (d *Deliverer) Run(ctx context.Context) {
	workers.Lead(ctx, d.Log, workers.Post{
		Name: lease, Renew: d.LeaseTTL / 4,
		Take: func(ctx context.Context) (int64, error) {
			l, err := d.Store.TakeLease(ctx, lease, d.Holder, d.LeaseTTL)
			if l == nil || err != nil {
				return 0, err
			}
			return l.Number, nil
		},
		Drop: func(ctx context.Context, n int64) error { return d.Store.DropLease(ctx, d.held(n)) },
		Work: func(ctx context.Context, n int64) { d.work(ctx, d.held(n)) },
	})
}

func (d *Deliverer) held(number int64) *models.Lease {
	return &models.Lease{Name: lease, Holder: d.Holder, Number: number}
}

// work tells what is due, several at a time, each verdict by one attempt at a
// time.
func (d *Deliverer) work(ctx context.Context, l *models.Lease) {
	sub := d.Store.Bus().Subscribe(1, events.Upstreams, events.Outside)
	defer sub.Close()
	var telling sync.WaitGroup
	defer telling.Wait()
	var busy sync.Map // models.ResponseID: being told
	free := make(chan struct{}, d.Concurrency)
	done := make(chan struct{}, 1)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-sub.C:
		case <-sub.Lagged:
		case <-done:
		case <-timer.C:
		}
		// Those that are being told stand first in the list: it must reach past them.
		due, next, err := d.Store.DueDeliveries(ctx, 2*d.Concurrency)
		if err != nil && ctx.Err() == nil {
			d.Log.ErrorContext(ctx, "worker failed", slog.String("worker", lease), slog.String("error", err.Error()))
		}
		for _, id := range due {
			if _, told := busy.LoadOrStore(id, true); told {
				continue
			}
			select {
			case free <- struct{}{}:
			default:
				busy.Delete(id)
				continue // whoever is done looks again
			}
			telling.Go(func() {
				d.Once(ctx, l, id)
				busy.Delete(id)
				<-free
				select {
				case done <- struct{}{}:
				default: // told already
				}
			})
		}
		sleep := look
		if !next.IsZero() {
			sleep = min(sleep, max(next.Sub(d.Store.Now()), 10*time.Millisecond))
		}
		timer.Reset(sleep)
	}
}

// Once makes one attempt to tell a verdict and keeps how it ended.
func (d *Deliverer) Once(ctx context.Context, l *models.Lease, id models.ResponseID) {
	log := d.Log.With(slog.String("approval", string(id)))
	delivery, u, err := d.Store.BeginDelivery(ctx, l, id)
	if err != nil {
		if ctx.Err() == nil && models.ErrorCode(err) != models.CodeConflict {
			log.ErrorContext(ctx, "worker failed", slog.String("worker", lease), slog.String("error", err.Error()))
		}
		return
	}
	if delivery == nil {
		return
	}
	end := d.tell(ctx, delivery, u)
	if end.Told == models.ToldLater {
		log.WarnContext(ctx, "a verdict is not told yet", slog.String("upstream", u.Name), slog.Int("attempt", delivery.Attempts), slog.String("problem", end.Text))
	}
	// What was sent was sent: a stop does not lose how it ended.
	if err := d.Store.EndDelivery(context.WithoutCancel(ctx), l, id, end); err != nil && models.ErrorCode(err) != models.CodeConflict {
		log.ErrorContext(ctx, "worker failed", slog.String("worker", lease), slog.String("error", err.Error()))
	}
}

// tell sends a verdict and says what the answer means for it.
func (d *Deliverer) tell(ctx context.Context, v *models.Delivery, u *models.Upstream) models.DeliveryEnd {
	key, err := d.Store.UpstreamKey(u)
	if err != nil {
		return later(err.Error(), false)
	}
	client, err := upstream.New(upstream.Options{
		BaseURL: u.BaseURL, Key: key, Dialect: upstream.Dialect(u.Dialect), HTTP: d.HTTP, Timeout: d.Timeout,
	})
	if err != nil {
		return later(err.Error(), false)
	}
	defer client.Close()
	var o upstream.Outcome
	if v.Kind == models.OutsideContact {
		o = client.RespondContact(ctx, v.CallID, v.Answer, v.Option)
	} else {
		o = client.RespondCall(ctx, v.CallID, v.Approved, v.Reason)
	}
	switch o.Delivery {
	case upstream.Delivered:
		return models.DeliveryEnd{Told: models.ToldDelivered, Text: o.Text}
	case upstream.Gone:
		return models.DeliveryEnd{Told: models.ToldGone, Text: o.Text}
	case upstream.Conflict:
		if !v.Lost {
			return models.DeliveryEnd{Told: models.ToldElsewhere, Text: "The other system had a verdict already: it was settled there."}
		}
		return readBack(ctx, client, v)
	case upstream.Retry, upstream.Refused:
	}
	return later(o.Text, o.Lost)
}

func later(text string, lost bool) models.DeliveryEnd {
	return models.DeliveryEnd{Told: models.ToldLater, Lost: lost, Text: text}
}

// readBack finds out whose verdict the other system has, after an attempt of ours
// whose answer was lost.
func readBack(ctx context.Context, client *upstream.Client, v *models.Delivery) models.DeliveryEnd {
	read := client.ReadBackCall
	if v.Kind == models.OutsideContact {
		read = client.ReadBackContact
	}
	s, err := read(ctx, v.CallID)
	switch {
	case errors.Is(err, upstream.ErrCannot):
		return models.DeliveryEnd{Told: models.ToldConfirmed, Text: "An answer was lost, and the other system then said that it has a verdict: confirmed by 409."}
	case models.ErrorCode(err) == models.CodeNotFound:
		return models.DeliveryEnd{Told: models.ToldGone, Text: "The other system does not know the call any more."}
	case err != nil:
		return later("The other system has a verdict, and could not be asked which: "+err.Error(), false)
	case !s.Decided:
		return later("The other system refuses the verdict, and says that it has none.", false)
	case same(s, v):
		return models.DeliveryEnd{Told: models.ToldConfirmed, Text: "An answer was lost; read back, the other system has this verdict."}
	}
	return models.DeliveryEnd{Told: models.ToldElsewhere, Text: "Read back, the other system has another verdict: it was settled there."}
}

func same(s *upstream.Standing, v *models.Delivery) bool {
	if v.Kind == models.OutsideContact {
		return s.Text == v.Answer
	}
	return s.Approved == v.Approved
}
