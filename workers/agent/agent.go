// Package agent is the loop of the built-in agent: it takes a conversation with something to do out of the inbox, shows
// its model the current state, and stores what the model says. A lease in the database keeps two processes off one
// conversation. When a process dies, another repeats what it had not stored.
package agent

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"countersign/models"
	"countersign/models/events"
	"countersign/models/runs"
	"countersign/models/store"
	"countersign/workers/llm"
)

// Options are what an Agent works with.
type Options struct {
	Store *store.Store
	Model llm.Model
	// Rate is what a thousand tokens cost, in units of energy; 0: 1.
	Rate        float64
	Concurrency int           // runs at once; 0: 4
	MaxTurns    int           // of one run since a person last did something; 0: 20
	Holder      string        // names this process among those on the database; empty: made up
	LeaseTTL    time.Duration // how long a run is held without a sign of life; 0: 15 s
	Log         *slog.Logger  // slog.Default if nil
}

// Agent runs the conversations of the built-in agent.
type Agent struct {
	Options
	drafts drafts
}

const (
	look  = time.Minute // the longest sleep, in case a signal was missed
	pause = time.Second // after a failure of the database, so that it is not hammered
)

// New makes an agent; Run or Once has it work.
func New(o Options) *Agent {
	if o.Rate <= 0 {
		o.Rate = 1
	}
	if o.Concurrency <= 0 {
		o.Concurrency = 4
	}
	if o.MaxTurns <= 0 {
		o.MaxTurns = 20
	}
	if o.LeaseTTL <= 0 {
		o.LeaseTTL = 15 * time.Second
	}
	if o.Holder == "" {
		o.Holder = models.NewID[string]()
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	a := &Agent{Options: o}
	a.drafts.init(o.Store.Bus(), o.Model.Name())
	return a
}

// Draft is what the model is writing in a conversation now, and which model.
// Nothing of it is stored; it ends with the turn.
func (a *Agent) Draft(id models.ConversationID) (text, model string, ok bool) {
	return a.drafts.get(id)
}

// Run works until ctx ends: it sleeps while nothing is ready, and calls that are
// under way at the end are cancelled and their runs given back.
func (a *Agent) Run(ctx context.Context) {
	sub := a.Store.Bus().Subscribe(1, events.AgentInbox, events.Outside)
	defer sub.Close()
	var calls sync.WaitGroup
	defer calls.Wait()
	free := make(chan struct{}, a.Concurrency) // holds a token for each run under way
	done := make(chan struct{}, 1)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-sub.C:
		case <-sub.Lag:
		case <-done:
		case <-timer.C:
		}
		timer.Reset(a.start(ctx, free, func(run *models.Run) {
			calls.Go(func() {
				a.turn(ctx, run)
				<-free
				select {
				case done <- struct{}{}:
				default: // told already
				}
			})
		}))
	}
}

// start begins the ready runs for which there is room, and returns the time until the next one is due.
func (a *Agent) start(ctx context.Context, free chan struct{}, begin func(*models.Run)) time.Duration {
	for {
		select {
		case free <- struct{}{}:
		default:
			return look // a run that ends looks again
		}
		run, err := runs.New(a.Store).ClaimRun(ctx, a.Holder, a.LeaseTTL)
		if run == nil || err != nil {
			<-free
			return a.sleep(ctx, err)
		}
		begin(run)
	}
}

// sleep is how long nothing will be ready.
func (a *Agent) sleep(ctx context.Context, err error) time.Duration {
	if err == nil {
		var next time.Time
		var some bool
		if next, some, err = runs.New(a.Store).NextRun(ctx); err == nil {
			if !some {
				return look
			}
			return min(look, max(next.Sub(a.Store.Now()), time.Millisecond))
		}
	}
	if ctx.Err() == nil {
		a.Log.ErrorContext(ctx, "worker failed", slog.String("error", err.Error()))
	}
	return pause
}

// Once runs the next turn of one conversation, if one is ready, and tells
// whether there was one.
func (a *Agent) Once(ctx context.Context) (bool, error) {
	run, err := runs.New(a.Store).ClaimRun(ctx, a.Holder, a.LeaseTTL)
	if run == nil || err != nil {
		return false, err
	}
	a.turn(ctx, run)
	return true, nil
}
