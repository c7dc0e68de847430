package workers

import (
	"context"
	"log/slog"
	"time"
)

// Post is work that one process of the installation does at a time.
type Post struct {
	Name  string
	Renew time.Duration   // how often the right to it is taken or renewed
	Wake  <-chan struct{} // has a process without the right try to take it at once; may be nil
	// Take takes or renews the right and returns its number; 0 while another process
	// has it. Another number than before: it was lost meanwhile.
	Take func(ctx context.Context) (int64, error)
	// Drop gives it back.
	Drop func(ctx context.Context, number int64) error
	// Work does the work under a number until ctx ends.
	Work func(ctx context.Context, number int64)
}

// Lead does the work of a post whenever this process has the right to it, until
// ctx ends. The right is renewed apart from the work: work that takes long does
// not lose it, and work that has lost it is cancelled.
func Lead(ctx context.Context, log *slog.Logger, p Post) {
	renew := time.NewTimer(0)
	defer renew.Stop()
	var held int64
	stop := func() {}
	defer func() {
		stop()
		if held != 0 {
			if err := p.Drop(context.WithoutCancel(ctx), held); err != nil {
				log.WarnContext(ctx, "a lease was not given back", slog.String("worker", p.Name), slog.String("error", err.Error()))
			}
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.Wake:
			if held != 0 {
				continue
			}
		case <-renew.C:
		}
		renew.Reset(p.Renew)
		number, err := p.Take(ctx)
		if err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "worker failed", slog.String("worker", p.Name), slog.String("error", err.Error()))
		}
		if err != nil || number == held {
			continue // one that is not renewed in time refuses our writes by itself
		}
		stop()
		if held = number; held == 0 {
			stop = func() {}
			continue
		}
		stop = begin(ctx, held, p.Work)
	}
}

// begin starts work, and returns what ends it and waits for that.
func begin(ctx context.Context, number int64, work func(context.Context, int64)) (stop func()) {
	working, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		work(working, number)
	}()
	return func() {
		cancel()
		<-done
	}
}
