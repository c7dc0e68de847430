// Package expire stores what time alone has settled: expired deadlines, closed undo windows, switches of the policy
// that have ended, escalations, absences, and the remaining requests of stopped agents. Deadlines apply without it
// (I3): it only makes the stored state say what every reader already sees, and informs those who wait.
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

// job is one kind of thing that silence settles.
type job struct {
	name string                                                         // as in "expire due items: the disk is full"
	next func(ctx context.Context) (at time.Time, some bool, err error) // nil: due each time
	due  func(ctx context.Context, limit int) (done int, err error)
}

func jobs(s *store.Store) []job {
	return []job{
		{"expire what is due", s.NextDeadline, s.ExpireDue},
		{"cancel what stopped agents asked", nil, unlimited(s.CancelStopped)},
		{"release what was held", s.NextRelease, s.ReleaseDue},
		{"end switches of the policy", s.NextSwitchEnd, unlimited(s.EndSwitches)},
		{"ask further people", s.NextEscalation, s.EscalateDue},
		{"begin and end absences", s.NextAbsence, unlimited(s.TakeAbsences)},
		sums(s),
	}
}

// sums is the job that sums hours and days which have ended, for people who look back.
func sums(s *store.Store) job {
	return job{
		"sum up days",
		func(ctx context.Context) (time.Time, bool, error) {
			p, err := s.CurrentPolicy(ctx)
			if err != nil {
				return time.Time{}, false, err
			}
			return s.Insights.Next(ctx, p.Program.Zone())
		},
		// One at a time, as if nothing were left to do: the other jobs have their turn in between. There may be years of days
		// to sum.
		func(ctx context.Context, _ int) (int, error) {
			p, err := s.CurrentPolicy(ctx)
			if err != nil {
				return 0, err
			}
			_, err = s.Insights.SumNext(ctx, p.Program.Zone())
			return 0, err
		},
	}
}

// unlimited is a job that does all at once, in one transaction or in as many as it needs.
func unlimited(due func(context.Context) (int, error)) func(context.Context, int) (int, error) {
	return func(ctx context.Context, _ int) (int, error) { return due(ctx) }
}

// Once does all that is due and returns the time until the next item is due, at most a minute.
// When nothing is due it only reads. A job that fails does not keep the others from running.
func Once(ctx context.Context, s *store.Store) (time.Duration, error) {
	sleep, errs := look, []error(nil)
	for _, j := range jobs(s) {
		wait, err := j.run(ctx, s.Now)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", j.name, err))
		}
		sleep = min(sleep, wait)
	}
	return sleep, errors.Join(errs...)
}

// run does the due work, batch by batch, and returns the time until the next item is due.
func (j job) run(ctx context.Context, now func() time.Time) (time.Duration, error) {
	if j.next == nil {
		_, err := j.due(ctx, batch)
		return look, err
	}
	for {
		at, some, err := j.next(ctx)
		if err != nil {
			return 0, err
		}
		if !some {
			return look, nil
		}
		if wait := at.Sub(now()); wait > 0 {
			return min(look, wait), nil
		}
		n, err := j.due(ctx, batch)
		if err != nil {
			return 0, err
		}
		if n == 0 {
			return gather, nil // somebody else has settled it
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
