package audit

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"countersign/models"
	"countersign/models/store"
	"countersign/views/pages/audit"
)

// chainCheck reads the whole ledger when somebody asks for it, one reading at a
// time, and remembers how the last one ended.
type chainCheck struct {
	store *store.Store
	now   func() time.Time
	log   *slog.Logger

	mu      sync.Mutex
	at      audit.ChainState
	stopped bool
	cancel  context.CancelFunc // of the reading under way
	ended   sync.WaitGroup
}

// begin starts a reading unless one is under way or the server stops. It outlives
// the request that asked for it, which names it in the log.
func (c *chainCheck) begin(by context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at.Runs || c.stopped {
		return
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(by))
	c.at, c.cancel = audit.ChainState{Runs: true}, cancel
	c.ended.Go(func() {
		defer cancel()
		c.read(ctx)
	})
}

func (c *chainCheck) read(ctx context.Context) {
	began := c.now()
	head, err := c.store.Ledger.CheckChain(ctx, c.setProgress)
	end := audit.ChainState{Ended: c.now(), Head: head}
	end.Took = end.Ended.Sub(began)
	if err != nil {
		if broken, ok := errors.AsType[*models.ChainError](err); ok {
			end.Broken, end.Fault = true, "The chain is broken: "+broken.Error()+"."
			c.log.ErrorContext(ctx, "ledger chain broken", slog.String("error", err.Error()))
		} else {
			end.Fault = "The ledger could not be read to the end. See the server's log."
			c.log.WarnContext(ctx, "ledger not checked", slog.String("error", err.Error()))
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = end
}

func (c *chainCheck) setProgress(read, of int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at.Read, c.at.Of = read, of
}

func (c *chainCheck) state() audit.ChainState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// stop ends a reading under way and waits for its end. Stopping twice is
// harmless.
func (c *chainCheck) stop() {
	c.mu.Lock()
	c.stopped = true
	if c.cancel != nil {
		c.cancel()
	}
	c.mu.Unlock()
	c.ended.Wait()
}
