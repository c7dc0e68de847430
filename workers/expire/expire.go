// Package expire writes down what silence has settled: deadlines that have passed, undo
// windows that are over, switches of the policy that have ended, whom rules ask later, who is away, and what is left of stopped
// agents. Deadlines hold without it (I3): it only makes the stored state say what every
// reader already sees, and tells those who wait.
package expire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"countersign/models/store"
)

const (
	batch  = 100                    // expiries or releases that share one transaction
	look   = time.Minute            // the longest sleep, in case a deadline came in unnoticed
	gather = 200 * time.Millisecond // new ones that are looked at together: none is nearer than a second
	pause  = time.Second            // after a failure, so that a broken database is not hammered
)

// Once writes down all that is due and returns how long nothing else will be, at
// most a minute. When nothing is due it only reads. What goes wrong with the one
// does not keep it from the other.
func Once(ctx context.Context, s *store.Store) (time.Duration, error) {
	expires, err := all(ctx, s, s.NextDeadline, s.ExpireDue)
	if err != nil {
		err = fmt.Errorf("expire what is due: %w", err)
	}
	if _, failed := s.CancelStopped(ctx); failed != nil {
		err = errors.Join(err, fmt.Errorf("cancel what stopped agents asked: %w", failed))
	}
	releases, failed := all(ctx, s, s.NextRelease, s.ReleaseDue)
	if failed != nil {
		failed = fmt.Errorf("release what was held: %w", failed)
	}
	ends, unended := all(ctx, s, s.NextSwitchEnd, func(ctx context.Context, _ int) (int, error) {
		if ended, err := s.EndSwitches(ctx); err != nil || !ended {
			return 0, err
		}
		return 1, nil
	})
	if unended != nil {
		unended = fmt.Errorf("end switches of the policy: %w", unended)
	}
	steps, unasked := all(ctx, s, s.NextEscalation, s.EscalateDue)
	if unasked != nil {
		unasked = fmt.Errorf("ask further people: %w", unasked)
	}
	away, stays := all(ctx, s, s.NextAbsence, func(ctx context.Context, _ int) (int, error) { return s.TakeAbsences(ctx) })
	if stays != nil {
		stays = fmt.Errorf("begin and end absences: %w", stays)
	}
	return min(expires, releases, ends, steps, away), errors.Join(err, failed, unended, unasked, stays)
}

// all does what is due, batch by batch, and says how long there is nothing more.
func all(ctx context.Context, s *store.Store, next func(context.Context) (time.Time, bool, error), due func(context.Context, int) (int, error)) (time.Duration, error) {
	for {
		at, some, err := next(ctx)
		if err != nil {
			return 0, err
		}
		if !some {
			return look, nil
		}
		if left := at.Sub(s.Now()); left > 0 {
			return min(look, left), nil
		}
		n, err := due(ctx, batch)
		if err != nil {
			return 0, err
		}
		if n == 0 {
			return gather, nil // settled by somebody else meanwhile
		}
	}
}

// Run calls Once at each deadline and end of a window or switch until ctx ends, and shortly
// after one was stored that may be nearer. Failures are logged.
func Run(ctx context.Context, log *slog.Logger, s *store.Store) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	sleep := time.Duration(0)
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.DeadlineStored():
			if sleep > gather {
				sleep = gather
				timer.Reset(sleep)
			}
			continue
		case <-timer.C:
		}
		var err error
		if sleep, err = Once(ctx, s); err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "worker failed", slog.String("error", err.Error()))
			sleep = pause
		}
		timer.Reset(sleep)
	}
}
