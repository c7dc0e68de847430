package workers

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"countersign/models"
	"countersign/models/events"
)

const leaseTTL = 20 * time.Second

// Leases are where the right to a post is kept: the store.
type Leases interface {
	// nil: another process has it
	TakeLease(ctx context.Context, name, holder string, ttl time.Duration) (*models.Lease, error)
	DropLease(ctx context.Context, l *models.Lease) error
}

// Post is work that one process of the installation does at a time, by a lease.
type Post struct {
	Name   string        // of the lease
	Holder string        // names this process among those on the database; empty: made up
	TTL    time.Duration // after which another process takes over, renewed four times as often; 0: 20 s
	Leases Leases
	// Bus and Topics have a process without the lease try to take it at once; Bus may be nil.
	Bus    *events.Bus
	Topics []events.Topic
	// HasWork reports whether there is anything to do: if not, no process takes the lease, and the one that has it
	// gives it up.
	HasWork func(ctx context.Context) (bool, error)
	// Work does the work under a lease until ctx ends.
	Work func(ctx context.Context, l *models.Lease)
}

// Lead does the work of a post whenever this process has its lease, until ctx ends.
// The lease is renewed apart from the work: work that takes long does not lose it,
// and work that has lost it is cancelled. A lease with another number than before was
// lost meanwhile.
func Lead(ctx context.Context, log *slog.Logger, p Post) {
	p.Holder, p.TTL = cmp.Or(p.Holder, models.NewID[string]()), cmp.Or(max(p.TTL, 0), leaseTTL)
	renew := time.NewTimer(0)
	defer renew.Stop()
	var wake <-chan struct{}
	if p.Bus != nil {
		news := p.Bus.Subscribe(0, p.Topics...) // without room, Lagged reports each topic
		defer news.Close()
		wake = news.Lag
	}
	var held *models.Lease
	stop := func() {}
	defer func() {
		stop()
		if held != nil {
			if err := p.Leases.DropLease(context.WithoutCancel(ctx), held); err != nil {
				log.WarnContext(ctx, "a lease was not given back", slog.String("error", err.Error()))
			}
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case <-wake:
			if held != nil {
				continue
			}
		case <-renew.C:
		}
		renew.Reset(p.TTL / 4)
		l, err := p.take(ctx)
		if err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "worker failed", slog.String("error", err.Error()))
		}
		if err != nil || numberOf(l) == numberOf(held) {
			continue // a lease that is not renewed in time refuses our writes anyway
		}
		stop()
		if held = l; held == nil {
			stop = func() {}
			continue
		}
		stop = begin(ctx, held, p.Work)
	}
}

// take takes or renews the lease; nil while another process has it, or there is no work.
func (p Post) take(ctx context.Context) (*models.Lease, error) {
	if work, err := p.HasWork(ctx); err != nil || !work {
		return nil, err
	}
	return p.Leases.TakeLease(ctx, p.Name, p.Holder, p.TTL)
}

func numberOf(l *models.Lease) int64 {
	if l == nil {
		return 0
	}
	return l.Number
}

// begin starts work, and returns what ends it and waits for that.
func begin(ctx context.Context, l *models.Lease, work func(context.Context, *models.Lease)) (stop func()) {
	workCtx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		work(workCtx, l)
	}()
	return func() {
		cancel()
		<-done
	}
}
