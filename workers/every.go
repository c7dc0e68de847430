// Package workers runs what happens without a request: a worker is a function
// that does one round, Every repeats it, and a Group starts and joins them.
package workers

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"
)

// Every runs once at once and then again and again, at most interval apart: up
// to a tenth of each pause is left out at random, so that several servers do
// not move in step. A round that fails is logged and the next comes as if
// it had not. Every returns when ctx ends.
func Every(ctx context.Context, log *slog.Logger, interval time.Duration, once func(ctx context.Context) error) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		if err := once(ctx); err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "worker failed", slog.String("error", err.Error()))
		}
		timer.Reset(interval - rand.N(interval/10+1)) //nolint:gosec // spreads load, guards nothing
	}
}
