package workers

import (
	"context"
	"log/slog"
	"time"

	"countersign/models"
	"countersign/models/events"
)

const (
	longest = 15 * time.Second      // the longest sleep between two rounds, in case a topic was missed
	retry   = time.Second           // after a round that failed
	soonest = 10 * time.Millisecond // between two rounds for due items
)

// Loop does rounds: one at once, and then whenever a topic has news, an attempt has ended, or something is due. K names
// attempts, and G names the groups in which they are counted.
type Loop[K, G comparable] struct {
	Bus     *events.Bus
	Topics  []events.Topic
	Now     func() time.Time
	Log     *slog.Logger
	Most    int           // attempts of each group at a time
	Longest time.Duration // the longest sleep; 0: 15 s

	// Round begins due items and returns the time of the next one; zero if that is not known.
	Round func(ctx context.Context, attempts *Attempts[K, G]) (next time.Time, err error)
}

// Run does rounds until ctx ends, and waits for the attempts that are under way.
func (l Loop[K, G]) Run(ctx context.Context) {
	sub := l.Bus.Subscribe(1, l.Topics...)
	defer sub.Close()
	attempts := &Attempts[K, G]{most: l.Most, of: map[K]G{}, busy: map[G]int{}, ends: make(chan K)}
	defer attempts.wait()
	if l.Longest <= 0 {
		l.Longest = longest
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-sub.C:
		case <-sub.Lag:
		case k := <-attempts.ends:
			attempts.end(k)
		case <-timer.C:
		}
		next, err := l.Round(ctx, attempts)
		if ctx.Err() != nil {
			return
		}
		sleep := l.Longest
		if !next.IsZero() {
			sleep = min(sleep, max(next.Sub(l.Now()), soonest))
		}
		if err != nil {
			Failed(ctx, l.Log, err)
			sleep = min(sleep, retry)
		}
		timer.Reset(sleep)
	}
}

// Failed logs why a round or an attempt failed. A lost lease is another process's gain.
func Failed(ctx context.Context, log *slog.Logger, err error) {
	switch {
	case ctx.Err() != nil:
	case models.ErrorCode(err) == models.CodeConflict:
		log.WarnContext(ctx, "the lease was lost")
	default:
		log.ErrorContext(ctx, "worker failed", slog.String("error", err.Error()))
	}
}

// Attempts run beside the rounds of a Loop. Only its goroutine uses them.
type Attempts[K, G comparable] struct {
	most int
	of   map[K]G // those under way
	busy map[G]int
	ends chan K
}

// Running counts the attempts that are under way.
func (a *Attempts[K, G]) Running() int { return len(a.of) }

// Begin runs an attempt, unless one of that name is under way or its group has as many as it
// may: the round after one that ends begins it.
func (a *Attempts[K, G]) Begin(name K, group G, attempt func()) {
	if _, under := a.of[name]; under || a.busy[group] >= a.most {
		return
	}
	a.of[name] = group
	a.busy[group]++
	go func() {
		attempt()
		a.ends <- name
	}()
}

func (a *Attempts[K, G]) end(name K) {
	group := a.of[name]
	delete(a.of, name)
	if a.busy[group]--; a.busy[group] == 0 {
		delete(a.busy, group)
	}
}

func (a *Attempts[K, G]) wait() {
	for len(a.of) > 0 {
		a.end(<-a.ends)
	}
}
